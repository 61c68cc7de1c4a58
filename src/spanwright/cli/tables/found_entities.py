"""The table of the entities of a text."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from spanwright.text import Document


def found_entities_table(document: Document) -> Table:
    """A row for each entity, with its confidence."""
    table = Table("start", "end", "type", "mention", "confidence", title=escape(document.text))
    for entity in document.entities:
        table.add_row(
            str(entity.start),
            str(entity.end),
            entity.type,
            escape(document.mention(entity)),
            f"{entity.confidence or 0:.3f}",
        )
    return table
