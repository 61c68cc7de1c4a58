"""Small layers that several parts have: perceptrons, a Linear over parts of its input, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.part import Row, Rows

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


def last_layer_rows(layers: nn.Sequential, rows: Sequence[Row]) -> Rows:
    """What the rows of the Linear stand for that makes the outputs of the MLP `layers` of a part."""
    return {f"layers.{len(layers) - 1}.{name}": (rows,) for name in ("weight", "bias")}


def hidden_layers(sizes: Sequence[int], *, dropout: float = 0.0) -> list[nn.Module]:
    """A Linear, ReLU and dropout from each size to the next."""
    return [
        layer
        for inputs, outputs in pairwise(sizes)
        for layer in (nn.Linear(inputs, outputs), nn.ReLU(), nn.Dropout(dropout))
    ]


class FactoredLinear(nn.Module):
    """`W [a; b; c] + b0` as `Wa a + Wb b + Wc c + b0`, each term computed where its input lives.

    For spans, `a` and `b` live on words and `c` on widths: projecting them first and gathering the results
    after costs one product per word instead of one per span. The parameters are those of one Linear.
    """

    def __init__(self, input_sizes: Sequence[int], output_size: int) -> None:
        super().__init__()
        self.input_sizes = list(input_sizes)
        self.linear = nn.Linear(sum(input_sizes), output_size)

    def forward(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The terms of the sum, (..., output size) for each input; the bias is in the first."""
        weights = torch.split(self.linear.weight, self.input_sizes, dim=1)
        biases = [self.linear.bias, *[None] * (len(weights) - 1)]
        return [
            functional.linear(value, weight, bias)
            for value, weight, bias in zip(inputs, weights, biases, strict=True)
        ]


def word_mask(word_counts: Tensor) -> Tensor:
    """(windows, longest): True at real words. There is at least one column, so that a first word exists."""
    longest = max(1, int(word_counts.max())) if len(word_counts) else 1
    return torch.arange(longest, device=word_counts.device) < word_counts[:, None]


def pad(packed: Tensor, mask: Tensor) -> Tensor:
    """(windows, longest, ...): packed rows (words, ...) in their windows, zero beyond each window's words.

    The way back is the mask: `padded[mask]` is packed.
    """
    padded = packed.new_zeros(*mask.shape, *packed.shape[1:])
    padded[mask] = packed
    return padded
