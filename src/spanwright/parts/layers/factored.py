"""A Linear over a concatenation that never builds the concatenation."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


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
