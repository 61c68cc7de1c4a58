"""Making the confidences of a finished model mean something: calibration and thresholds, fitted on dev."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spanwright.artifact import TrainedModel
from spanwright.evaluation import (
    Calibration,
    Confidences,
    expected_calibration_error,
    fit_calibration,
    tune_thresholds,
)


def uncalibrated(model: TrainedModel) -> TrainedModel:
    """The model with the confidences of its network."""
    return replace(model, calibration=None, thresholds={})


def calibrated(model: TrainedModel, dev: Confidences) -> TrainedModel:
    """The model with a calibration and thresholds, fitted on what it found in dev uncalibrated.

    Thresholds are on the calibrated scale, that of the confidences which users see.
    """
    model = replace(model, calibration=_fit(dev))
    found = tune_thresholds(replace(dev, confidence=model.reported(dev.confidence)))
    thresholds = {name: found[name] for name in model.labels.types if name in found}
    return replace(model, thresholds=thresholds)


def confidence_facts(model: TrainedModel, splits: Mapping[str, Confidences]) -> dict[str, Any]:
    """What the model card tells of a calibrated model: how it was fitted, and its errors on each split."""
    dev = splits["dev"]
    kind = model.calibration.kind if model.calibration not in (None, Calibration()) else "none"
    return {
        "calibration": kind,
        "dev_predictions": len(dev.correct),
        "dev_correct": int(dev.correct.sum()),
        "calibration_error": {
            name: {
                "before": expected_calibration_error(found.confidence, found.correct),
                "after": expected_calibration_error(model.reported(found.confidence), found.correct),
            }
            for name, found in splits.items()
        },
    }


def _fit(dev: Confidences) -> Calibration:
    """The fitted calibration, unless the confidences as they are have the lower calibration error."""

    def error(calibration: Calibration) -> float:
        return expected_calibration_error(calibration.apply(dev.confidence), dev.correct)

    return min((fit_calibration(dev.confidence, dev.correct), Calibration()), key=error)
