"""What a network predicts before decoding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Generic

from spanwright.batches.batch import Column, Spans


@dataclass(frozen=True)
class Predictions(Generic[Column]):
    """Spans that a scorer takes for entities. A span may stand here once per type."""

    window: Column
    """(predictions,): the window of each span."""
    first: Column
    """(predictions,): packed position of its first word."""
    last: Column
    """(predictions,): packed position of its last word (inclusive)."""
    type: Column
    """(predictions,): type ids."""
    confidence: Column
    """(predictions,): how sure the scorer is, from 0 to 1."""
    rank: Column
    """(predictions,): of two spans that exclude each other, the one with the higher rank stays."""

    @classmethod
    def of(
        cls, spans: Spans[Column], *, type: Column, confidence: Column, rank: Column
    ) -> Predictions[Column]:
        """What is predicted of candidate spans; all are (predictions,)."""
        return cls(spans.window, spans.first, spans.last, type, confidence, rank)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns in their order."""
        return tuple(getattr(self, column.name) for column in fields(self))

    def take(self, positions: Column) -> Predictions[Column]:
        """The predictions at some positions."""
        return Predictions(*(column[positions] for column in self.columns))
