"""How large an effect is, with its interval: one form for every kind of claim about recipes.

An interval has 95 %, and holds 0 where p is 0.05 or more, but for what rounding and draws do at the edge.
All draws come from a seed, so the same call gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import factorial, sqrt
from statistics import NormalDist, fmean, variance
from typing import Self

import numpy as np

from spanwright.arrays import Floats
from spanwright.errors import InputError
from spanwright.evaluation.significance import Difference

LEVEL = 0.95
_DRAWS = 20_000
_MOST_ORDERS = 50_000
"""So many orders of points are tried one by one; of more, some are drawn."""
_ROUNDING = 1e-12
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference, slope or correlation that a claim says to be above 0."""

    value: float
    low: float
    high: float
    p_value: float

    @classmethod
    def within(cls, value: float, margin: float, p_value: float) -> Self:
        """The effect whose interval reaches as far down as up."""
        return cls(value, value - margin, value + margin, p_value)

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """The difference of two recipes."""
        return cls.within(difference.difference, difference.margin, difference.p_value)

    @property
    def reversed(self) -> Self:
        """The same with its sign changed."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)


def together(effects: Sequence[Effect]) -> Effect:
    """The mean of effects that are independent of each other, such as those on several corpora.

    Each interval is taken for that of a normal distribution. From few seeds it is wider than that, so the
    interval of the mean is rather too wide than too narrow.
    """
    if len(effects) == 1:
        return effects[0]
    value = fmean(effect.value for effect in effects)
    margin = sqrt(sum((effect.high - effect.low) ** 2 for effect in effects)) / (2 * len(effects))
    return Effect.within(value, margin, _p_value(value, margin))


def _p_value(value: float, margin: float) -> float:
    if margin == 0:
        return 1.0 if value == 0 else 0.0
    return 2 * _NORMAL.cdf(-_deviations(1) * abs(value) / margin)


def _deviations(comparisons: int) -> float:
    """How many standard deviations an interval reaches, so that all of so many hold at once."""
    return _NORMAL.inv_cdf(1 - (1 - LEVEL) / (2 * comparisons))


def best(effects: Sequence[Effect]) -> Effect:
    """How much better than its strongest rival something is, from its difference to each rival.

    Above 0 only where it is better than all of them. Every rival is a comparison of its own, so intervals are
    wider and p-values larger by their number (Bonferroni).
    """
    count = len(effects)
    wider = _deviations(count) / _deviations(1)
    least = min(effects, key=lambda effect: effect.value)
    p_value = max(effect.p_value for effect in effects) if least.value > 0 else least.p_value
    return Effect(
        least.value,
        min(effect.value - wider * (effect.value - effect.low) for effect in effects),
        min(effect.value + wider * (effect.high - effect.value) for effect in effects),
        min(1.0, count * p_value),
    )


def over_runs(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Effect:
    """How much larger a number is in the runs of the first recipe: Welch's t-test over runs.

    For numbers that runs have and single documents do not, so that runs are all the chance there is. A single
    run says nothing about others: the interval then has no end.
    """
    value = fmean(first) - fmean(second)
    if min(len(first), len(second)) < 2:
        return Effect(value, -np.inf, np.inf, 1.0)
    variances = [variance(side) / len(side) for side in (first, second)]
    total = sum(variances)
    if total == 0:
        return Effect.within(value, 0.0, _p_value(value, 0.0))
    freedom = total**2 / sum(
        each**2 / (len(side) - 1) for each, side in zip(variances, (first, second), strict=True)
    )
    generator = np.random.default_rng(seed)
    drawn = generator.normal(size=_DRAWS) * np.sqrt(total * freedom / generator.chisquare(freedom, _DRAWS))
    # The observed difference is among them, so p is never 0.
    return _among(value, np.append(drawn, value))


def slope(places: Sequence[float], values: Sequence[float], *, seed: int = 0) -> Effect:
    """How much values rise from the lowest place to the highest, by a straight line.

    Tested by giving the values to the places in every other order.
    """
    return mean_slope([(places, values)], seed=seed)


def mean_slope(rows: Sequence[tuple[Sequence[float], Sequence[float]]], *, seed: int = 0) -> Effect:
    """The mean of several slopes, each of places and values of its own, such as those on several corpora.

    Tested by other orders of the values in all of them at once.
    """
    slopes = [_slopes(*row, seed + number) for number, row in enumerate(rows)]
    if len(slopes) == 1:
        return _among(float(slopes[0][0]), slopes[0])
    generator = np.random.default_rng(seed)
    value = fmean(float(each[0]) for each in slopes)
    drawn = np.mean([generator.choice(each, _DRAWS) for each in slopes], axis=0)
    return _among(value, np.append(drawn, value))


def _slopes(places: Sequence[float], values: Sequence[float], seed: int) -> Floats:
    """The slope of the values in their order, and then in others."""
    x = np.asarray(places, dtype=np.float64)
    span = x.max() - x.min()
    centred = x - x.mean()
    if len(x) < 2 or span == 0:
        raise InputError(f"slope: found the places {list(places)}; expected two that differ, or more")
    weights = centred * span / (centred**2).sum()
    found: Floats = _orders(np.asarray(values, dtype=np.float64), seed) @ weights
    return found


def correlation(places: Floats, values: Floats, *, seed: int = 0) -> Effect:
    """The mean correlation of rows of places with rows of values, each `(rows, points)`.

    Tested by giving the values to the points in every other order, the same in all rows.
    """
    x, y = (_standard(np.asarray(side, dtype=np.float64)) for side in (places, values))
    orders = _orders(np.arange(x.shape[1], dtype=np.float64), seed).astype(np.int64)
    drawn = np.mean([own[orders] @ place for place, own in zip(x, y, strict=True)], axis=0)
    found = _among(float(drawn[0]), drawn)
    return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))


def _standard(rows: Floats) -> Floats:
    """Rows with a mean of 0 and a length of 1; rows whose numbers are all the same become 0."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    scaled: Floats = centred / np.where(lengths > 0, lengths, 1)
    return scaled


def _orders(values: Floats, seed: int) -> Floats:
    """The values as they are and then in other orders, `(orders, values)`."""
    if factorial(len(values)) <= _MOST_ORDERS:
        return np.array(list(permutations(values)))
    generator = np.random.default_rng(seed)
    drawn = generator.permuted(np.tile(values, (_DRAWS, 1)), axis=1)
    return np.concatenate((values[None], drawn))


def _among(value: float, drawn: Floats) -> Effect:
    """An effect beside those that chance alone draws."""
    sizes = np.abs(drawn)
    p_value = float((sizes >= abs(value) - _ROUNDING).mean())
    # One that was drawn, and not a number between two: where few differ, that would lie below what p counts.
    margin = float(np.quantile(sizes, LEVEL, method="higher"))
    return Effect.within(value, margin + _ROUNDING, p_value)
