"""How sure a score or a difference is, with documents as the units that chance draws.

Counts of documents are rows of gold, found, predicted and correct entities, as in
`CriterionScores.per_document`. All draws come from a seed, so the same call gives the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.errors import InputError
from spanwright.evaluation.criteria import CriterionScores, ratios

_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A score and the range that holds it at the level asked for."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Micro F1 of two systems, and how likely chance makes them differ as much."""

    first: float
    second: float
    p_value: float
    margin: float
    """With a chance of 95 %, the true difference lies no further than this from the observed one."""

    @property
    def difference(self) -> float:
        """How much the first is better."""
        return self.first - self.second


def confidence_intervals(
    scores: CriterionScores, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> dict[str, Interval]:
    """Percentile bootstrap intervals of micro precision, recall and F1."""
    if not 0 < level < 1:
        raise InputError(f"confidence level: found {level}; expected 0 < level < 1, such as 0.95")
    rows = scores.per_document
    values = ratios(rows.sum(axis=0)[None])[0]
    drawn = np.concatenate([ratios(weights @ rows) for weights in resampled(len(rows), resamples, seed)])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {
        name: Interval(*numbers)
        for name, *numbers in zip(
            ("precision", "recall", "f1"), values.tolist(), low.tolist(), high.tolist(), strict=True
        )
    }


def paired_bootstrap(
    first: CriterionScores, second: CriterionScores, *, resamples: int = 2000, seed: int = 0
) -> Difference:
    """Two-sided paired bootstrap test: how often resampled documents move the difference by its own size."""
    left, right = _same_documents(first, second)
    observed = f1_of(left.sum(axis=0)[None]) - f1_of(right.sum(axis=0)[None])
    drawn = np.concatenate(
        [f1_of(weights @ left) - f1_of(weights @ right) for weights in resampled(len(left), resamples, seed)]
    )
    return difference_of(left, right, drawn - observed)


def paired_randomisation(
    first: CriterionScores, second: CriterionScores, *, shuffles: int = 2000, seed: int = 0
) -> Difference:
    """Two-sided approximate randomisation: how often swapping the systems' answers differs as much."""
    left, right = _same_documents(first, second)
    return difference_of(left, right, swapped(left, right, shuffles, np.random.default_rng(seed)))


def swapped(
    left: Integers | Floats, right: Integers | Floats, shuffles: int, generator: np.random.Generator
) -> Floats:
    """Differences in F1 after swapping the rows of random documents, `(shuffles,)`."""
    # Where both answered alike there is nothing to swap.
    change = (right - left)[(left != right).any(axis=1)]
    drawn = [np.zeros(0)]
    for number in _portions(shuffles, len(change)):
        moved = generator.integers(0, 2, (number, len(change)), dtype=np.int8).astype(np.float64) @ change
        drawn.append(f1_of(left.sum(axis=0) + moved) - f1_of(right.sum(axis=0) - moved))
    return np.concatenate(drawn)


def difference_of(left: Integers | Floats, right: Integers | Floats, drawn: Floats) -> Difference:
    """The p-value counts the observed difference among the drawn ones, so it is never 0."""
    first, second = (float(f1_of(rows.sum(axis=0)[None])[0]) for rows in (left, right))
    sizes = np.abs(drawn)
    as_much = int((sizes >= abs(first - second) - _ROUNDING).sum())
    margin = float(np.quantile(sizes, 0.95)) if len(sizes) else 0.0
    return Difference(first, second, (as_much + 1) / (len(drawn) + 1), margin)


def f1_of(counts: Integers | Floats) -> Floats:
    """F1 of rows of counts, `(rows,)`."""
    return ratios(counts)[:, 2]


def _same_documents(first: CriterionScores, second: CriterionScores) -> tuple[Integers, Integers]:
    """Rows of both systems: the gold documents, then those that gold lacks, each for one system only."""
    documents = first.gold_documents
    gold, other_gold = (scores.per_document[: scores.gold_documents, 0] for scores in (first, second))
    if not np.array_equal(gold, other_gold):
        raise InputError(
            f"two systems: the gold entities of {documents} and {second.gold_documents} documents differ; "
            f"expected scores of two predictions against the same gold documents, in the same order"
        )
    left, right = (scores.per_document[documents:] for scores in (first, second))
    return (
        np.concatenate((first.per_document[:documents], left, np.zeros_like(right))),
        np.concatenate((second.per_document[:documents], np.zeros_like(left), right)),
    )


def resampled(documents: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each document is drawn in each resample, `(some, documents)` at a time."""
    generator = np.random.default_rng(seed)
    for number in _portions(resamples, documents):
        # Floats, since numpy multiplies matrices of integers without BLAS.
        yield generator.multinomial(documents, np.full(documents, 1 / documents), number).astype(np.float64)


def _portions(rows: int, columns: int) -> Iterator[int]:
    """Numbers of rows that add up to `rows`, each small enough for memory."""
    portion = max(1, _CELLS_AT_ONCE // max(columns, 1))
    for begin in range(0, rows, portion):
        yield min(portion, rows - begin)
