"""The table of scores by perturbation."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from spanwright.perturbing.measuring import Robustness

_CAPTION = "lost: points of F1 against the untouched texts; mentions: entities whose text is another"


def perturbation_scores_table(untouched: Robustness, rows: Sequence[Robustness]) -> Table:
    """A row for the untouched texts, then one for each perturbation."""
    table = Table("texts", caption=_CAPTION)
    for column in ("F1", "lost", "gold", "predicted", "correct", "texts changed", "mentions changed"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_row(*_cells(untouched, lost=""))
    table.add_section()
    for row in rows:
        table.add_row(*_cells(row, lost=f"{100 * row.lost:.1f}"))
    return table


def _cells(row: Robustness, *, lost: str) -> Sequence[str]:
    counts = row.counts
    found = (counts.gold, counts.predicted, counts.true_positives, row.texts_changed, row.mentions_changed)
    return row.name, f"{100 * counts.f1:.1f}", lost, *(f"{number:,}" for number in found)
