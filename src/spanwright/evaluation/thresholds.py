"""Confidences of predictions with the answer whether each is correct, and thresholds tuned on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Booleans, Floats, Integers
from spanwright.errors import InputError
from spanwright.evaluation.columns import Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """The predictions of a comparison: every array is `(predicted entities,)`."""

    types: tuple[str, ...]
    confidence: Floats
    correct: Booleans
    type: Integers
    """The position in `types`."""
    gold: Integers
    """The number of gold entities of each type, `(types,)`."""
    corpus: tuple[str | None, ...] = ()
    """The corpora of the predictions' documents, where these say them."""


def collect_confidences(comparison: Comparison) -> Confidences:
    """The confidences of the predicted entities; it is an error if one has none."""
    predicted = comparison.predicted
    values = [entity.confidence for entity in predicted.entities]
    if None in values:
        position = values.index(None)
        document = comparison.pairs[predicted.document[position]].document
        raise InputError(
            f"document {document.id!r}: the predicted {predicted.entities[position].type!r} at "
            f"[{predicted.entities[position].start}, {predicted.entities[position].end}) has no confidence; "
            f"expected predictions that all have one"
        )
    return Confidences(
        types=comparison.types,
        confidence=np.array(values, np.float64),
        correct=predicted.matched,
        type=predicted.type,
        gold=np.bincount(comparison.gold.type, minlength=len(comparison.types)),
        corpus=tuple(comparison.pairs[number].document.corpus for number in predicted.document.tolist()),
    )


def tune_thresholds(found: Confidences) -> dict[str, float]:
    """For each type, the threshold with the highest F1 if predictions of at least that confidence are kept.

    Among equals the lowest, which keeps most; 0 if keeping all is best. Otherwise it lies half way between
    the last prediction that is kept and the first that is not, so that noise in either matters little.
    """
    return {
        name: _best_threshold(
            found.confidence[found.type == number], found.correct[found.type == number], gold
        )
        for number, (name, gold) in enumerate(zip(found.types, found.gold.tolist(), strict=True))
    }


def _best_threshold(confidence: Floats, correct: Booleans, gold: int) -> float:
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    kept = np.arange(1, len(ranked) + 1)
    f1 = 2 * np.cumsum(correct[order]) / (kept + gold)
    # A threshold cannot part predictions of the same confidence.
    possible = np.append(ranked[1:] < ranked[:-1], True)[: len(ranked)]
    f1 = np.where(possible, f1, -1.0)
    best = len(f1) - 1 - int(np.argmax(f1[::-1])) if len(f1) else -1
    return float(ranked[best] + ranked[best + 1]) / 2 if best + 1 < len(ranked) else 0.0
