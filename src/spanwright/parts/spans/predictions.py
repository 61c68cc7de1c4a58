"""What a scorer predicts before decoding: `batches/predictions.py` with tensors in place of arrays."""

from __future__ import annotations

from torch import Tensor

from spanwright.batches import predictions as arrays
from spanwright.batches.batch import Array
from spanwright.parts.batch import arrays_of

Predictions = arrays.Predictions[Tensor]


def as_arrays(found: Predictions) -> arrays.Predictions[Array]:
    """Predictions as arrays, wherever their tensors are."""
    return arrays.Predictions(*arrays_of(*found.columns))
