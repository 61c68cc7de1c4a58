"""What the small files of a model directory say: versions, labels, calibration. Nothing here needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwright import __version__
from spanwright.errors import InputError, ModelError, SpanwrightError
from spanwright.evaluation.calibration import Calibration
from spanwright.labels import LabelSpace
from spanwright.model_files import json_files
from spanwright.model_files.digests import DESCRIPTION, LABELS, Digests
from spanwright.model_files.tagging_model import ConfidenceScale, TaggingModel

FORMAT_VERSION = 3
READABLE = (1, 2, FORMAT_VERSION)
WITH_DIGESTS = 3
"""The first version whose files have digests."""
_LONGEST_REASON = 800
_MOST_LETTERS = 1_000_000
"""Of all texts about types, which become pieces when a model is loaded."""


def refusal(folder: Path, error: Exception) -> ModelError:
    """One clear error for whatever is wrong with a stranger's files."""
    reason = str(error).strip().partition("\n")[0][:_LONGEST_REASON] or type(error).__name__
    if isinstance(error, SpanwrightError) and str(folder) in reason:
        return ModelError(reason)
    return ModelError(f"{folder}: not a model that can be loaded: {reason}")


def described(folder: Path) -> dict[str, Any]:
    """The values of `spanwright.json`, of a version that can be read."""
    path = folder / DESCRIPTION
    description = json_files.parse(json_files.content_of(path), path)
    version = description.get("format_version")
    if version not in READABLE or not isinstance(version, int):
        raise ModelError(
            f"{folder}: the model has format version {version!r:.20}; spanwright {__version__} "
            f"reads versions {READABLE[0]} to {FORMAT_VERSION}. It was written by version "
            f"{description.get('spanwright_version')!r:.20}"
        )
    return description


def digests_of(folder: Path, description: dict[str, Any] | None = None) -> Digests:
    """What the files of a model directory must be."""
    values = described(folder) if description is None else description
    return Digests.stored(values, folder, expected=values["format_version"] >= WITH_DIGESTS)


def stored_labels(files: Digests) -> LabelSpace:
    """The label space of a model, whose texts are not too many."""
    path = files.folder / LABELS
    values = json_files.parse(files.content(LABELS), path)
    try:
        labels = LabelSpace.from_dict(values)
    except (InputError, KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelError(f"{path}: {reason}") from None
    contexts = (text for own in labels.prototypes for instance in own for text in instance)
    letters = sum(map(len, (*labels.texts, *contexts)))
    if letters > _MOST_LETTERS:
        raise ModelError(
            f"{path}: has {letters} characters of texts about types; expected at most {_MOST_LETTERS}"
        )
    return labels


def plain_confidence(calibration: Calibration, model: TaggingModel[Any]) -> dict[str, Any]:
    """What `stored_confidence` reads; models without scales are written as before there were any."""
    scales = {
        name: {**scale.calibration.to_dict(), "thresholds": scale.thresholds}
        for name, scale in model.scales.items()
    }
    plain = {**calibration.to_dict(), "thresholds": model.thresholds}
    return {**plain, "corpora": scales} if scales else plain


def stored_confidence(description: dict[str, Any], labels: LabelSpace, path: Path) -> dict[str, Any]:
    """The calibration, thresholds and scales of corpora that a model has, by the names of its fields."""
    if "calibration" not in description:
        return {}
    stored = dict(description["calibration"])
    corpora = dict(stored.pop("corpora", {}))
    if unknown := sorted(corpora.keys() - (set(labels.corpora) if labels.corpus else set())):
        raise ModelError(
            f"{path}: there is a calibration of the corpus {unknown[0]!r}, which has no types in labels.json"
        )
    common = _stored_scale(stored, path)
    scales = {name: _stored_scale(dict(scale), path) for name, scale in corpora.items()}
    return {"calibration": common.calibration, "thresholds": common.thresholds, "scales": scales}


def _stored_scale(stored: dict[str, Any], path: Path) -> ConfidenceScale:
    thresholds = dict(stored.pop("thresholds", {}))
    for type_, value in thresholds.items():
        if not 0 <= value <= 1:
            raise ModelError(f"{path}: the threshold of {type_!r} is {value}; it must be from 0 to 1")
    try:
        return ConfidenceScale(Calibration.from_dict(stored), thresholds)
    except InputError as error:
        raise ModelError(f"{path}: {error}") from None
