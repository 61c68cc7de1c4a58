"""The tables of corpora: what they are like, share, and are split into, and what lexicons know of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from spanwright.cli.tables.table import Table
from spanwright.corpora.overlap import Overlap
from spanwright.corpora.shared_documents import REASONS
from spanwright.corpora.statistics import Consistency, Statistics
from spanwright.corpora.suggest_map import Suggestion
from spanwright.errors import counted
from spanwright.lexicons import Coverage
from spanwright.lexicons.coverage import Covered
from spanwright.text import Document

_OVERLAP_CAPTION = (
    "shared: documents of A that B has too, by article (id), by text, by nearly the same text (from 70 % on; "
    "trainings leave out what is 90 % alike), or as a part. "
    "namesakes: documents of A that are not shared, but have the id of a document of B. "
    "A in B: mentions of A whose string is a mention of B; B in A: the other way round."
)
ALL_TYPES = "all"


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
        ("label consistency", _consistency(consistency)),
    ]
    table = Table(box=None, show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def _consistency(found: Consistency) -> str:
    if not found.occurrences:
        return "-"
    occurrences = counted(found.occurrences, "occurrence")
    return f"{100 * found.share:.1f} % of {occurrences} of mention strings are annotated"


def type_counts_table(figures: Statistics) -> Table:
    """Entities of each type, the most frequent first."""
    table = Table("type", "entities", "share")
    for name, count in sorted(figures.types.items(), key=lambda item: -item[1]):
        # Text, because a type may hold square brackets, which rich would take for markup.
        table.add_row(Text(name), f"{count:,}", f"{100 * count / figures.entities:.1f} %")
    return table


def _quantiles(values: dict[str, int]) -> str:
    return "  ".join(f"{name}: {value:,}" for name, value in values.items())


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


def overlaps_table(a: Path, found: dict[Path, Overlap], in_any: int) -> Table:
    """A row per corpus; counts of documents of A by reason, and shares of mentions in percent."""
    documents = next(iter(found.values())).documents_a
    table = Table(
        box=None,
        pad_edge=False,
        title=f"A: {a.name}, {counted(documents, 'document')}",
        caption=_OVERLAP_CAPTION,
    )
    table.add_column("B")
    for column in ("documents", "shared", *REASONS, "namesakes", "A in B", "B in A"):
        table.add_column(column, justify="right")
    for other, each in found.items():
        table.add_row(Text(other.name), *_overlap_cells(each))
    if len(found) > 1:
        table.add_section()
        table.add_row("any of them", "", f"{in_any:,}")
    return table


def _overlap_cells(each: Overlap) -> Sequence[str]:
    counts = [each.documents_b, len(each.shared_a), *each.reasons().values(), len(each.namesakes_a)]
    shares = (each.a_in_b.mention_share, each.b_in_a.mention_share)
    return [*(f"{count:,}" for count in counts), *(f"{share:.1%}" for share in shares)]


def suggested_types_table(suggestions: Sequence[Suggestion]) -> Table:
    """A row for each type of a corpus and the type that it may be in another."""
    table = Table("type of A", "type of B", "confidence", "evidence")
    for found in suggestions:
        target = Text(found.target) if found.target is not None else Text("none", style="dim")
        table.add_row(Text(found.type), target, f"{found.confidence:.2f}", Text("\n".join(found.evidence)))
    return table


def lexicon_coverage_table(coverages: Mapping[str, Coverage]) -> Table:
    """A section per type and one for all, with a row per lexicon.

    The second percentage is of the distinct mentions, the median of the numbers of synonyms of mentions that
    have any.
    """
    table = Table()
    for heading in ("type", "lexicon"):
        table.add_column(heading)
    for heading in ("mentions", "with synonyms", "%", "distinct", "%", "median"):
        table.add_column(heading, justify="right")
    types = next(iter(coverages.values())).per_type
    if len(types) > 1:
        for type_ in types:
            _add_coverage(table, type_, {name: one.per_type[type_] for name, one in coverages.items()})
    _add_coverage(table, ALL_TYPES, {name: one.overall for name, one in coverages.items()})
    return table


def _add_coverage(table: Table, type_: str, rows: Mapping[str, Covered]) -> None:
    table.add_section()
    for position, (name, covered) in enumerate(rows.items()):
        # Text, because types and paths may hold square brackets, which rich would take for markup.
        table.add_row(Text("" if position else type_), Text(name), *_coverage_cells(covered))


def _coverage_cells(covered: Covered) -> list[str]:
    median = "-" if covered.median_synonyms is None else f"{covered.median_synonyms:g}"
    return [
        f"{covered.mentions:,}",
        f"{covered.mentions_covered:,}",
        f"{100 * covered.share:.1f}",
        f"{covered.distinct:,}",
        f"{100 * covered.distinct_share:.1f}",
        median,
    ]


def abbreviations_table(counts: Counter[tuple[str, str]]) -> Table:
    """A row per short and long form, the most frequent first, with the number of definitions."""
    table = Table("short form", "long form", "definitions")
    for (short, long), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        # Text, because both may hold square brackets, which rich would take for markup.
        table.add_row(Text(short), Text(" ".join(long.split())), f"{count:,}")
    return table
