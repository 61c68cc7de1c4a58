"""`spanwright corpus overlap`: what corpora share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, InputOptions, read_and_report
from spanwright.cli.tables.corpora import overlaps_table
from spanwright.corpora.overlap import Overlap, overlap


def overlap_command(
    a: Annotated[Path, typer.Argument(help="File or folder of corpus A, such as a test set.")],
    others: Annotated[list[Path], typer.Argument(help="Corpora to compare A with, each on its own.")],
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    show_pairs: Annotated[bool, typer.Option("--list", help="Name each pair, and why it is one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Find documents of A that stand in other corpora, and mentions that they share.

    Documents are the same by text (but for case and white space), or nearly by text: 70 % of the runs of four
    words of the smaller one stand in the other; trainings leave out from 90 % on. A `part` is a sentence or
    passage of the other text. Passages
    of one article are shared together (`id`); an id alone makes `namesakes`, which are not shared.

    Example: spanwright corpus overlap test.pubtator train-1.pubtator train-2.jsonl --list
    """
    documents = read_and_report([a], format=format, options=option or ()).documents
    found = {
        other: overlap(documents, read_and_report([other], format=format, options=option or ()).documents)
        for other in others
    }
    in_any = len({id(document) for each in found.values() for document in each.shared_a})
    if as_json:
        typer.echo(json.dumps(_to_dict(a, found, in_any), indent=2, ensure_ascii=False))
        return
    console = Console()
    console.print(overlaps_table(a, found, in_any))
    for line in _pairs(found) if show_pairs else ():
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _to_dict(a: Path, found: dict[Path, Overlap], in_any: int) -> dict[str, Any]:
    comparisons = [{"b": str(other), **each.to_dict()} for other, each in found.items()]
    return {"a": str(a), "shared_a_in_any": in_any, "comparisons": comparisons}


def _pairs(found: dict[Path, Overlap]) -> Iterator[str]:
    for other, each in found.items():
        for pair in each.pairs:
            why = f"{', '.join(pair.reasons)} ({pair.similarity:.0%} alike)"
            yield f"{pair.a.id} = {pair.b.id} of {other.name}: {why}"
        for pair in each.namesakes:
            why = f"the same id, but other texts ({pair.similarity:.0%} alike)"
            yield f"{pair.a.id} and {pair.b.id} of {other.name}: {why}"
