"""The endpoints representation is a Linear, a ReLU and dropout over [start; end; width]."""

from __future__ import annotations

import torch

from spanwright.batches.batch import Spans
from spanwright.parts.representations.endpoints import Endpoints, EndpointsSettings
from spanwright.parts.states import WordStates

WORDS, WIDTH, LIMIT = 6, 8, 4


def states() -> WordStates:
    generator = torch.Generator().manual_seed(1)
    start, end, anchor = (torch.randn(rows, WIDTH, generator=generator) for rows in (WORDS, WORDS, 2))
    return WordStates(start=start, end=end, anchor=anchor)


def spans() -> Spans:
    pairs = [(0, 0), (0, 2), (1, 1), (3, 5), (2, 5), (5, 5)]
    first, last = (torch.tensor(column) for column in zip(*pairs, strict=True))
    return Spans(window=(first >= 3).long(), first=first, last=last)


def endpoints(dropout: float = 0.5) -> Endpoints:
    torch.manual_seed(0)
    return Endpoints(
        EndpointsSettings(size=10, width_size=3, dropout=dropout), state_width=WIDTH, width_limit=LIMIT
    )


def test_vectors_equal_a_naive_loop_over_spans() -> None:
    part = endpoints().eval()
    given_states, candidates = states(), spans()
    rows = []
    for first, last in zip(candidates.first.tolist(), candidates.last.tolist(), strict=True):
        width = part.widths.weight[last - first]
        concatenated = torch.cat([given_states.start[first], given_states.end[last], width])
        rows.append(part.projection.linear(concatenated).clamp(min=0))
    torch.testing.assert_close(part(given_states, candidates), torch.stack(rows))


def test_every_parameter_gets_a_gradient() -> None:
    part = endpoints(dropout=0)
    part(states(), spans()).sum().backward()
    for name, parameter in part.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_dropout_acts_in_training_only() -> None:
    part = endpoints()
    given_states, candidates = states(), spans()
    dropped = part(given_states, candidates)
    kept = part.eval()(given_states, candidates)
    assert (dropped == 0).sum() > (kept == 0).sum()
    torch.testing.assert_close(part(given_states, candidates), kept)


def test_the_order_of_spans_changes_no_vector() -> None:
    part = endpoints().eval()
    candidates = spans()
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    shuffled = Spans(candidates.window[order], candidates.first[order], candidates.last[order])
    assert torch.equal(part(states(), shuffled), part(states(), candidates)[order])


def test_no_spans_have_no_vectors() -> None:
    nothing = torch.zeros(0, dtype=torch.long)
    assert endpoints()(states(), Spans(nothing, nothing, nothing)).shape == (0, 10)
