"""What a scorer predicts before decoding."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor

from spanwright.parts.batch import Spans


@dataclass(frozen=True, slots=True)
class Predictions:
    """Spans that a scorer takes for entities. A span may stand here once per type."""

    window: Tensor
    """(predictions,): the window of each span."""
    first: Tensor
    """(predictions,): packed position of its first word."""
    last: Tensor
    """(predictions,): packed position of its last word (inclusive)."""
    type: Tensor
    """(predictions,): type ids."""
    confidence: Tensor
    """(predictions,): how sure the scorer is, from 0 to 1."""
    rank: Tensor
    """(predictions,): of two spans that exclude each other, the one with the higher rank stays."""

    @classmethod
    def of(cls, spans: Spans, *, type: Tensor, confidence: Tensor, rank: Tensor) -> Predictions:
        """What is predicted of candidate spans; all are (predictions,)."""
        return cls(spans.window, spans.first, spans.last, type, confidence, rank)

    def take(self, positions: Tensor) -> Predictions:
        """The predictions at some positions."""
        columns = (getattr(self, column.name) for column in fields(self))
        return Predictions(*(column.index_select(0, positions) for column in columns))
