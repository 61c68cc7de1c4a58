"""The table of entities that have synonyms, by type and lexicon."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from spanwright.lexicons import Coverage
from spanwright.lexicons.coverage import Covered

ALL_TYPES = "all"


def lexicon_coverage_table(coverages: Mapping[str, Coverage]) -> Table:
    """A section per type and one for all, with a row per lexicon.

    The second percentage is of the distinct mentions, the median of the numbers of synonyms of mentions that
    have any.
    """
    table = Table()
    for heading in ("type", "lexicon"):
        table.add_column(heading, overflow="fold")
    for heading in ("mentions", "with synonyms", "%", "distinct", "%", "median"):
        table.add_column(heading, justify="right")
    types = next(iter(coverages.values())).per_type
    if len(types) > 1:
        for type_ in types:
            _add_section(table, type_, {name: one.per_type[type_] for name, one in coverages.items()})
    _add_section(table, ALL_TYPES, {name: one.overall for name, one in coverages.items()})
    return table


def _add_section(table: Table, type_: str, rows: Mapping[str, Covered]) -> None:
    table.add_section()
    for position, (name, covered) in enumerate(rows.items()):
        # Text, because types and paths may hold square brackets, which rich would take for markup.
        table.add_row(Text("" if position else type_), Text(name), *_cells(covered))


def _cells(covered: Covered) -> list[str]:
    median = "-" if covered.median_synonyms is None else f"{covered.median_synonyms:g}"
    return [
        f"{covered.mentions:,}",
        f"{covered.mentions_covered:,}",
        f"{100 * covered.share:.1f}",
        f"{covered.distinct:,}",
        f"{100 * covered.distinct_share:.1f}",
        median,
    ]
