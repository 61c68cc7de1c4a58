"""`spanwright corpus stats`: what a corpus is like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, InputOptions, read_and_report
from spanwright.cli.tables.corpora import corpus_figures_table, type_counts_table
from spanwright.corpora.statistics import Statistics, statistics


def stats_command(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders, counted together.")],
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
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
        from spanwright.corpora.statistics_picture import draw_statistics

        draw_statistics(figures, picture, title=", ".join(path.name for path in paths))


def _show(figures: Statistics) -> None:
    console = Console()
    console.print(corpus_figures_table(figures))
    console.print(type_counts_table(figures))
    for string, counts in figures.consistency.ambiguous_examples.items():
        named = ", ".join(f"{name} {count}" for name, count in counts.items())
        console.print(f"ambiguous: {string!r}: {named}", markup=False, highlight=False)
