"""The table of how near labels and entities of several corpora are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spanwright.analysis.corpora import CorporaInspection, Nearness


def corpora_nearness_table(inspection: CorporaInspection) -> Table:
    """Mean cosines, with a column for each kind of vectors."""
    columns = _columns(inspection)
    meant = "shared type" if inspection.labels.mapped else "name"
    table = Table("mean cosine of pairs", *columns, title=_title(inspection))
    for column in table.columns[1:]:
        column.justify = "right"
    rows = {
        f"one {meant}, different corpora": "same",
        f"different {meant}s, different corpora": "different_across",
        f"different {meant}s": "different",
    }
    for name, field in rows.items():
        table.add_row(name, *(_cell(getattr(column, field)) for column in columns.values()))
    table.add_section()
    for meaning in inspection.labels.meanings:
        values = [column.by_meaning.get(meaning) for column in columns.values()]
        if any(value is not None for value in values):
            # Text, because a type may hold square brackets, which rich would take for markup.
            table.add_row(Text(f"  {meaning}"), *map(_cell, values))
    return table


def _columns(inspection: CorporaInspection) -> dict[str, Nearness]:
    found = {}
    if inspection.conditions_before is not None:
        found["conditions before training"] = inspection.conditions_before
    if inspection.conditions is not None:
        found["conditions"] = inspection.conditions.nearness
    if inspection.entities is not None:
        found["entities"] = inspection.entities.nearness
    return found


def _title(inspection: CorporaInspection) -> Text | None:
    counts = inspection.entity_counts()
    named = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return Text(f"entities: {named}") if named else None


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
