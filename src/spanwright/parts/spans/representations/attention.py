"""Attention of spans to their own words: one query per span, keys and values gathered from packed words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from spanwright.parts.batch import Spans


@dataclass(frozen=True, slots=True)
class Inside:
    """Where the words of spans stand."""

    words: Tensor
    """(spans, widest): packed positions of the words of each span; its last one again after its end."""
    outside: Tensor
    """(spans, widest): True after the end of a span."""

    @classmethod
    def of(cls, spans: Spans, width_limit: int) -> Inside:
        """The words of spans. Spans of like width belong together, as all pay for the widest; in a graph,
        whose steps do not depend on numbers, for the width limit."""
        exporting = torch.compiler.is_exporting()
        widest = width_limit if exporting else int(spans.widths.max()) if len(spans) else 1
        reach = spans.first[:, None] + torch.arange(widest, device=spans.first.device)
        last = spans.last[:, None]
        return cls(torch.minimum(reach, last), reach > last)


def span_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    inside: Inside,
    *,
    probability: float = 0.0,
) -> Tensor:
    """(spans, heads, value size): `dropout(softmax(query key^T / sqrt(head size))) value` in each span.

    Queries are (spans, heads, head size), keys (words, heads, head size), values (words, heads, value size).
    """
    factors = None
    if probability:
        factors = functional.dropout(query.new_ones(*inside.words.shape, query.shape[1]), probability)
    scale = 1 / math.sqrt(query.shape[-1])
    found: Tensor = _SpanAttention.apply(query, key, value, inside.words, inside.outside, factors, scale)  # type: ignore[no-untyped-call]
    return found


class _SpanAttention(torch.autograd.Function):
    """Gathers keys and values again for the gradient.

    They are the largest tensors here, (spans, widest, heads, size), and would otherwise wait for it in every
    layer; what waits instead are the weights, without the size.
    """

    @staticmethod
    def forward(
        context: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        words: Tensor,
        outside: Tensor,
        factors: Tensor | None,
        scale: float,
    ) -> Tensor:
        scores = (_gathered(key, words).mul_(query[:, None])).sum(-1).mul_(scale)
        weights = scores.masked_fill_(outside[..., None], -torch.inf).softmax(dim=1)
        context.save_for_backward(query, key, value, words, weights, factors)
        context.scale = scale
        used = weights if factors is None else weights * factors
        return _gathered(value, words).mul_(used[..., None]).sum(1)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        query, key, value, words, weights, factors = context.saved_tensors
        gradient = gradients[0][:, None]
        used = weights if factors is None else weights * factors
        of_value = _scattered(used[..., None] * gradient, words, value)
        of_used = _gathered(value, words).mul_(gradient).sum(-1)
        of_weights = of_used if factors is None else of_used.mul_(factors)
        # The gradient of a softmax: w * (g - sum of w * g).
        of_scores = weights * (of_weights - (weights * of_weights).sum(1, keepdim=True)) * context.scale
        of_query = _gathered(key, words).mul_(of_scores[..., None]).sum(1)
        of_key = _scattered(of_scores[..., None] * query[:, None], words, key)
        return of_query, of_key, of_value, None, None, None, None


def _gathered(rows: Tensor, words: Tensor) -> Tensor:
    """(spans, widest, ...): rows (words, ...) of the words of each span, free to be changed in place."""
    return rows.index_select(0, words.flatten()).view(*words.shape, *rows.shape[1:])


def _scattered(parts: Tensor, words: Tensor, like: Tensor) -> Tensor:
    """(words, ...): the sum of the parts (spans, widest, ...) of each word."""
    return torch.zeros_like(like).index_add_(0, words.flatten(), parts.flatten(0, 1))
