"""The table of figures of span vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spanwright.analysis import Inspection

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
