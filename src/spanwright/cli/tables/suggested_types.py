"""The table of types that may correspond, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from spanwright.corpora.suggest_map import Suggestion


def suggested_types_table(suggestions: Sequence[Suggestion]) -> Table:
    """A row for each type of a corpus and the type that it may be in another."""
    table = Table("type of A", "type of B", "confidence", "evidence")
    for found in suggestions:
        target = Text(found.target) if found.target is not None else Text("none", style="dim")
        table.add_row(Text(found.type), target, f"{found.confidence:.2f}", Text("\n".join(found.evidence)))
    return table
