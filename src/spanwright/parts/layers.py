"""Multi-layer perceptrons, as several parts have them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from spanwright.parts.dropout import QuickDropout


def mlp(sizes: Sequence[int], *, dropout: float) -> nn.Sequential:
    """Hidden layers and a Linear: from vectors of the first size, by way of hidden ones, to the last size."""
    return nn.Sequential(*hidden_layers(sizes[:-1], dropout=dropout), nn.Linear(sizes[-2], sizes[-1]))


def hidden_layers(sizes: Sequence[int], *, dropout: float = 0.0) -> list[nn.Module]:
    """A Linear, ReLU and dropout from each size to the next."""
    return [
        layer
        for inputs, outputs in pairwise(sizes)
        for layer in (nn.Linear(inputs, outputs), nn.ReLU(), QuickDropout(dropout))
    ]
