"""`spanwright report`: one HTML page about runs or files of predictions."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

import spanwright
from spanwright.cli.linking import read_lexicons
from spanwright.cli.reading import path_and_type, read_and_report
from spanwright.errors import InputError, counted
from spanwright.formats.files import Corpus
from spanwright.model_files.folders import located, missing_message
from spanwright.reporting import (
    Identifiers,
    Origin,
    Picture,
    Source,
    System,
    gather,
    read_picture,
    write_page,
)
from spanwright.reporting.index_page import write_index
from spanwright.text import Document

_DIGEST = 16
"""Digits of a digest that are shown: enough to tell files apart."""


_Systems = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN_OR_PREDICTIONS...",
        help="Run folders of `spanwright train` and names of installed models, whose models tag the gold "
        "texts, and files of predicted entities in any format; several are compared.",
    ),
]
_Train = Annotated[
    list[Path] | None,
    typer.Option(help="Training files, to separate seen mentions from unseen ones; may be repeated."),
]
_Picture = Annotated[
    list[Path] | None,
    typer.Option(
        help="A PNG file to show, such as those of `spanwright inspect spans` and `spanwright compare`; "
        "may be repeated. Its name becomes the caption."
    ),
]
_Lexicon = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="For concepts: a lexicon that says which identifiers mean the same, and their names; may be "
        "repeated.",
    ),
]
_Name = Annotated[
    list[str] | None,
    typer.Option(help="What to call a system, in their order; repeat it for each, or leave it out."),
]


def report_command(
    systems: _Systems,
    gold: Annotated[list[Path], typer.Option(help="Files with the gold entities; may be repeated.")],
    train: _Train = None,
    picture: _Picture = None,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    name: _Name = None,
    lexicon: _Lexicon = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="Show the whole paths of files, not only their names.")
    ] = False,
) -> None:
    """Write scores, charts, mistakes and an error browser to one HTML file that needs no network.

    Example: spanwright report runs/plain other-tool.pubtator --gold test.jsonl --train train.jsonl

    Example: spanwright report runs/plain --gold test.jsonl --picture runs/plain/spans/projections.png
    """
    names = _names(systems, name)
    systems = [_located(path) for path in systems]
    pictures = _pictures(picture or ())
    gold_corpus = read_and_report(gold)
    training = read_and_report(train).documents if train else None
    notes = _rejected("gold", gold_corpus)
    content = gather(
        gold_corpus.documents,
        [
            _system(path, called, gold_corpus.documents, notes)
            for path, called in zip(systems, names, strict=True)
        ],
        training=training,
        identifiers=_identifiers(lexicon or ()),
    )
    roles = [("gold", path) for path in gold]
    roles += [("training", path) for path in train or ()]
    roles += [("lexicon", path_and_type(argument)[0]) for argument in lexicon or ()]
    roles += [("picture", path) for path in picture or ()]
    roles += [(each.key, path) for each, path in zip(content.systems, systems, strict=True)]
    sources = [_source(role, path, str(path.absolute()) if paths else path.name) for role, path in roles]
    versions = {
        "spanwright": spanwright.__version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }
    shown = write_page(content, Origin(datetime.now().astimezone(), sources, versions), out, pictures)
    if shown.wrong_shown < shown.wrong:
        typer.echo(
            f"note: {shown.wrong - shown.wrong_shown} of {shown.wrong} passages with mistakes are not in the "
            f"error browser, to keep the file small",
            err=True,
        )
    typer.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB")
    if index := write_index(out.parent):
        typer.echo(f"all reports of this folder: {index}", err=True)


def _located(system: Path) -> Path:
    """The path of a system, which may be the name of an installed model."""
    path = located(system)
    if not path.exists():
        raise InputError(missing_message(system, "file or folder"))
    return path


def _identifiers(lexicons: Sequence[str]) -> Identifiers:
    """What lexicons say of identifiers."""
    from spanwright.linking.concepts import SameConcepts

    terms = list(read_lexicons(lexicons).terms())
    return Identifiers(
        SameConcepts(terms).first, {id: term.name for term in reversed(terms) for id in term.ids}
    )


def _names(systems: Sequence[Path], given: Sequence[str] | None) -> list[str]:
    """What the systems are called: as asked for, else after their files, with folders where those agree."""
    if given and len(given) != len(systems):
        raise InputError(
            f"--name: found {counted(len(given), 'name')} for {counted(len(systems), 'system')}; "
            "expected one for each, or none"
        )
    if given:
        return list(given)
    stems = Counter(path.stem for path in systems)
    return [
        path.stem if stems[path.stem] == 1 else end for path, end in zip(systems, _ends(systems), strict=True)
    ]


def _ends(paths: Sequence[Path]) -> list[str]:
    """The ends of paths that tell them apart: what is before them is nobody's business."""
    ends = [path.name for path in paths]
    for depth in range(2, max((len(path.parts) for path in paths), default=0) + 1):
        if len(set(ends)) == len(ends):
            break
        ends = ["/".join(path.parts[-depth:]) for path in paths]
    return ends


def _pictures(paths: Sequence[Path]) -> list[Picture]:
    """Pictures, called by the words of their names, and by folder too where those agree."""
    words = [path.stem.replace("-", " ").replace("_", " ") for path in paths]
    captions = [
        name if words.count(name) == 1 else f"{name} ({end})"
        for name, end in zip(words, _ends(paths), strict=True)
    ]
    return [read_picture(path, caption) for path, caption in zip(paths, captions, strict=True)]


def _system(path: Path, name: str, gold: Sequence[Document], notes: tuple[str, ...]) -> System:
    model = _model_folder(path)
    if model is None:
        corpus = read_and_report([path])
        return System(
            name=name, documents=corpus.documents, notes=(*notes, *_rejected("predictions", corpus))
        )
    return System(
        name=name, documents=_tagged(model, gold), journal=_journal(path), facts=_facts(path), notes=notes
    )


def _model_folder(path: Path) -> Path | None:
    """The folder of the model if the path is a run or a model, else None."""
    for folder in (path / "model", path):
        if (folder / "spanwright.json").exists():
            return folder
    if (path / "journal.jsonl").exists():
        raise InputError(
            f"{path}: this run has no model yet; let it finish an epoch: spanwright train ... --resume"
        )
    return None


def _tagged(model: Path, documents: Sequence[Document]) -> list[Document]:
    from rich.console import Console
    from rich.progress import track

    from spanwright.predicting.tagger import load

    tagged = load(model).tag(documents)
    return list(track(tagged, f"tagging with {model}", total=len(documents), console=Console(stderr=True)))


def _journal(run: Path) -> list[dict[str, Any]]:
    from spanwright.training.journal import read_journal

    try:
        return read_journal(run) if (run / "journal.jsonl").exists() else []
    except ValueError as error:
        raise InputError(
            f"{run / 'journal.jsonl'}: not valid JSON: {error}; resume a run that was cut off: "
            f"spanwright train ... --resume"
        ) from None


def _facts(run: Path) -> dict[str, str]:
    """What a run's settings say about it."""
    path = run / "settings.json"
    if not path.exists():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    settings = stored["settings"]
    versions = ", ".join(f"{name} {number}" for name, number in stored["versions"].items())
    return {
        "recipe": str(settings["name"]),
        "encoder": str(settings["encoder"]["name"]),
        "seed": str(settings["training"]["seed"]),
        "trained with": versions,
    }


def _rejected(side: str, corpus: Corpus) -> tuple[str, ...]:
    """What the scores cannot count, because it could not be read."""
    log = corpus.log
    if not log.documents_rejected and not log.entities_rejected:
        return ()
    found = f"{counted(log.documents_rejected, 'document')} and {counted(log.entities_rejected, 'entity')}"
    return (f"{side}: {found} could not be read and are not counted",)


def _source(role: str, path: Path, called: str) -> Source:
    if path.is_dir():
        return Source(role, called, "folder", "")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGEST]
    return Source(role, called, f"{path.stat().st_size:,} bytes", digest)
