"""All that is known about the span vectors of a model, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.analysis.cosines import (
    ClassCosines,
    TemplateAngles,
    class_cosines,
    overlap_cosines,
    template_angles,
)
from spanwright.analysis.projections import Projection, check_packages, project
from spanwright.analysis.scores import TypeScores, score_distributions
from spanwright.analysis.spans import SpanSample, collect_spans
from spanwright.analysis.summaries import Summary
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
    scores: dict[str, TypeScores]

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
            "projections": {
                name: {"types": asdict(found.types), "types_and_none": asdict(found.types_and_none)}
                for name, found in self.projections.items()
            },
            "scores": {name: asdict(found) for name, found in self.scores.items()},
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
        projections=project(sample, seed=seed),
        scores=score_distributions(sample),
    )
