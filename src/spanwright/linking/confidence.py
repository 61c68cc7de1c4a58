"""How sure a link is: a logistic model of what has found it, of the best score and of its lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Floats
from spanwright.linking.index import NORMALISED, Candidate

_FEATURES = ("known", "spelling", "abbreviation", "composite", "similar", "score", "lead")
_USUAL = (-2.6, -1.7, -0.4, -4.0, -4.2, 4.5, 1.5)
"""Fitted to the development splits of NCBI disease, BC5CDR and BioRED, with their training names known."""
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
        return float(_sigmoid(features(candidates, stage) @ np.array(self.weights)))


def features(candidates: Sequence[Candidate], stage: str) -> Floats:
    """What a link is judged by."""
    best = candidates[0].score
    lead = best - (candidates[1].score if len(candidates) > 1 else 0.0)
    known = stage in ("exact", "abbreviation")
    closeness = sum(each.score for each in candidates)  # of known names, which share it between them
    return np.array(
        [
            known,
            known and closeness <= NORMALISED + 1e-6,
            stage == "abbreviation",
            stage == "composite",
            stage == "similar",
            best,
            lead,
        ],
        dtype=np.float64,
    )


def fit(rows: Floats, right: Floats) -> Confidence:
    """The confidence that fits some links, `(links, features)`, and whether each was right, best.

    By Newton's method; weights are pulled to the usual ones, so that a few links cannot overdo it.
    """
    usual = np.array(_USUAL)
    weights = usual.copy()
    for _ in range(_ROUNDS):
        probability = _sigmoid(rows @ weights)
        gradient = rows.T @ (probability - right) + _PULL * (weights - usual)
        curvature = (rows.T * (probability * (1 - probability))) @ rows + _PULL * np.eye(len(usual))
        step = _shortened(np.linalg.solve(curvature, gradient), weights, rows, right)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return Confidence(tuple(float(weight) for weight in weights))


def _shortened(step: Floats, weights: Floats, rows: Floats, right: Floats) -> Floats:
    """A step that does not make the loss greater: where links are sure and wrong, a whole one would."""
    loss = _loss(weights, rows, right)
    while _loss(weights - step, rows, right) > loss and np.abs(step).max() > 1e-9:
        step = step / 2
    return step


def _loss(weights: Floats, rows: Floats, right: Floats) -> float:
    activation = rows @ weights
    misfit = np.logaddexp(0, activation).sum() - right @ activation
    return float(misfit + _PULL / 2 * ((weights - np.array(_USUAL)) ** 2).sum())


def _sigmoid(activation: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(activation / 2))
