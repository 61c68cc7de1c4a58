"""Span vectors and scores in numbers.

How vectors and class templates lie to each other (DSpERT, section 5): a template is the vector that a class
is recognised by, a row of the last linear layer or a type vector. How the scores of entities, of other spans
and of thresholds are spread, type by type (BINDER, Figure 2). Means over no pairs are None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.analysis.spans import NO_ENTITY, NONE, SpanSample, unit_vectors
from spanwright.arrays import Floats, Floats32, Integers

OVERLAPS = ("apart", "weak", "strong")
"""No shared word; up to half of the words shared; more than half."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a number of values is like; all but the count are None where there is no value."""

    count: int
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    """5 % of the values lie below."""
    median: float | None = None
    high: float | None = None
    """5 % of the values lie above."""


def summarise(values: npt.NDArray[np.floating]) -> Summary:
    """The summary of values, (values,)."""
    if not len(values):
        return Summary(0)
    exact = values.astype(np.float64)
    low, median, high = np.quantile(exact, [0.05, 0.5, 0.95]).tolist()
    return Summary(len(exact), float(exact.mean()), float(exact.std()), low, median, high)


@dataclass(frozen=True, slots=True)
class ClassCosines:
    """Lengths of span vectors, and mean cosines between spans of the same and of different classes."""

    norms: dict[str, Summary]
    """By class."""
    within: float | None
    """Between entities of one type."""
    between: float | None
    """Between entities of different types."""
    against_none: float | None
    """Between entities and spans that are none."""
    matrix: dict[str, dict[str, float | None]]
    """By class and class; no span is compared with itself."""


@dataclass(frozen=True, slots=True)
class TemplateAngles:
    """Lengths of templates, and the angles and absolute cosines between them."""

    norms: dict[str, float]
    """By class."""
    absolute_cosine: float | None
    """Mean over all pairs of classes."""
    between_types: float | None
    """Mean absolute cosine over pairs of types."""
    against_none: float | None
    """Mean absolute cosine between types and no entity; None where that has no template."""
    degrees: dict[str, dict[str, float]]
    """The angle by class and class."""


def overlap_cosines(sample: SpanSample) -> dict[str, Summary]:
    """Cosines between entities and the spans near them, by how much of them overlaps (DSpERT, Table 4)."""
    weak = (sample.overlap > 0) & (sample.overlap <= 0.5)
    masks = (sample.overlap == 0, weak, sample.overlap > 0.5)
    return {name: summarise(sample.cosine[mask]) for name, mask in zip(OVERLAPS, masks, strict=True)}


def class_cosines(sample: SpanSample) -> ClassCosines:
    """Lengths and cosines of span vectors by class (DSpERT, Table 5)."""
    present = [type_ for type_ in range(len(sample.types)) if (sample.type == type_).any()]
    rows = [np.flatnonzero(sample.type == type_) for type_ in (*present, NONE)]
    names = [*(sample.types[type_] for type_ in present), NO_ENTITY]
    norms = np.linalg.norm(sample.vectors, axis=1)
    totals, pairs = _pair_sums(sample.vectors, rows)
    same = np.eye(len(names), dtype=bool)
    entity = np.arange(len(names)) < len(present)
    both, one = np.outer(entity, entity), np.outer(entity, ~entity)
    return ClassCosines(
        norms={name: summarise(norms[own]) for name, own in zip(names, rows, strict=True)},
        within=_mean(totals, pairs, both & same),
        between=_mean(totals, pairs, both & ~same),
        against_none=_mean(totals, pairs, one),
        matrix={
            name: {other: _mean(totals, pairs, (at, to)) for to, other in enumerate(names)}
            for at, name in enumerate(names)
        },
    )


def _pair_sums(vectors: Floats32, rows: list[Integers]) -> tuple[Floats, Integers]:
    """(classes, classes) twice: sums of the cosines of all pairs of different spans, and their number.

    The cosines of all pairs add up to the product of the sums of the unit vectors.
    """
    unit = unit_vectors(vectors).astype(np.float64)
    sums = np.stack([unit[own].sum(axis=0) for own in rows])
    sizes = np.array([len(own) for own in rows])
    themselves = np.diag([float((unit[own] ** 2).sum()) for own in rows])
    return sums @ sums.T - themselves, np.outer(sizes, sizes) - np.diag(sizes)


def _mean(totals: Floats, pairs: Integers, chosen: Any) -> float | None:
    count = int(pairs[chosen].sum())
    return float(totals[chosen].sum() / count) if count else None


def template_angles(sample: SpanSample) -> TemplateAngles:
    """Lengths of templates and angles between them (DSpERT, Table 5)."""
    names = sample.classes
    unit = unit_vectors(sample.templates).astype(np.float64)
    cosines = np.clip(unit @ unit.T, -1, 1)
    degrees = np.degrees(np.arccos(cosines))
    different = ~np.eye(len(names), dtype=bool)
    none = np.array([name not in sample.types for name in names])
    between = different & ~none[:, None] & ~none
    absolute = np.abs(cosines)
    return TemplateAngles(
        norms=dict(zip(names, np.linalg.norm(sample.templates, axis=1).tolist(), strict=True)),
        absolute_cosine=summarise(absolute[different]).mean,
        between_types=summarise(absolute[between]).mean,
        against_none=summarise(absolute[different & ~between]).mean,
        degrees={
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, degrees.tolist(), strict=True)
        },
    )


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


def scores_of_type(sample: SpanSample, type_: int) -> tuple[Floats32, Floats32]:
    """The scores of the entities of a type, and those of spans that are none, of the corpus of the type."""
    scores = sample.scores[:, type_]
    return _numbers(scores[sample.type == type_]), _numbers(scores[sample.type == NONE])


def _numbers(values: Floats32) -> Floats32:
    numbers: Floats32 = values[~np.isnan(values)]
    return numbers


def separation(higher: Floats32, lower: Floats32) -> float | None:
    """The share of pairs in which the first is higher; equal ones count half. None without pairs."""
    if not len(higher) or not len(lower):
        return None
    ordered = np.sort(lower)
    below, up_to = (np.searchsorted(ordered, higher, side=side).sum() for side in ("left", "right"))
    return float(below + up_to) / (2 * len(higher) * len(lower))
