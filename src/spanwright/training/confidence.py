"""Making the confidences of a finished model mean something: calibration and thresholds, fitted on dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spanwright.arrays import Floats
from spanwright.artifact import ConfidenceScale, TrainedModel
from spanwright.evaluation import (
    Calibration,
    Confidences,
    expected_calibration_error,
    fit_calibration,
    tune_thresholds,
)
from spanwright.text import Entity


def uncalibrated(model: TrainedModel) -> TrainedModel:
    """The model with the confidences of its network."""
    return replace(model, calibration=None, thresholds={}, scales={})


def calibrated(
    model: TrainedModel, dev: Confidences, corpora: Mapping[str, Confidences] | None = None
) -> TrainedModel:
    """The model with a calibration and thresholds, fitted on what it found in dev uncalibrated.

    Thresholds are on the calibrated scale, that of the confidences which users see. Where corpora have types
    of their own, each has a scale of its own, fitted on what was found in its dev documents, if anything was.
    """
    model = replace(model, calibration=_fit(dev))
    if not model.labels.corpus:
        return replace(model, thresholds=_thresholds(model, dev, 0))
    given = corpora or {}
    found = {name: given[name] for name in model.labels.corpora if name in given and len(given[name].correct)}
    # Fitted first, as thresholds are on the calibrated scale.
    scales = {name: ConfidenceScale(_fit(own, model.calibration), {}) for name, own in found.items()}
    model = replace(model, scales=scales)
    for name, own in found.items():
        scales[name] = replace(
            scales[name], thresholds=_thresholds(model, own, model.labels.corpora.index(name))
        )
    return replace(model, scales=scales)


def _thresholds(model: TrainedModel, dev: Confidences, corpus: int) -> dict[str, float]:
    """The thresholds of the types of a corpus."""
    found = tune_thresholds(replace(dev, confidence=model.reported(dev.confidence, corpus)))
    return {name: found[name] for name in model.labels.types_of(corpus) if name in found}


def confidence_facts(model: TrainedModel, splits: Mapping[str, Confidences]) -> dict[str, Any]:
    """What the model card says of a calibrated model: how it was fitted, and its errors on each split."""
    dev = splits["dev"]
    kind = model.calibration.kind if model.calibration not in (None, Calibration()) else "none"
    return {
        "calibration": kind,
        "dev_predictions": len(dev.correct),
        "dev_correct": int(dev.correct.sum()),
        "calibration_error": {
            name: {
                "before": expected_calibration_error(found.confidence, found.correct),
                "after": expected_calibration_error(_reported(model, found), found.correct),
            }
            for name, found in splits.items()
        },
    }


def reported(model: TrainedModel, entities: Sequence[Entity], corpus: str | None) -> tuple[Entity, ...]:
    """What a model found uncalibrated in a document of a corpus, with its calibrated confidences."""
    found = np.array([each.confidence for each in entities], dtype=np.float64)
    confidences = model.reported(found, model.labels.corpus_id(corpus)).tolist()
    pairs = zip(entities, confidences, strict=True)
    return tuple(replace(entity, confidence=confidence) for entity, confidence in pairs)


def _reported(model: TrainedModel, found: Confidences) -> Floats:
    """The calibrated confidences, each by the corpus of its document."""
    corpora = found.corpus or (None,) * len(found.correct)
    position = {name: model.labels.corpus_id(name) for name in set(corpora)}
    return model.reported(found.confidence, np.array([position[name] for name in corpora], np.int64))


def _fit(dev: Confidences, *others: Calibration | None) -> Calibration:
    """The fitted calibration, unless another or the confidences as they are have the lower error."""

    def error(calibration: Calibration) -> float:
        return expected_calibration_error(calibration.apply(dev.confidence), dev.correct)

    fitted = fit_calibration(dev.confidence, dev.correct)
    return min((fitted, *filter(None, others), Calibration()), key=error)
