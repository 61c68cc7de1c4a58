"""`spanwright corpus label`: distant labels, the names of dictionaries as entities of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.reading import (
    FOLDERS_HELP,
    FORMAT_HELP,
    InputOptions,
    Lossy,
    OutputFormat,
    path_and_type,
    read_and_report,
    report,
    reported,
    streamed,
)
from spanwright.cli.tables.scores import type_scores_table
from spanwright.distant import Ambiguous, Case, Matcher
from spanwright.errors import InputError, counted
from spanwright.evaluation import evaluate
from spanwright.formats.files import write, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable, counted_by_kind
from spanwright.lexicons import Lexicon, merge, read_lexicon
from spanwright.lexicons.files import FORMS, form_of
from spanwright.lexicons.name_tables import SURFACES
from spanwright.text import Document

_Texts = Annotated[
    list[Path],
    typer.Argument(help="Files or folders to label, in any format; their entities are replaced."),
]
_Lexicon = Annotated[
    list[str],
    typer.Option(
        metavar="FILE[:TYPE]",
        help=f"A dictionary or ontology ({', '.join(FORMS)}), and the type of all its terms where it "
        "has none; may be repeated.",
    ),
]
_Unknown = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="A dictionary of phrases of unknown type, which keep shorter names in them from being "
        "labelled; may be repeated.",
    ),
]
_Case = Annotated[
    Case,
    typer.Option(help="Must names have the case of the text? smart: acronyms and the shortest names only."),
]
_Ambiguous = Annotated[
    Ambiguous, typer.Option(help="A name with several types gives no label, the first one, or all.")
]
_MinimumLength = Annotated[
    int, typer.Option(min=1, help="The fewest letters and digits of a name that is looked for.")
]
_Block = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Names not to look for, one in a line; may be repeated."),
]
_Gold = Annotated[
    Path | None, typer.Option(help="The same texts with gold entities: score the labels against them.")
]


def label_command(
    texts: _Texts,
    lexicon: _Lexicon,
    out: Annotated[Path, typer.Option(help=f"Output file, or {FOLDERS_HELP}.")],
    unknown: _Unknown = None,
    case: _Case = "smart",
    ambiguous: _Ambiguous = "drop",
    minimum_length: _MinimumLength = 2,
    block: _Block = None,
    gold: _Gold = None,
    to: OutputFormat = None,
    format: Annotated[str | None, typer.Option(help=f"Format of TEXTS: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    lossy: Lossy = False,
) -> None:
    """Label texts with the names of dictionaries: from the left, the longest name at each word.

    Example: spanwright corpus label abstracts.jsonl --lexicon mesh.obo:Chemical --lexicon medic.txt:Disease
    --unknown phrases.txt --out labelled.jsonl
    """
    writer_for(out, to)
    typed = [_typed(argument) for argument in lexicon]
    untyped = [(path, _without_types(reported(read_lexicon(path)))) for path in unknown or ()]
    matcher = Matcher(
        merge(*(one for _, one in (*typed, *untyped))),
        case=case,
        ambiguous=ambiguous,
        minimum_length=minimum_length,
        blocked=_blocked(block or ()),
        sources=[path.name for path, _ in (*typed, *untyped)],
    )
    _tell_names(matcher)
    gold_documents = read_and_report([gold]).documents if gold is not None else None
    log = ReadingLog()
    counts: Counter[str] = Counter()
    kept: list[Document] | None = None if gold_documents is None else []
    unwritable: list[Unwritable] = []
    with streamed(texts, log, format=format, options=option or ()) as documents:
        write(_labelled(documents, matcher, counts, kept), out, format=to, lossy=lossy, unwritable=unwritable)
    report(log)
    _tell_labels(out, log, counts, unwritable)
    if gold_documents is not None:
        _score(gold_documents, kept or [])


def _typed(argument: str) -> tuple[Path, Lexicon]:
    """The lexicon of an argument `FILE` or `FILE:TYPE`, with its path."""
    path, type_ = path_and_type(argument)
    options: dict[str, Any] = {}
    if type_ is None and "namespaces" in form_of(path).options:
        options["namespaces"] = True
    lexicon = reported(read_lexicon(path, type=type_, **options))
    if not lexicon.types:
        raise InputError(
            f"{path}: no term has a type; name one as in --lexicon {path}:Disease, or give the file with "
            f"--unknown if its types are not known"
        )
    if without := sum(term.type is None for term in lexicon.terms()):
        typer.echo(f"note: {path}: {without:,} terms without a type are used as with --unknown", err=True)
    return path, lexicon


def _without_types(lexicon: Lexicon) -> Lexicon:
    return Lexicon((replace(term, type=None) for term in lexicon.terms()), lexicon.log)


def _blocked(paths: Iterable[Path]) -> list[str]:
    return [term.name for path in paths for term in reported(read_lexicon(path, form=SURFACES.name)).terms()]


def _labelled(
    documents: Iterable[Document], matcher: Matcher, counts: Counter[str], kept: list[Document] | None
) -> Iterator[Document]:
    """The labelled documents one by one; their types are counted, and they are kept only where asked for."""
    for document in documents:
        labelled = matcher.label(document)
        counts.update(entity.type for entity in labelled.entities)
        if kept is not None:
            kept.append(labelled)
        yield labelled


def _tell_names(matcher: Matcher) -> None:
    left_out = ", ".join(f"{reason} {count:,}" for reason, count in matcher.left_out.items()) or "none"
    typer.echo(f"note: {len(matcher):,} distinct names to look for; left out: {left_out}", err=True)


def _tell_labels(out: Path, log: ReadingLog, counts: Counter[str], unwritable: list[Unwritable]) -> None:
    if log.entities_read:
        typer.echo(f"note: entities of the texts that were replaced: {log.entities_read:,}", err=True)
    if log.relations_read:
        typer.echo(f"note: relations of these, which are gone with them: {log.relations_read:,}", err=True)
    types = ", ".join(f"{type_} {count:,}" for type_, count in sorted(counts.items()))
    typer.echo(
        f"{out}: {counted(log.documents_read, 'document')}, {counted(counts.total(), 'entity')}"
        f"{f' ({types})' if types else ''}; {counted_by_kind(unwritable)}"
    )


def _score(gold: list[Document], labelled: list[Document]) -> None:
    scores = evaluate(gold, labelled)
    for note in scores.notes:
        typer.echo(f"note: {note}", err=True)
    Console().print(type_scores_table(scores))
