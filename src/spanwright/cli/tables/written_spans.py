"""The tables of what auto-encoders write, and of how well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spanwright.analysis import GenerationScores, WritingScores, WrittenSpan


def written_spans_table(written: Sequence[WrittenSpan]) -> Table:
    """A row for each entity with what is written from it."""
    with_synonyms = any(each.synonym is not None for each in written)
    table = Table("entity", "type", "reconstruction", *(["synonym"] if with_synonyms else []))
    for each in written:
        cells = [each.text, ", ".join(each.types), " ".join(each.reconstruction)]
        cells += [" ".join(each.synonym)] if each.synonym is not None else []
        # Text, because square brackets would be markup for rich.
        table.add_row(*map(Text, cells))
    return table


def writing_scores_table(scores: GenerationScores) -> Table:
    """Scores of reconstructions and synonyms."""
    title = f"{scores.spans:,} gold spans, {scores.one_word:,} of them of one word"
    table = Table("written", "BLEU-2", "empty", "reference words", "outside the vocabulary", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("reconstructions", *_cells(scores.reconstruction))
    if scores.synonyms is not None:
        table.add_row("synonyms", *_cells(scores.synonyms))
        table.caption = (
            f"{scores.with_synonyms:,} spans have synonyms; for the others, their own words are right"
        )
    return table


def _cells(scores: WritingScores) -> list[str]:
    return [
        f"{100 * scores.bleu:.2f}",
        f"{scores.empty:,}",
        f"{scores.words:,}",
        f"{100 * scores.unknown_share:.1f} %",
    ]
