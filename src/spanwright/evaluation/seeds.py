"""Runs of one recipe that differ in their seed: how much they vary, and whether two recipes differ.

Chance has two sources. Other test documents would give other scores, and so would other seeds: the luck of a
training is shared by all documents of its run, so no number of documents averages it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.errors import InputError
from spanwright.evaluation.significance import Difference, Interval, difference_of, f1_of, resampled, swapped


@dataclass(frozen=True, slots=True)
class Spread:
    """Runs of one system that differ in their seed."""

    mean: float
    deviation: float | None
    """The sample standard deviation; None for a single run."""
    runs: int


def over_seeds(values: Sequence[float]) -> Spread:
    """Mean and deviation of the scores of several runs."""
    if not values:
        raise InputError("scores of runs: found none; expected one or more")
    return Spread(fmean(values), stdev(values) if len(values) > 1 else None, len(values))


def f1_interval(counts: Integers, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Mean F1 of the runs of a recipe and its percentile bootstrap interval.

    Counts are `(runs, documents, 4)`. Each resample draws documents and runs; with a single run nothing is
    known about other seeds, and the interval is that of this very model.
    """
    runs, documents, _ = counts.shape
    portions = list(resampled(documents, resamples, seed))
    scores = np.array([np.concatenate([f1_of(weights @ run) for weights in portions]) for run in counts])
    drawn = np.random.default_rng(seed).integers(0, runs, scores.shape)
    means = np.take_along_axis(scores, drawn, axis=0).mean(axis=0)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(f1_of(counts.sum(axis=1)).mean()), float(low), float(high))


def compare_runs(first: Integers, second: Integers, *, shuffles: int = 2000, seed: int = 0) -> Difference:
    """Two-sided test whether two recipes are equally good, from all their runs on the same documents.

    Counts are `(runs, documents, 4)`; the recipes may have unequally many runs. Each shuffle swaps random
    documents, each with the mean of its counts over all runs, and adds what other seeds might have changed.
    Runs count as independent, also two of the same seed. With a single run of a recipe nothing is known about
    other seeds: the test is then whether these very models are equally good. F1 is that of all runs together.
    """
    if first.shape[1:] != second.shape[1:] or (first[:, :, 0] != second[0, :, 0]).any():
        raise InputError(
            f"runs of two recipes: the gold entities of {first.shape[1]} and {second.shape[1]} documents "
            f"differ; expected counts of the same gold documents, in the same order"
        )
    generator = np.random.default_rng(seed)
    left, right = first.mean(axis=0), second.mean(axis=0)
    drawn = swapped(left, right, shuffles, generator)
    return difference_of(left, right, drawn + _luck_of_seeds((first, second), shuffles, generator))


def _luck_of_seeds(recipes: Sequence[Integers], draws: int, generator: np.random.Generator) -> Floats:
    """What other seeds might add to the difference of two recipes' F1, `(draws,)`; 0 where runs are equal.

    The variance of the difference is estimated from few runs, so it is drawn as well: by the scaled
    chi-squared distribution, with the degrees of freedom of Welch and Satterthwaite. Alone, this would be
    Welch's t-test of the runs' scores. Swapping has the chance in single documents already: it is taken off.
    """
    if min(map(len, recipes)) < 2:
        return np.zeros(draws)
    variances = np.array([f1_of(counts.sum(axis=1)).var(ddof=1) / len(counts) for counts in recipes])
    variance = variances.sum()
    if variance == 0:
        return np.zeros(draws)
    freedom = variance**2 / sum(
        each**2 / (len(counts) - 1) for each, counts in zip(variances, recipes, strict=True)
    )
    possible = variance * freedom / generator.chisquare(freedom, draws)
    swapped_already = sum(map(_variance_by_documents, recipes))
    luck: Floats = generator.normal(size=draws) * np.sqrt(np.maximum(possible - swapped_already, 0))
    return luck


def _variance_by_documents(counts: Integers) -> float:
    """The part of the variance of the runs' mean F1 that comes from answering single documents differently.

    By the jackknife: how much F1 changes without a document, compared between the runs.
    """
    runs, documents, _ = counts.shape
    without = (counts.sum(axis=1, keepdims=True) - counts).reshape(runs * documents, -1)
    scores = f1_of(without).reshape(runs, documents)
    changes = scores - scores.mean(axis=1, keepdims=True)
    return float(((changes - changes.mean(axis=0)) ** 2).sum() / ((runs - 1) * runs))
