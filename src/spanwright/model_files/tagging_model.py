"""A model as far as tagging needs it, whatever runs its network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Floats, Integers
from spanwright.batches.batch import Array, Batch
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.predictions import Predictions
from spanwright.batches.prepare import WindowPlan
from spanwright.devices import AnyDevice, TaggingLoad, tagging_load
from spanwright.evaluation.calibration import Calibration
from spanwright.labels import LabelSpace
from spanwright.settings import Settings
from spanwright.settings.settings import Decoding

Network = TypeVar("Network")
_CONFIDENCE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ConfidenceScale:
    """What confidences in the types of one corpus mean."""

    calibration: Calibration
    thresholds: dict[str, float]
    """By type, as those of `TaggingModel`."""


@dataclass(frozen=True, slots=True)
class TaggingModel(ABC, Generic[Network]):
    """A network with everything needed to use it on text."""

    network: Network
    pieces: PieceEncoder
    labels: LabelSpace
    settings: Settings
    """Resolved: no `auto` is left that the network or decoding depends on."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the model card says: training data, scores, versions."""
    calibration: Calibration | None = None
    """From the network's confidences to probabilities; None for models made before there were any."""
    thresholds: dict[str, float] = field(default_factory=dict)
    """For each type of dev, the lowest calibrated confidence that gives its best F1 there."""
    scales: dict[str, ConfidenceScale] = field(default_factory=dict)
    """By corpus, where each has types of its own: what holds for these instead of calibration and thresholds.
    Without any, as in older models, types of one name have one threshold."""

    @property
    @abstractmethod
    def longest_input(self) -> int:
        """The most pieces that the encoder reads at once."""

    @property
    @abstractmethod
    def device(self) -> AnyDevice:
        """What the network runs on."""

    @property
    def load(self) -> TaggingLoad:
        """How much is tagged at once."""
        return tagging_load(self.device)

    @abstractmethod
    def predict(self, batch: Batch[Array]) -> Predictions[Array]:
        """What the network predicts of a batch."""

    @abstractmethod
    def with_types(self, descriptions: Mapping[str, str]) -> Self:
        """This model, also looking for types that it was not trained on, by name and description."""

    def reported(self, confidence: npt.ArrayLike, corpus: Integers | int = 0) -> Floats:
        """The network's confidences as they stand on entities: calibrated, if the model is; same shape.

        `corpus` is the position of the corpus that all are from, or of that of each.
        """
        # Rounded before as well, so that it depends on nothing finer than what an uncalibrated model reports.
        rounded = np.asarray(confidence, np.float64).round(_CONFIDENCE_DIGITS)
        if self.calibration is None:
            return rounded
        shown = self.calibration.apply(rounded)
        for name, scale in self.scales.items():
            own = corpus == self.labels.corpora.index(name)
            shown = np.where(own, scale.calibration.apply(rounded), shown)
        return shown.round(_CONFIDENCE_DIGITS)

    def threshold(self, name: str, corpus: int = 0) -> float:
        """The threshold of a type, by its name and the position of its corpus; 0 where it has none."""
        return self._thresholds_of(corpus).get(name, 0.0)

    @property
    def tuned(self) -> dict[str, float]:
        """All thresholds, by the names of types with their corpora; empty if none were tuned on dev."""
        named = zip(self.labels.names, self.labels.keys, strict=True)
        return {
            name: own[type_]
            for name, (type_, corpus) in named
            if type_ in (own := self._thresholds_of(corpus))
        }

    def _thresholds_of(self, corpus: int) -> dict[str, float]:
        """The thresholds of the types of a corpus."""
        if not self.scales:
            return self.thresholds
        scale = self.scales.get(self.labels.corpora[corpus])
        return scale.thresholds if scale is not None else {}

    @property
    def plan(self) -> WindowPlan:
        """How texts are cut for this model."""
        windows = self.settings.windows
        return WindowPlan(
            context=windows.context,
            pieces=min(windows.pieces, self.longest_input),
            overlap=windows.overlap,
            width_limit=self.settings.resolved_width_limit,
        )

    @property
    def decoding(self) -> Decoding:
        """The decoding rule."""
        return "nested" if self.settings.decoding == "auto" else self.settings.decoding
