"""`spanwright export`: a copy of a model that also runs with onnxruntime, in floats or 8-bit integers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from spanwright.cli.reading import FORMAT_HELP, read_and_report

if TYPE_CHECKING:
    from spanwright.predicting.onnx.runtimes import RuntimeFigures

_CAPTION = (
    "difference: the largest of a score from torch's, over random texts; "
    "same: F1 of the entities found against those that torch finds"
)


def export_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")],
    out: Annotated[
        Path, typer.Option(help="Folder of the exported model; a model directory of that name is replaced.")
    ],
    check: Annotated[
        Path | None, typer.Option(help="Gold file: compare F1 and speed of all runtimes on its documents.")
    ] = None,
    format: Annotated[str | None, typer.Option(help=f"Format of the gold file: {FORMAT_HELP}.")] = None,
) -> None:
    """Copy a model and add its costly parts as ONNX files; then compare all ways to run it.

    Load it with spanwright.load(OUT, runtime="onnx-int8"), or "onnx", or "torch".

    Example: spanwright export runs/plain/model --out exported --check test.pubtator
    """
    gold = read_and_report([check], format=format).documents if check is not None else None

    from spanwright.predicting.onnx.export import export
    from spanwright.predicting.onnx.runtimes import compare_runtimes

    console = Console(stderr=True)
    with console.status("exporting"):
        export(model, out)
    with console.status("comparing runtimes"):
        figures = compare_runtimes(out, gold)
    Console().print(_table(figures, "documents" if gold is not None else "random texts"))


def _table(figures: list[RuntimeFigures], texts: str) -> Table:
    with_gold = figures[0].f1 is not None
    table = Table("runtime", title=f"on {texts}", caption=_CAPTION)
    columns = ["difference", "same", "words/s", "x torch", "MB", *(["F1"] if with_gold else [])]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in figures:
        cells = [f"{row.difference:.1e}", f"{100 * row.same:.1f}", f"{row.words_per_second:,.0f}"]
        cells += [f"{row.speed:.2f}", f"{row.size / 1e6:.1f}"]
        table.add_row(row.runtime, *cells, *([f"{100 * row.f1:.2f}"] if row.f1 is not None else []))
    return table
