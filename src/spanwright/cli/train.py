"""`spanwright train`: train a recipe on corpus files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from spanwright.cli.command import interruptible
from spanwright.cli.completion import encoders, recipes
from spanwright.cli.devices import Device
from spanwright.cli.reading import FormatOfAll, InputOptions, StopAtProblems, parse_options, report
from spanwright.cli.trainings import checked_settings, kept_run
from spanwright.corpora.stored import StoredDocuments
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.formats.format import ReadingLog
from spanwright.text import Document

Documents = StoredDocuments | list[Document]
Teller = Callable[[ReadingLog], None]

_Dev = Annotated[list[Path] | None, typer.Option(help="Files that choose the best model; may be repeated.")]
_Corpora = Annotated[
    Path | None,
    typer.Option(help="A TOML file that names several corpora to train on together, instead of files."),
]
_Encoder = Annotated[
    str | None,
    typer.Option(
        help="Encoder: a short name such as minilm, a folder, or a Hugging Face id.", autocompletion=encoders
    ),
]
_Descriptions = Annotated[
    str | None,
    typer.Option(help="Texts about the types: a TOML or JSON file, or a shipped name (recipe binder)."),
]
_From = Annotated[
    str | None,
    typer.Option("--from", help="Start from this model: its folder, or the name of an installed one."),
]
_KeepTypes = Annotated[
    bool,
    typer.Option("--keep-types", help="Go on answering the types of that model that the files do not have."),
]
_Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting as key=value, such as training.epochs=3; may be repeated."),
]


def train_command(
    recipe: Annotated[
        str,
        typer.Argument(help="A recipe (see `spanwright recipes`) or a TOML file.", autocompletion=recipes),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run; the model goes to OUT/model.")],
    train: Annotated[list[Path] | None, typer.Option(help="Training files; may be repeated.")] = None,
    dev: _Dev = None,
    test: Annotated[list[Path] | None, typer.Option(help="Files to score the best model on.")] = None,
    corpora: _Corpora = None,
    encoder: _Encoder = None,
    descriptions: _Descriptions = None,
    start_from: _From = None,
    keep_types: _KeepTypes = False,
    changes: _Changes = None,
    format: FormatOfAll = None,
    option: InputOptions = None,
    strict: StopAtProblems = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    device: Device = AUTO,
) -> None:
    """Train a recipe and keep the model that scores best on the dev files.

    With torchrun, several processes train it together: torchrun --nproc-per-node 2 -m spanwright train ...

    Example: spanwright train plain --train train.tsv --dev dev.tsv --test test.tsv --out runs/plain

    Example: spanwright train plain --from biomed --train train.tsv --dev dev.tsv --out runs/from-biomed
    """
    _check_files(corpora, bool(train and dev), bool(train or dev or test))
    if keep_types and start_from is None:
        raise InputError("--keep-types keeps those of the model that it starts from: give --from MODEL")

    asked = [*_said(corpora), *(["start.keep_types=true"] if keep_types else []), *(changes or [])]
    settings = checked_settings(
        recipe, asked, encoder=encoder, descriptions=descriptions, start_from=start_from
    )
    files = {"train": train, "dev": dev, "test": test}
    splits = _read_splits(corpora, files, format=format, options=parse_options(option or ()), strict=strict)

    from spanwright.cli.progress import TrainingView
    from spanwright.training.loop import train as run
    from spanwright.training.processes import is_first_process

    with interruptible(lambda: kept_run(out)), TrainingView() as view:
        result = run(
            settings,
            train=splits["train"],
            dev=splits["dev"],
            test=splits["test"],
            out=out,
            resume=resume,
            device=device,
            watcher=view,
        )
    if is_first_process():
        view.summary(result)


def _check_files(corpora: Path | None, enough: bool, some: bool) -> None:
    """Refuse a call that names too few files, or files beside those of the corpora."""
    if corpora is None and not enough:
        raise InputError("there is nothing to train on: give --train and --dev files, or --corpora FILE")
    if corpora is not None and some:
        raise InputError("--corpora names all files, so --train, --dev and --test cannot be given with it")


def _read_splits(
    corpora: Path | None, files: Mapping[str, list[Path] | None], *, strict: bool, **choices: Any
) -> Mapping[str, Documents]:
    """The documents of all splits; several processes all read the files, and one reports what is in them."""
    from spanwright.training.processes import is_first_process

    tell = report if is_first_process() else _nothing
    if corpora is not None:
        return _read_corpora(corpora, tell, strict=strict)
    return {name: _read_split(paths, tell, strict=strict, **choices) for name, paths in files.items()}


def _said(corpora: Path | None) -> list[str]:
    """The settings that a file of corpora changes."""
    if corpora is None:
        return []
    from spanwright.training.corpora_file import load_corpora_file

    return load_corpora_file(corpora).changes


def _read_corpora(file: Path, tell: Teller, *, strict: bool) -> dict[str, Documents]:
    """The splits of all corpora that a file names, on disk."""
    from spanwright.training.corpora_file import SPLITS, load_corpora_file, read_splits

    together = load_corpora_file(file)
    stored = {name: StoredDocuments() for name in SPLITS}
    for reading in read_splits(together, strict=strict):
        tell(reading.log)
        stored[reading.split].extend(reading.documents)
    return {**stored}


def _read_split(paths: list[Path] | None, tell: Teller, **choices: Any) -> Documents:
    found = read(*paths or (), **choices, to_train=True)
    tell(found.log)
    return found.documents


def _nothing(log: ReadingLog) -> None:
    pass
