"""Attention of spans to their words: gradients by finite differences, and dropout of weights."""

from __future__ import annotations

import torch
from torch import Tensor

from spanwright.parts.batch import Spans
from spanwright.parts.spans.representations.attention import Inside, span_attention

HEADS, SIZE, WORDS = 2, 3, 5
SPANS = Spans(torch.zeros(4, dtype=torch.long), torch.tensor([0, 1, 4, 2]), torch.tensor([2, 1, 4, 3]))


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(rows, HEADS, SIZE, generator=generator, dtype=torch.float64, requires_grad=True)
        for rows in (len(SPANS), WORDS, WORDS)
    )


def test_words_after_the_end_of_a_span_are_marked() -> None:
    inside = Inside.of(SPANS, 4)
    assert inside.words.tolist() == [[0, 1, 2], [1, 1, 1], [4, 4, 4], [2, 3, 3]]
    assert (~inside.outside).sum(1).tolist() == SPANS.widths.tolist()


def test_gradients_equal_finite_differences() -> None:
    inside = Inside.of(SPANS, 4)
    assert torch.autograd.gradcheck(lambda *given: span_attention(*given, inside), inputs())


def test_gradients_with_dropout_equal_finite_differences() -> None:
    inside = Inside.of(SPANS, 4)

    def drawn(*given: Tensor) -> Tensor:
        torch.manual_seed(3)
        return span_attention(*given, inside, probability=0.4)

    assert not torch.equal(drawn(*inputs()), span_attention(*inputs(), inside))
    assert torch.autograd.gradcheck(drawn, inputs())


def test_what_is_not_dropped_weighs_more() -> None:
    query, key, _ = inputs()
    inside = Inside.of(SPANS, 4)
    ones = torch.ones(WORDS, HEADS, 1, dtype=torch.float64)
    torch.testing.assert_close(span_attention(query, key, ones, inside), ones.new_ones(4, HEADS, 1))
    torch.manual_seed(0)
    means = sum(span_attention(query, key, ones, inside, probability=0.5) for _ in range(400)) / 400
    torch.testing.assert_close(means, ones.new_ones(4, HEADS, 1), rtol=0.3, atol=0)
