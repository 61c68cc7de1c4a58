"""The factored Linear is the Linear on the concatenation, in values and gradients."""

from __future__ import annotations

import torch
from torch import nn

from spanwright.parts.layers import FactoredLinear

SIZES = (3, 5, 2)
SPANS = 7


def inputs(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(SPANS, size, generator=generator, requires_grad=True) for size in SIZES]


def twins() -> tuple[FactoredLinear, nn.Linear]:
    torch.manual_seed(0)
    factored, plain = FactoredLinear(SIZES, 4), nn.Linear(sum(SIZES), 4)
    plain.load_state_dict(factored.linear.state_dict())
    return factored, plain


def test_the_terms_add_up_to_the_linear_on_the_concatenation() -> None:
    factored, plain = twins()
    values = inputs(1)
    torch.testing.assert_close(sum(factored(values)), plain(torch.cat(values, dim=1)))


def test_gradients_of_weights_bias_and_inputs_are_the_same() -> None:
    factored, plain = twins()
    ours, theirs = inputs(2), inputs(2)
    sum(factored(ours)).square().sum().backward()
    plain(torch.cat(theirs, dim=1)).square().sum().backward()
    for left, right in zip((*factored.parameters(), *ours), (*plain.parameters(), *theirs), strict=True):
        torch.testing.assert_close(left.grad, right.grad)


def test_inputs_may_have_different_numbers_of_rows() -> None:
    factored, plain = twins()
    words, _, widths = inputs(3)
    ends = torch.randn(SPANS, SIZES[1])
    rows, places = [0, 2, 2], [1, 0, 1]
    start, end, width = factored((words, ends, widths[:2]))
    gathered = start[rows] + end[rows] + width[places]
    expected = plain(torch.cat([words[rows], ends[rows], widths[places]], dim=1))
    torch.testing.assert_close(gathered, expected)
