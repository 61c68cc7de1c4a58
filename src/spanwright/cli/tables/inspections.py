"""The tables of what `spanwright inspect` finds inside a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from spanwright.cli.tables.table import Table

if TYPE_CHECKING:
    from spanwright.analysis import GenerationScores, Inspection, WritingScores, WrittenSpan
    from spanwright.analysis.corpora import CorporaInspection, Nearness

Rows = Iterator[tuple[str, float | None]]


def span_figures_table(inspection: Inspection) -> Table:
    """Cosines, clusters and scores of the spans that were looked at."""
    entities = int(inspection.sample.is_entity.sum())
    others = len(inspection.sample.type) - entities
    title = f"{entities:,} entities and {others:,} other spans of {inspection.sample.documents:,} documents"
    table = Table("", "", title=title, show_header=False)
    table.columns[1].justify = "right"
    for rows in (_cosine_rows(inspection), _cluster_rows(inspection), _score_rows(inspection)):
        for name, value in rows:
            # Text, because a type may hold square brackets, which rich would take for markup.
            table.add_row(Text(name), "-" if value is None else f"{value:.3f}")
        table.add_section()
    return table


def _cosine_rows(inspection: Inspection) -> Rows:
    overlaps, classes, templates = inspection.overlaps, inspection.classes, inspection.templates
    yield "cosine of entities and near spans: no word shared", overlaps["apart"].mean
    yield "  up to half of the words shared", overlaps["weak"].mean
    yield "  more than half", overlaps["strong"].mean
    yield "cosine of entities: of one type", classes.within
    yield "  of different types", classes.between
    yield "  and spans that are none", classes.against_none
    yield "absolute cosine of class templates: types", templates.between_types
    yield "  types and no entity", templates.against_none


def _cluster_rows(inspection: Inspection) -> Rows:
    for stage, projections in inspection.stages.items():
        for name, projection in projections.items():
            yield f"{name}{stage}: silhouette of types", projection.types.silhouette
            yield "  purity of types among neighbours", projection.types.purity
            yield "  purity with no entity as a class", projection.types_and_none.purity


def _score_rows(inspection: Inspection) -> Rows:
    for name, scores in inspection.scores.items():
        yield f"{name}: an entity scores above another span", scores.separation


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
    table.add_row("reconstructions", *_writing_cells(scores.reconstruction))
    if scores.synonyms is not None:
        table.add_row("synonyms", *_writing_cells(scores.synonyms))
        table.caption = (
            f"{scores.with_synonyms:,} spans have synonyms; for the others, their own words are right"
        )
    return table


def _writing_cells(scores: WritingScores) -> list[str]:
    return [
        f"{100 * scores.bleu:.2f}",
        f"{scores.empty:,}",
        f"{scores.words:,}",
        f"{100 * scores.unknown_share:.1f} %",
    ]


def corpora_nearness_table(inspection: CorporaInspection) -> Table:
    """Mean cosines, with a column for each kind of vectors."""
    columns = _nearness_columns(inspection)
    meant = "shared type" if inspection.labels.mapped else "name"
    table = Table("mean cosine of pairs", *columns, title=_entity_counts(inspection))
    for column in table.columns[1:]:
        column.justify = "right"
    rows = {
        f"one {meant}, different corpora": "same",
        f"different {meant}s, different corpora": "different_across",
        f"different {meant}s": "different",
    }
    for name, field in rows.items():
        table.add_row(name, *(_cosine(getattr(column, field)) for column in columns.values()))
    table.add_section()
    for meaning in inspection.labels.meanings:
        values = [column.by_meaning.get(meaning) for column in columns.values()]
        if any(value is not None for value in values):
            # Text, because a type may hold square brackets, which rich would take for markup.
            table.add_row(Text(f"  {meaning}"), *map(_cosine, values))
    return table


def _nearness_columns(inspection: CorporaInspection) -> dict[str, Nearness]:
    found = {}
    if inspection.conditions_before is not None:
        found["conditions before training"] = inspection.conditions_before
    if inspection.conditions is not None:
        found["conditions"] = inspection.conditions.nearness
    if inspection.entities is not None:
        found["entities"] = inspection.entities.nearness
    return found


def _entity_counts(inspection: CorporaInspection) -> Text | None:
    counts = inspection.entity_counts()
    named = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return Text(f"entities: {named}") if named else None


def _cosine(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
