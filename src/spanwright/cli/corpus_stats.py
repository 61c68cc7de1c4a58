"""`spanwright corpus stats`: what a corpus is like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spanwright.cli.reading import FORMAT_HELP, OPTION_HELP, read_and_report
from spanwright.corpora.statistics import Statistics, statistics


def stats_command(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders, counted together.")],
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP)] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the figures to a .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Count documents, words, types, widths, nesting, ambiguity and label consistency.

    Example: spanwright corpus stats train.jsonl --picture train.png
    """
    figures = statistics(read_and_report(paths, format=format, options=option or ()).documents)
    if as_json:
        typer.echo(json.dumps(figures.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(figures)
    if picture is not None:
        from spanwright.corpora.statistics_picture import draw

        draw(figures, picture, title=", ".join(path.name for path in paths))


def _show(figures: Statistics) -> None:
    console = Console()
    nesting, consistency = figures.nesting, figures.consistency
    rows = [
        ("documents", f"{figures.documents:,} ({figures.without_entities:,} without entities)"),
        ("sentences", f"{figures.sentences:,}"),
        ("words", f"{figures.words:,} ({figures.characters:,} characters)"),
        ("words per document", _quantiles(figures.words_per_document)),
        ("entities", f"{figures.entities:,}"),
        ("words per entity", _quantiles(figures.words_per_entity)),
        ("inside another entity", f"{nesting.inside_another:,}"),
        ("around another entity", f"{nesting.around_another:,}"),
        ("crossing another entity", f"{nesting.crossing:,}"),
        ("on a span with another type", f"{nesting.same_span:,}"),
        ("discontinuous", f"{nesting.discontinuous:,}"),
        ("cutting a word", f"{nesting.cutting_words:,}"),
        ("distinct mention strings", f"{consistency.strings:,} ({consistency.ambiguous:,} of several types)"),
        (
            "label consistency",
            f"{100 * consistency.share:.1f} % of {consistency.occurrences:,} occurrences of mention strings "
            f"are annotated",
        ),
    ]
    table = Table(box=None, show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    console.print(table)
    types = Table("type", "entities", "share")
    for name, count in sorted(figures.types.items(), key=lambda item: -item[1]):
        # Text, because a type may hold square brackets, which rich would take for markup.
        types.add_row(Text(name), f"{count:,}", f"{100 * count / figures.entities:.1f} %")
    console.print(types)
    for string, counts in consistency.ambiguous_examples.items():
        named = ", ".join(f"{name} {count}" for name, count in counts.items())
        console.print(f"ambiguous: {string!r}: {named}", markup=False, highlight=False)


def _quantiles(values: dict[str, int]) -> str:
    return "  ".join(f"{name}: {value:,}" for name, value in values.items())
