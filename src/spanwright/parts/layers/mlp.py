"""Multi-layer perceptrons, as several parts have them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

RARE = 4.6
"""The logit of 99 %: entities are rare, and scorers start where they say so. From even odds, the first steps
would push all that is below a scorer towards no entity: deep transforms die of it, and others lose time."""


def mlp(sizes: Sequence[int], *, dropout: float) -> nn.Sequential:
    """Hidden layers and a Linear: from vectors of the first size, by way of hidden ones, to the last size."""
    return nn.Sequential(*hidden_layers(sizes[:-1], dropout=dropout), nn.Linear(sizes[-2], sizes[-1]))


def start_at(layers: nn.Sequential, index: Tensor | slice, logit: float) -> None:
    """Let the outputs at an index of the last Linear begin near a logit."""
    with torch.no_grad():
        last_layer(layers).bias[index] = logit


def last_layer(layers: nn.Sequential) -> nn.Linear:
    """The Linear of an MLP that makes its outputs."""
    last = layers[-1]
    assert isinstance(last, nn.Linear)
    return last


def hidden_layers(sizes: Sequence[int], *, dropout: float = 0.0) -> list[nn.Module]:
    """A Linear, ReLU and dropout from each size to the next."""
    return [
        layer
        for inputs, outputs in pairwise(sizes)
        for layer in (nn.Linear(inputs, outputs), nn.ReLU(), nn.Dropout(dropout))
    ]
