"""Dropout whose random numbers and memory cost little on a processor.

The stock dropout draws a number for every element, which on a processor is a tenth of a training step, and
keeps two numbers for every element until the gradient comes. Here one draw of 64 bits serves four elements,
so a probability is exact to 1 / 65,536, and what is kept is one byte. Other devices use the stock one.
"""

from __future__ import annotations

import math
from typing import Any

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
    kept, factor = _kept(values.shape, dropped), _STEPS / (_STEPS - dropped)
    found: Tensor = _Dropout.apply(values, kept, factor)  # type: ignore[no-untyped-call]
    return found


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, probability: float, scale: float | None
) -> Tensor:
    """Attention with dropout on its weights; all of shape (windows, heads, pieces, head size).

    `mask` is True, or a number to add, where a piece may look at another. A row that may look at nothing, as
    padding far from the text with local attention, looks at everything: nobody looks at it in turn.
    """
    dropped = round(probability * _STEPS)
    kept = _kept((*query.shape[:-1], key.shape[-2]), dropped)
    scale, factor = scale or 1 / math.sqrt(query.shape[-1]), _STEPS / (_STEPS - dropped)
    found: Tensor = _Attention.apply(query, key, value, mask, kept, scale, factor)  # type: ignore[no-untyped-call]
    return found


def _kept(shape: tuple[int, ...], dropped: int) -> Tensor:
    """A mask of that shape, True but for so many of 65,536 elements."""
    elements = math.prod(shape)
    bits = torch.empty(-(-elements // 4), dtype=torch.int64).random_(-(1 << 63), None)
    return bits.view(torch.int16)[:elements].view(shape) >= _LOWEST + dropped


class _Dropout(torch.autograd.Function):
    """Values times a mask times a factor."""

    @staticmethod
    def forward(context: Any, values: Tensor, kept: Tensor, factor: float) -> Tensor:
        context.save_for_backward(kept)
        context.factor = factor
        return (values * kept).mul_(factor)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> tuple[Tensor, None, None]:
        (kept,) = context.saved_tensors
        return (gradients[0] * kept).mul_(context.factor), None, None


class _Attention(torch.autograd.Function):
    """`dropout(softmax(query key^T * scale + mask)) value`.

    Of the large (windows, heads, pieces, pieces) tensors only the softmax and the mask of what was dropped
    wait for the gradient.
    """

    @staticmethod
    def forward(
        context: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        kept: Tensor,
        scale: float,
        factor: float,
    ) -> Tensor:
        scores = (query @ key.transpose(-1, -2)).mul_(scale)
        if mask is not None:
            # Not infinite, as a row of nothing else would become NaN, and go on to all others as 0 * NaN.
            lowest = torch.finfo(scores.dtype).min
            scores = scores.masked_fill_(~mask, lowest) if mask.dtype == torch.bool else scores.add_(mask)
        weights = scores.softmax(-1)
        context.save_for_backward(query, key, value, weights, kept)
        context.scale, context.factor = scale, factor
        return (weights * kept).mul_(factor) @ value

    @staticmethod
    def backward(context: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        query, key, value, weights, kept = context.saved_tensors
        (gradient,) = gradients
        of_value = (weights * kept).mul_(context.factor).transpose(-1, -2) @ gradient
        of_weights = (gradient @ value.transpose(-1, -2)).mul_(kept).mul_(context.factor)
        # The gradient of a softmax: w * (g - sum of w * g).
        of_scores = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype).mul_(context.scale)
        return of_scores @ key, of_scores.transpose(-1, -2) @ query, of_value, None, None, None, None
