"""The contract of scorers: a scorer alone knows what its scores mean, and whoever wants to know asks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.part import Part
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import SpanVectors

Scores = TypeVar("Scores")
"""What a scorer makes of span vectors, in a form of its own."""


@dataclass(frozen=True, slots=True)
class SpanScores:
    """How near spans are to types, in numbers that can be looked at."""

    score: Tensor
    """(spans, types): entities of a type lie above its threshold."""
    threshold: Tensor | None
    """(windows, types); None where it is 0 everywhere."""


@dataclass(frozen=True, slots=True)
class Templates:
    """What a scorer compares spans with."""

    vector: Tensor
    """(templates, size)."""
    type: Tensor
    """(templates,): the type that each stands for; -1 for no entity, once for each corpus."""


class Scorer(Part, ABC, Generic[Scores]):
    """Judges span vectors: how likely they are entities of each type."""

    @abstractmethod
    def forward(self, vectors: SpanVectors, states: WordStates, batch: Batch) -> Scores:
        """The scores of the candidate spans of a batch, in the form that the other methods read."""

    @abstractmethod
    def losses(self, scores: Scores, batch: Batch) -> dict[str, Tensor]:
        """The loss terms by name, against the golds of the batch."""

    @abstractmethod
    def probabilities(self, scores: Scores, batch: Batch) -> Tensor:
        """(spans, types): the probability of each type; exactly 0 for those of other corpora."""

    @abstractmethod
    def predict(self, scores: Scores, batch: Batch) -> Predictions:
        """The spans taken for entities."""

    @abstractmethod
    def span_scores(self, scores: Scores, batch: Batch) -> SpanScores:
        """The scores of all spans and types, also those of other corpora, beside their thresholds."""

    @abstractmethod
    def templates(self) -> Templates:
        """What spans are compared with."""

    @property
    def limit_range(self) -> float | None:
        """Limits per type that are set on dev lie between minus and plus this; None where none are."""
        return None

    def limited(self, scores: Scores) -> Tensor:
        """(spans, types): the numbers that exceed the limit of a type for its entities."""
        raise NotImplementedError(f"{type(self).__name__} has no limits that are set on dev")

    def set_limits(self, limits: Tensor) -> None:
        """Set the limits (types,) that `limited` scores must exceed."""
        raise NotImplementedError(f"{type(self).__name__} has no limits that are set on dev")
