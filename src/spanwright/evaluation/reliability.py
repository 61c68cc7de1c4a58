"""How far confidences are from being probabilities. A confidence is in [0, 1]."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Booleans, Floats
from spanwright.errors import InputError
from spanwright.evaluation.columns import Comparison
from spanwright.evaluation.thresholds import Confidences, collect_confidences

_EDGE = 1e-6
"""The lowest likelihood that a logarithm is taken of."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The predictions of a range of confidences in a reliability diagram."""

    low: float
    high: float
    count: int
    confidence: float
    """The mean confidence."""
    accuracy: float
    """The share of correct predictions."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Confidences of predictions, and how far they are from being probabilities."""

    confidences: Confidences
    bins: tuple[Bin, ...]
    expected_calibration_error: float
    log_loss: float

    def to_dict(self) -> dict[str, Any]:
        """All but the single confidences, for JSON."""
        return {
            "expected_calibration_error": self.expected_calibration_error,
            "log_loss": self.log_loss,
            "bins": [asdict(each) for each in self.bins],
        }


def find_reliability(comparison: Comparison) -> tuple[Reliability | None, str]:
    """The reliability of the confidences of the predictions; else None and why there is none."""
    values = [entity.confidence for entity in comparison.predicted.entities]
    given = [value for value in values if value is not None]
    if not given:
        return None, "no prediction has a confidence"
    if len(given) < len(values):
        return None, f"only {len(given):,} of {len(values):,} predictions have a confidence"
    if not all(0 <= value <= 1 for value in given):
        return None, "not all confidences are between 0 and 1"
    found = collect_confidences(comparison)
    pairs = (found.confidence, found.correct)
    error, loss = expected_calibration_error(*pairs), log_loss(*pairs)
    return Reliability(found, reliability_bins(*pairs), error, loss), ""


def reliability_bins(confidence: npt.ArrayLike, correct: npt.ArrayLike, *, bins: int = 10) -> tuple[Bin, ...]:
    """Bins of equal width, upper limits included; empty ones have confidence and accuracy 0."""
    values, right = checked_pairs(confidence, correct)
    limits = np.linspace(0, 1, bins + 1)
    place = np.maximum(np.searchsorted(limits, values, side="left") - 1, 0)
    count = np.bincount(place, minlength=bins)
    means = (np.bincount(place, of, bins) / np.maximum(count, 1) for of in (values, right))
    columns = (limits[:-1], limits[1:], count, *means)
    return tuple(Bin(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def expected_calibration_error(confidence: npt.ArrayLike, correct: npt.ArrayLike, *, bins: int = 10) -> float:
    """The mean distance of confidence and accuracy over bins, weighted by their predictions; 0 for none."""
    found = reliability_bins(confidence, correct, bins=bins)
    total = sum(each.count for each in found)
    return sum(each.count * abs(each.accuracy - each.confidence) for each in found) / max(total, 1)


def log_loss(probability: npt.ArrayLike, correct: npt.ArrayLike) -> float:
    """The mean negative log likelihood of what was correct; 0 for no predictions."""
    values, right = checked_pairs(probability, correct)
    likelihood = np.maximum(np.where(right, values, 1 - values), _EDGE)
    return float(-np.log(likelihood).mean()) if len(values) else 0.0


def checked_pairs(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Floats, Booleans]:
    """Confidences and whether each prediction is correct, `(predictions,)` both."""
    values, right = checked_confidences(confidence), np.asarray(correct, np.bool_)
    if values.ndim != 1 or values.shape != right.shape:
        raise InputError(
            f"confidences: found an array of shape {values.shape} and answers of shape {right.shape}; "
            f"expected two flat arrays of the same length"
        )
    return values, right


def checked_confidences(confidence: npt.ArrayLike) -> Floats:
    """Confidences of any shape, once all are known to be in [0, 1]."""
    values = np.asarray(confidence, np.float64)
    within = (values >= 0) & (values <= 1)
    if not within.all():
        raise InputError(f"confidences: found {values[~within].flat[0]}; expected 0 <= confidence <= 1")
    return values
