"""Turning confidences into probabilities.

A calibrated confidence says how often such predictions are correct. Two ways are tried: a temperature,
which divides the logit, and isotonic regression, the best rising function. Both keep the order of
predictions (isotonic regression may tie some). The one with the lower cross-validated log loss is chosen,
so that the isotonic curve does not bend to the noise of a handful of predictions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Booleans, Floats, Integers
from spanwright.errors import InputError
from spanwright.evaluation.reliability import checked_confidences, checked_pairs, log_loss

_FOLDS = 5
_EDGE = 1e-6
"""How far confidences stay from 0 and 1 before their logit is taken."""
_LOWEST, _HIGHEST = 0.01, 100.0
_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising function from confidence to probability; by default the one that changes nothing."""

    kind: Literal["temperature", "isotonic"] = "temperature"
    temperature: float = 1.0
    """What the logit of a confidence is divided by."""
    confidences: tuple[float, ...] = ()
    """Knots of an isotonic curve, rising; it is straight between them and flat beyond them."""
    probabilities: tuple[float, ...] = ()

    def apply(self, confidence: npt.ArrayLike) -> Floats:
        """The probability for each confidence, in the same shape."""
        values = checked_confidences(confidence)
        if self.kind == "isotonic":
            return np.asarray(np.interp(values, self.confidences, self.probabilities), np.float64)
        return values if self.temperature == 1 else _sigmoid(_logit(values) / self.temperature)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        if self.kind == "temperature":
            return {"kind": self.kind, "temperature": self.temperature}
        knots = {"confidences": list(self.confidences), "probabilities": list(self.probabilities)}
        return {"kind": self.kind, **knots}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_dict` stored."""
        match dict(stored):
            case {"kind": "temperature", "temperature": temperature} if (
                _is_number(temperature) and temperature > 0
            ):
                return cls("temperature", float(temperature))
            case {"kind": "isotonic", "confidences": confidences, "probabilities": probabilities} if (
                _is_rising(confidences)
                and _is_rising(probabilities)
                and len(set(confidences)) == len(confidences) == len(probabilities)
            ):
                return cls("isotonic", 1.0, tuple(map(float, confidences)), tuple(map(float, probabilities)))
        raise InputError(
            f"calibration: found {dict(stored)!r}; expected kind 'temperature' with a finite temperature "
            f"above 0, or kind 'isotonic' with a rising list of distinct confidences and as many rising "
            f"probabilities, all from 0 to 1"
        )


def fit_calibration(confidence: npt.ArrayLike, correct: npt.ArrayLike, *, seed: int = 0) -> Calibration:
    """The kind of calibration with the lower cross-validated log loss, fitted on all predictions.

    Fewer than ten predictions, or predictions that are all correct or all wrong, say too little: then
    confidences stay as they are.
    """
    values, right = checked_pairs(confidence, correct)
    if len(values) < 2 * _FOLDS or right.all() or not right.any():
        return Calibration()
    fold = np.random.default_rng(seed).permutation(len(values)) % _FOLDS
    ways = (fit_temperature, fit_isotonic)
    losses = [_held_out_loss(fit, values, right, fold) for fit in ways]
    return ways[int(np.argmin(losses))](values, right)


def fit_temperature(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> Calibration:
    """The temperature with the lowest log loss, between 0.01 and 100."""
    values, right = checked_pairs(confidence, correct)
    logits = _logit(values)
    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # The loss is convex in the inverse temperature, so the sign of its slope tells the better half.
        slope = ((_sigmoid(logits * np.exp(-middle)) - right) * logits).sum()
        low, high = (middle, high) if slope > 0 else (low, middle)
    return Calibration("temperature", float(np.exp((low + high) / 2)))


def fit_isotonic(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> Calibration:
    """The rising function with the lowest squared error, by pooling adjacent violators."""
    values, right = checked_pairs(confidence, correct)
    if not len(values):
        raise InputError("isotonic calibration: found no predictions; expected one or more")
    knots, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    heights = _rising_means(np.bincount(place, right), counts)
    # Within a flat stretch only its two ends are needed.
    step = heights[1:] != heights[:-1]
    kept = np.append(True, step) | np.append(step, True)
    return Calibration("isotonic", 1.0, tuple(knots[kept].tolist()), tuple(heights[kept].tolist()))


def _rising_means(totals: Floats | Integers, counts: Integers) -> Floats:
    """The rising values nearest to `totals / counts` in squares weighted by `counts`, `(values,)`."""
    blocks: list[tuple[float, int, int]] = []
    for total, count in zip(totals.tolist(), counts.tolist(), strict=True):
        width = 1
        # A block whose mean is not above that of the block before is pooled with it.
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            earlier_total, earlier_count, earlier_width = blocks.pop()
            total, count, width = total + earlier_total, count + earlier_count, width + earlier_width
        blocks.append((total, count, width))
    means = [total / count for total, count, _ in blocks]
    return np.repeat(np.array(means), [width for _, _, width in blocks])


def _held_out_loss(
    fit: Callable[[Floats, Booleans], Calibration], values: Floats, right: Booleans, fold: Integers
) -> float:
    """The log loss over all predictions, each under a calibration that has not seen its fold."""
    probability = np.empty_like(values)
    for held_out in range(_FOLDS):
        chosen = fold == held_out
        probability[chosen] = fit(values[~chosen], right[~chosen]).apply(values[chosen])
    return log_loss(probability, right)


def _is_rising(values: object) -> bool:
    """Whether it is a list of numbers in [0, 1], none below the one before it."""
    if not isinstance(values, list) or not values or not all(map(_is_number, values)):
        return False
    return values == sorted(values) and values[0] >= 0 and values[-1] <= 1


def _is_number(value: object) -> bool:
    """Whether it is a number that a float can hold; infinity and NaN are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _logit(values: Floats) -> Floats:
    inner = np.clip(values, _EDGE, 1 - _EDGE)
    return np.log(inner) - np.log1p(-inner)


def _sigmoid(values: Floats) -> Floats:
    # By way of tanh, which overflows nowhere.
    return 0.5 + 0.5 * np.tanh(0.5 * values)
