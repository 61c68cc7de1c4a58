"""Scores of entities, of other spans and of thresholds, type by type (BINDER, Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanwright.analysis.spans import NONE, Floats, SpanSample
from spanwright.analysis.summaries import Summary, summarise


@dataclass(frozen=True, slots=True)
class TypeScores:
    """The scores of spans for one type."""

    entities: Summary
    """Of the entities of that type."""
    others: Summary
    """Of spans that are no entity."""
    thresholds: Summary | None
    """Of the thresholds of windows; None where a model has none, and 0 is the limit."""
    separation: float | None
    """How often an entity scores higher than another span: 1 when always, 0.5 by chance; None where the
    sample has no entity of the type or no other span."""


def score_distributions(sample: SpanSample) -> dict[str, TypeScores]:
    """The distributions of scores by type."""
    return {name: _of_type(sample, type_) for type_, name in enumerate(sample.types)}


def _of_type(sample: SpanSample, type_: int) -> TypeScores:
    entities, others = scores_of_type(sample, type_)
    thresholds = None if sample.thresholds is None else summarise(_numbers(sample.thresholds[:, type_]))
    return TypeScores(summarise(entities), summarise(others), thresholds, separation(entities, others))


def scores_of_type(sample: SpanSample, type_: int) -> tuple[Floats, Floats]:
    """The scores of the entities of a type, and those of spans that are none, of the corpus of the type."""
    scores = sample.scores[:, type_]
    return _numbers(scores[sample.type == type_]), _numbers(scores[sample.type == NONE])


def _numbers(values: Floats) -> Floats:
    numbers: Floats = values[~np.isnan(values)]
    return numbers


def separation(higher: Floats, lower: Floats) -> float | None:
    """The share of pairs in which the first is higher; equal ones count half. None without pairs."""
    if not len(higher) or not len(lower):
        return None
    ordered = np.sort(lower)
    below, up_to = (np.searchsorted(ordered, higher, side=side).sum() for side in ("left", "right"))
    return float(below + up_to) / (2 * len(higher) * len(lower))
