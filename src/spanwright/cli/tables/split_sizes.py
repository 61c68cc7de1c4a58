"""The table of the parts of a corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.table import Table
from rich.text import Text

from spanwright.text import Document


def split_sizes_table(out: list[Path], parts: list[list[Document]]) -> Table:
    """Documents and entities by type, with a column for each part."""
    counts = [Counter(entity.type for document in part for entity in document.entities) for part in parts]
    # Text, because names of files and types may hold square brackets, which rich would take for markup.
    table = Table("")
    for path in out:
        table.add_column(Text(path.name))
    table.add_row("documents", *(f"{len(part):,}" for part in parts))
    for type_ in sorted(sum(counts, Counter[str]())):
        table.add_row(Text(type_), *(f"{count[type_]:,}" for count in counts))
    return table
