"""How sure a link is: a logistic model of what has found it, of the best score and of its lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanwright.linking.index import NORMALISED, Candidate

_FEATURES = ("known", "spelling", "abbreviation", "composite", "similar", "score", "lead")
_USUAL = (0.5, -1.0, 0.0, -0.5, -5.0, 8.0, 4.0)
_ROUNDS = 50
_PULL = 1.0
"""How strongly weights that are fitted to few links stay near the usual ones."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probability that the best candidate is right."""

    weights: tuple[float, ...] = _USUAL
    """One for each of what links are judged by."""

    def of(self, candidates: Sequence[Candidate], stage: str) -> float:
        """The probability that the first of some candidates is right."""
        activation = float(np.dot(features(candidates, stage), self.weights))
        return float(1 / (1 + np.exp(-np.clip(activation, -30, 30))))


def features(candidates: Sequence[Candidate], stage: str) -> npt.NDArray[np.float64]:
    """What a link is judged by."""
    best = candidates[0].score
    lead = best - (candidates[1].score if len(candidates) > 1 else 0.0)
    known = stage in ("exact", "abbreviation")
    return np.array(
        [
            known,
            known and sum(each.score for each in candidates) <= NORMALISED + 1e-6,
            stage == "abbreviation",
            stage == "composite",
            stage == "similar",
            best,
            lead,
        ],
        dtype=np.float64,
    )


def fit(rows: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> Confidence:
    """The confidence that fits some links, `(links, features)`, and whether each was right, best.

    By Newton's method; weights are pulled to the usual ones, so that a few links cannot overdo it.
    """
    usual = np.array(_USUAL)
    weights = usual.copy()
    for _ in range(_ROUNDS):
        probability = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (probability - right) + _PULL * (weights - usual)
        curvature = (rows.T * (probability * (1 - probability))) @ rows + _PULL * np.eye(len(usual))
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return Confidence(tuple(float(weight) for weight in weights))
