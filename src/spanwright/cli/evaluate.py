"""`spanwright evaluate`: strict scores of one file of entities against another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.corpora.format import ReadingLog
from spanwright.evaluation import evaluate
from spanwright.evaluation.table import render


def evaluate_command(
    gold: Annotated[Path, typer.Argument(help="File or folder with the gold entities, in any format.")],
    predicted: Annotated[Path, typer.Argument(help="File or folder with the predicted entities.")],
    format_gold: Annotated[str | None, typer.Option(help=f"Format of GOLD: {FORMAT_HELP}.")] = None,
    format_predicted: Annotated[str | None, typer.Option(help=f"Format of PREDICTED: {FORMAT_HELP}.")] = None,
    ignore_type: Annotated[
        list[str] | None, typer.Option(help="A type that counts on neither side; may be repeated.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first thing in a file that cannot be read.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score predicted entities against gold ones: exact characters and type, per type and overall.

    Example: spanwright evaluate test.pubtator predicted.jsonl --ignore-type Species
    """
    gold_corpus = read_and_report([gold], format=format_gold, strict=strict)
    predicted_corpus = read_and_report([predicted], format=format_predicted, strict=strict)
    scores = evaluate(gold_corpus.documents, predicted_corpus.documents, ignore_types=ignore_type or ())
    for note in scores.notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        reading = {"gold": _losses(gold_corpus.log), "predicted": _losses(predicted_corpus.log)}
        typer.echo(json.dumps(scores.to_dict() | {"reading": reading}, indent=2))
    else:
        Console().print(render(scores))


def _losses(log: ReadingLog) -> dict[str, int]:
    """What the scores cannot count, because it could not be read."""
    return {
        "problems": len(log.problems),
        "documents_rejected": log.documents_rejected,
        "entities_rejected": log.entities_rejected,
    }
