"""The table of what corpora share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from spanwright.corpora.overlap import Overlap
from spanwright.corpora.shared_documents import REASONS

_CAPTION = (
    "shared: documents of A that B has too, by article (id), by text, by nearly the same text, or as a part. "
    "namesakes: documents of A that are not shared, but have the id of a document of B. "
    "A in B: mentions of A whose string is a mention of B; B in A: the other way round."
)


def overlaps_table(a: Path, found: dict[Path, Overlap], in_any: int) -> Table:
    """A row per corpus; counts of documents of A by reason, and shares of mentions in percent."""
    documents = next(iter(found.values())).documents_a
    table = Table(box=None, pad_edge=False, title=f"A: {a.name}, {documents:,} documents", caption=_CAPTION)
    table.add_column("B", overflow="fold")
    for column in ("documents", "shared", *REASONS, "namesakes", "A in B", "B in A"):
        table.add_column(column, justify="right", no_wrap=True)
    for other, each in found.items():
        table.add_row(Text(other.name), *_cells(each))
    if len(found) > 1:
        table.add_section()
        table.add_row("any of them", "", f"{in_any:,}")
    return table


def _cells(each: Overlap) -> Sequence[str]:
    counts = [each.documents_b, len(each.shared_a), *each.reasons().values(), len(each.namesakes_a)]
    shares = (each.a_in_b.mention_share, each.b_in_a.mention_share)
    return [*(f"{count:,}" for count in counts), *(f"{share:.1%}" for share in shares)]
