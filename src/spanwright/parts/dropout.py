"""Dropout whose random numbers cost little on a processor.

The stock dropout draws a number for every element, which on a processor is a tenth of a training step. Here
one draw of 64 bits serves four elements, so a probability is exact to 1 / 65,536. Other devices use the stock
one.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 1 << 16
_LOWEST = -(1 << 15)


class QuickDropout(nn.Module):
    """`nn.Dropout` with cheap random numbers."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.p = probability

    def forward(self, values: Tensor) -> Tensor:
        """The values, of any shape; while training some are 0 and the others larger."""
        return dropout(values, self.p) if self.training else values


def dropout(values: Tensor, probability: float) -> Tensor:
    """Set values to 0 with a probability and divide the others by the rest of it."""
    if values.device.type != "cpu":
        return functional.dropout(values, probability)
    dropped = round(probability * _STEPS)
    if dropped == 0:
        return values
    bits = torch.empty(-(-values.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
    kept = bits.view(torch.int16)[: values.numel()].view(values.shape) >= _LOWEST + dropped
    return values * kept.to(values.dtype).mul_(_STEPS / (_STEPS - dropped))


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, probability: float, scale: float | None
) -> Tensor:
    """Attention with dropout on its weights; all of shape (windows, heads, pieces, head size).

    `mask` is True, or a number to add, where a piece may look at another. A row that may look at nothing
    would be NaN; windows have no such row, as every window has pieces.
    """
    scores = query @ key.transpose(-1, -2) * (scale or 1 / math.sqrt(query.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    return dropout(scores.softmax(-1), probability) @ value
