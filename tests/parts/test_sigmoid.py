"""The sigmoid scorer: binary cross entropy of pairs of span and type, and any number of types per span."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from batching import batch_of
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.settings.scorers import SigmoidSettings

TYPES = 3
Pair = tuple[int, int]


def scorer(types: int = TYPES, **changes: object) -> Sigmoid:
    torch.manual_seed(0)
    settings = SigmoidSettings.model_validate({"kind": "sigmoid", **changes})
    return Sigmoid(settings, vector_size=4, sizes=(types,))


def batch(spans: int, pairs: list[Pair], windows: int = 1) -> Batch:
    """Spans of one word each, all in the first window, with (span, type) golds."""
    return batch_of([spans, *[0] * (windows - 1)], [(0, span, span) for span in range(spans)], pairs)


def logits_of(part: Sigmoid, rows: Tensor) -> Tensor:
    nothing = rows[:0]
    states = WordStates(nothing, nothing, nothing)
    logits: Tensor = part(SpanVectors(rows, nothing, None, None), states, batch(len(rows), []))
    return logits


def probability(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def naive_total(logits: list[list[float]], pairs: list[Pair]) -> float:
    """Sum over pairs of span and type of -log p, p being the probability of what is true."""
    total = 0.0
    for span, row in enumerate(logits):
        for type_, logit in enumerate(row):
            share = probability(logit)
            total -= math.log(share if (span, type_) in pairs else 1 - share)
    return total


@st.composite
def scored(draw: st.DrawFn) -> tuple[list[list[float]], list[Pair]]:
    """Logits of some spans, and golds, of which a span may have several and one may stand twice."""
    spans, types = draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 60]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    logits = 3 * torch.randn(spans, types, generator=generator)
    pair = st.tuples(st.integers(0, spans - 1), st.integers(0, types - 1))
    return logits.tolist(), draw(st.lists(pair, max_size=8))


@given(scored(), st.integers(1, 5))
def test_the_loss_equals_a_naive_sum_divided_as_asked(
    drawn: tuple[list[list[float]], list[Pair]], windows: int
) -> None:
    logits, pairs = drawn
    spans, types = len(logits), len(logits[0])
    given_batch, total = batch(spans, pairs, windows), naive_total(logits, pairs)
    for reduction, divisor in (("windows", windows), ("spans", spans * types)):
        loss = scorer(types, reduction=reduction).losses(torch.tensor(logits), given_batch)["spans"]
        assert loss.item() == pytest.approx(total / divisor, rel=1e-4, abs=1e-5)


def test_the_gradient_of_a_logit_is_its_probability_minus_its_truth() -> None:
    logits = torch.tensor([[0.3, -2.0, 1.0], [4.0, 0.0, -1.0]], requires_grad=True)
    loss = scorer().losses(logits, batch(2, [(0, 0), (0, 2)]))["spans"]
    (gradient,) = torch.autograd.grad(loss, logits)
    truth = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(gradient, logits.detach().sigmoid() - truth)


def test_losses_of_very_sure_logits_are_finite() -> None:
    loss = scorer().losses(torch.tensor([[1000.0, -1000.0, 0.0]]), batch(1, [(0, 1)]))["spans"]
    assert loss.item() == pytest.approx(2000 + math.log(2))


@pytest.mark.parametrize("reduction", ["windows", "spans"])
def test_the_loss_of_no_spans_is_zero(reduction: str) -> None:
    loss = scorer(reduction=reduction).losses(torch.zeros(0, TYPES), batch(0, []))["spans"]
    assert loss.item() == 0


def predicted(part: Sigmoid, logits: Tensor) -> dict[Pair, float]:
    """Confidences by span and type."""
    found = part.predict(logits, batch(len(logits), []))
    assert torch.equal(found.first, found.last) and torch.equal(found.rank, found.confidence)
    assert not found.window.any()
    pairs = list(zip(found.first.tolist(), found.type.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, found.confidence.tolist(), strict=True))


@given(scored())
def test_predictions_are_all_pairs_above_one_half(drawn: tuple[list[list[float]], list[Pair]]) -> None:
    logits, _ = drawn
    expected = {
        (span, type_): pytest.approx(probability(logit), rel=1e-4)
        for span, row in enumerate(logits)
        for type_, logit in enumerate(row)
        if logit > 0
    }
    assert predicted(scorer(len(logits[0])), torch.tensor(logits)) == expected


def test_a_span_may_have_several_types_or_none() -> None:
    found = predicted(scorer(), torch.tensor([[2.0, -1.0, 1.0], [-1.0, -2.0, 0.0], [0.5, 0.5, 0.5]]))
    assert list(found) == [(0, 0), (0, 2), (2, 0), (2, 1), (2, 2)]


def test_no_spans_give_no_predictions() -> None:
    assert predicted(scorer(), torch.zeros(0, TYPES)) == {}


def test_each_type_has_its_own_tuned_threshold() -> None:
    part = scorer(threshold="tuned")
    logits = torch.tensor([0.1, 0.3, 0.6, 0.9]).logit()[:, None].expand(-1, TYPES)
    assert list(predicted(part, logits)) == [(span, type_) for span in (2, 3) for type_ in range(TYPES)]
    part.tuned.copy_(torch.tensor([0.2, 0.7, 0.5]))
    found = predicted(part, logits)
    assert list(found) == [(1, 0), (2, 0), (2, 2), (3, 0), (3, 1), (3, 2)]
    assert found[1, 0] == pytest.approx(0.3)


def test_nothing_exceeds_a_threshold_of_one_and_everything_one_of_zero() -> None:
    part = scorer(threshold="tuned")
    part.tuned.copy_(torch.tensor([1.0, 0.0, 1.0]))
    assert list(predicted(part, torch.tensor([[100.0, -100.0, 20.0]]))) == [(0, 1)]


def test_tuned_thresholds_are_saved_with_the_weights() -> None:
    part, other = scorer(threshold="tuned"), scorer(threshold="tuned")
    part.tuned.copy_(torch.tensor([0.2, 0.7, 0.5]))
    other.load_state_dict(part.state_dict())
    assert torch.equal(other.tuned, part.tuned)
    assert set(scorer(threshold="half").state_dict()) == {"layers.0.weight", "layers.0.bias"}


def test_hidden_layers_stand_between_vectors_and_types() -> None:
    part, rows = scorer(hidden=(7, 6), dropout=0.5).eval(), torch.randn(5, 4)
    weights = list(part.parameters())
    assert [tuple(weight.shape) for weight in weights[::2]] == [(7, 4), (6, 7), (TYPES, 6)]
    hidden = rows
    for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        hidden = (hidden @ weight.T + bias).clamp(min=0)
    torch.testing.assert_close(logits_of(part, rows), hidden @ weights[-2].T + weights[-1])


def test_dropout_of_hidden_layers_acts_in_training_only() -> None:
    part, rows = scorer(hidden=(50,), dropout=0.5), torch.randn(5, 4)
    assert not torch.equal(logits_of(part, rows), logits_of(part, rows))
    part.eval()
    assert torch.equal(logits_of(part, rows), logits_of(part, rows))
