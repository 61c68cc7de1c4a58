"""`spanwright evaluate`: scores of one file of entities against another, and what they are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.evaluate_parts import (
    Part,
    against_part,
    breakdowns_part,
    confidence_part,
    criteria_part,
    mistakes_part,
)
from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.cli.tables.scores import type_scores_table
from spanwright.errors import InputError
from spanwright.evaluation import CRITERIA, Comparison, Scores, compare_documents, strict_scores
from spanwright.formats.files import Corpus
from spanwright.formats.format import ReadingLog

_EXAMPLES = 3
"""Examples of each kind of mistake with `--full`."""


_IgnoreType = Annotated[
    list[str] | None, typer.Option(help="A type that counts on neither side; may be repeated.")
]
_Criteria = Annotated[
    bool,
    typer.Option(
        "--criteria",
        help="Scores by four criteria (strict, loose, start, end), with 95 % intervals and means over "
        "types and documents.",
    ),
]
_Breakdowns = Annotated[
    bool, typer.Option("--breakdowns", help="Scores of short and long entities, nested ones, and so on.")
]
_Train = Annotated[
    list[Path] | None,
    typer.Option(help="Training files: adds what was seen in them to the breakdowns; may be repeated."),
]
_Mistakes = Annotated[
    bool,
    typer.Option("--mistakes", help="Kinds of mistakes with their rates, and which types are confused."),
]
_Examples = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Show N examples of each kind of mistake.")
]
_Against = Annotated[
    Path | None, typer.Option(help="Predictions of another system: is the difference more than chance?")
]
_N2C2 = Annotated[
    bool, typer.Option("--n2c2", help="Follow the conventions of n2c2 2018 (see docs/evaluation.md).")
]
_Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Criteria, breakdowns, mistakes and three examples of each kind; if predictions have "
        "confidences, how often they are right.",
    ),
]
_Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first thing in a file that cannot be read.")
]


def evaluate_command(
    gold: Annotated[Path, typer.Argument(help="File or folder with the gold entities, in any format.")],
    predicted: Annotated[Path, typer.Argument(help="File or folder with the predicted entities.")],
    format_gold: Annotated[str | None, typer.Option(help=f"Format of GOLD: {FORMAT_HELP}.")] = None,
    format_predicted: Annotated[str | None, typer.Option(help=f"Format of PREDICTED: {FORMAT_HELP}.")] = None,
    ignore_type: _IgnoreType = None,
    criteria: _Criteria = False,
    breakdowns: _Breakdowns = False,
    train: _Train = None,
    format_train: Annotated[str | None, typer.Option(help="Format of the training files.")] = None,
    mistakes: _Mistakes = False,
    examples: _Examples = None,
    against: _Against = None,
    format_against: Annotated[str | None, typer.Option(help="Format of the other system's file.")] = None,
    n2c2: _N2C2 = False,
    full: _Full = False,
    strict: _Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that was asked for as JSON.")] = False,
) -> None:
    """Score predicted entities against gold ones: exact characters and type, per type and overall.

    Any two files will do, also predictions of other tools. docs/evaluation.md defines every number.

    Example: spanwright evaluate test.pubtator predicted.jsonl --ignore-type Species
    """
    sources = {
        "gold": ([gold], format_gold),
        "predicted": ([predicted], format_predicted),
        "train": (train, format_train),
        "against": ([against] if against else None, format_against),
    }
    corpora = {
        name: read_and_report(paths, format=format, strict=strict)
        for name, (paths, format) in sources.items()
        if paths
    }

    def compare(system: str) -> Comparison:
        documents = (corpora[name].documents for name in ("gold", system))
        return compare_documents(*documents, ignore_types=ignore_type or (), n2c2=n2c2)

    comparison = compare("predicted")
    if not comparison.pairs:
        raise InputError(f"{predicted}: no document is in both files, and n2c2 counts no others")
    parts: dict[str, Part] = {}
    if criteria or full:
        parts["criteria"] = criteria_part(comparison)
    if breakdowns or train or full:
        parts["breakdowns"] = breakdowns_part(comparison, corpora["train"].documents if train else None)
    if mistakes or examples or full:
        number = _EXAMPLES if full and examples is None else examples or 0
        parts["mistakes"] = mistakes_part(comparison, number)
    if full and (confidence := confidence_part(comparison)):
        parts["confidence"] = confidence
    if against:
        asked = CRITERIA if criteria or full else CRITERIA[:1]
        parts["against"] = against_part(comparison, compare("against"), asked)
    _print(strict_scores(comparison), parts, corpora, as_json=as_json)


def _print(scores: Scores, parts: dict[str, Part], corpora: dict[str, Corpus], *, as_json: bool) -> None:
    """Notes go to stderr, so that stdout stays a table or JSON."""
    for note in (*scores.notes, *(note for part in parts.values() for note in part.notes)):
        typer.echo(f"note: {note}", err=True)
    if as_json:
        reading = {name: _rejected(corpus.log) for name, corpus in corpora.items()}
        asked = {name: part.values for name, part in parts.items()}
        typer.echo(json.dumps(scores.to_dict() | asked | {"reading": reading}, indent=2))
    else:
        tables = (table for part in parts.values() for table in part.tables)
        Console().print(type_scores_table(scores), *tables)


def _rejected(log: ReadingLog) -> dict[str, int]:
    """What the scores cannot count, because it could not be read."""
    return {
        "problems": len(log.problems),
        "documents_rejected": log.documents_rejected,
        "entities_rejected": log.entities_rejected,
    }
