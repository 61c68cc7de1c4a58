"""The tables of the data of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from spanwright.training.data import SplitReport

_UNREACHABLE = (
    ("too_wide", "wider than the limit"),
    ("cutting_words", "cut a word"),
    ("discontinuous", "discontinuous"),
    ("across_windows", "across a sentence border"),
    ("repeated", "repeated in the file"),
    ("second_types", "on a span with another type"),
)


def splits_table(reports: dict[str, SplitReport]) -> Table:
    """Documents, words and entities of each split, and the recall ceiling of its candidates."""
    table = Table("", *reports, title="data", title_justify="left")
    rows = [
        ("documents", [f"{report.documents:,}" for report in reports.values()]),
        ("words", [f"{report.words:,}" for report in reports.values()]),
        ("entities", [f"{report.entities:,}" for report in reports.values()]),
        ("recall ceiling", [f"{100 * report.ceiling:.2f} %" for report in reports.values()]),
        ("- of unknown type", [str(report.unknown_types.total()) for report in reports.values()]),
    ]
    rows += [
        (f"- {words}", [str(getattr(report, name)) for report in reports.values()])
        for name, words in _UNREACHABLE
    ]
    rows.append(("words shortened", [str(report.shortened_words) for report in reports.values()]))
    for name, values in rows:
        table.add_row(name, *values)
    return table


def split_types_table(reports: dict[str, SplitReport]) -> Table:
    """Entities per type of each split."""
    table = Table("type", *reports, title="entities per type", title_justify="left")
    for name in sorted({type_ for report in reports.values() for type_ in report.types}):
        table.add_row(name, *(f"{report.types[name]:,}" for report in reports.values()))
    return table
