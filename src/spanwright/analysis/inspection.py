"""All that is known about the span vectors of a model, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.analysis.measures import (
    ClassCosines,
    Summary,
    TemplateAngles,
    TypeScores,
    class_cosines,
    overlap_cosines,
    score_distributions,
    template_angles,
)
from spanwright.analysis.projections import Projection, check_packages, project
from spanwright.analysis.spans import SpanSample, collect_spans
from spanwright.artifact import TrainedModel
from spanwright.text import Document


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """The analyses of one sample of spans."""

    sample: SpanSample
    seed: int
    overlaps: dict[str, Summary]
    classes: ClassCosines
    templates: TemplateAngles
    projections: dict[str, Projection]
    """Of the vectors that the scorer gets."""
    projections_before: dict[str, Projection]
    """Of the same spans before all transforms (Joint-IB, Figure 2); empty for models without any."""
    scores: dict[str, TypeScores]

    @property
    def stages(self) -> dict[str, dict[str, Projection]]:
        """The projections by what is to be added to their names."""
        if not self.projections_before:
            return {"": self.projections}
        return {" before transforms": self.projections_before, " after transforms": self.projections}

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON, without the points."""
        sample = self.sample
        return {
            "seed": self.seed,
            "documents": sample.documents,
            "entities": int(sample.is_entity.sum()),
            "other_spans": int((~sample.is_entity).sum()),
            "overlaps": {name: asdict(cosines) for name, cosines in self.overlaps.items()},
            "classes": asdict(self.classes),
            "templates": asdict(self.templates),
            "projections": _clusters(self.projections),
            "projections_before": _clusters(self.projections_before),
            "scores": {name: asdict(found) for name, found in self.scores.items()},
        }


def _clusters(projections: dict[str, Projection]) -> dict[str, Any]:
    return {
        name: {"types": asdict(found.types), "types_and_none": asdict(found.types_and_none)}
        for name, found in projections.items()
    }


def inspect_spans(
    model: TrainedModel, documents: Sequence[Document], *, spans: int = 500, seed: int = 0
) -> Inspection:
    """Draw up to `spans` entities and up to `spans` others from documents, and analyse their vectors."""
    check_packages()
    sample = collect_spans(model, documents, spans=spans, seed=seed)
    return Inspection(
        sample=sample,
        seed=seed,
        overlaps=overlap_cosines(sample),
        classes=class_cosines(sample),
        templates=template_angles(sample),
        projections=project(sample.vectors, sample, seed=seed),
        projections_before={} if sample.evidence is None else project(sample.evidence, sample, seed=seed),
        scores=score_distributions(sample),
    )
