"""The table of the ways to run a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from spanwright.predicting.onnx.runtimes import RuntimeFigures

_CAPTION = (
    "difference: the largest of a score from torch's, over random texts; "
    "same: F1 of the entities found against those that torch finds"
)


def runtime_figures_table(figures: list[RuntimeFigures], texts: str) -> Table:
    """A row for each runtime: how near it is to torch, how fast and how large."""
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
