"""What a scorer predicts before decoding."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Predictions:
    """Spans that a scorer takes for entities. A span may stand here once per type."""

    span: Tensor
    """(predictions,): positions in the batch's candidate list."""
    type: Tensor
    """(predictions,): type ids."""
    confidence: Tensor
    """(predictions,): comparable within a document, from 0 to 1."""
