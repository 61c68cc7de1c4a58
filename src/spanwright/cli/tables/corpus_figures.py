"""The tables of what a corpus is like."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from spanwright.corpora.statistics import Statistics


def corpus_figures_table(figures: Statistics) -> Table:
    """Counts of documents, words and entities, a row each."""
    nesting, consistency = figures.nesting, figures.consistency
    rows = [
        ("documents", f"{figures.documents:,} ({figures.without_entities:,} without entities)"),
        ("sentences", f"{figures.sentences:,}"),
        ("words", f"{figures.words:,} ({figures.characters:,} characters)"),
        ("words per document", _quantiles(figures.words_per_document)),
        ("entities", f"{figures.entities:,}"),
        ("words per entity", _quantiles(figures.words_per_entity)),
        ("inside another entity", f"{nesting.inside_another:,}"),
        ("around another entity", f"{nesting.around_another:,}"),
        ("crossing another entity", f"{nesting.crossing:,}"),
        ("on a span with another type", f"{nesting.same_span:,}"),
        ("discontinuous", f"{nesting.discontinuous:,}"),
        ("cutting a word", f"{nesting.cutting_words:,}"),
        ("distinct mention strings", f"{consistency.strings:,} ({consistency.ambiguous:,} of several types)"),
        (
            "label consistency",
            f"{100 * consistency.share:.1f} % of {consistency.occurrences:,} occurrences of mention strings "
            f"are annotated",
        ),
    ]
    table = Table(box=None, show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def type_counts_table(figures: Statistics) -> Table:
    """Entities of each type, the most frequent first."""
    table = Table("type", "entities", "share")
    for name, count in sorted(figures.types.items(), key=lambda item: -item[1]):
        # Text, because a type may hold square brackets, which rich would take for markup.
        table.add_row(Text(name), f"{count:,}", f"{100 * count / figures.entities:.1f} %")
    return table


def _quantiles(values: dict[str, int]) -> str:
    return "  ".join(f"{name}: {value:,}" for name, value in values.items())
