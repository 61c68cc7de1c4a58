"""The softmax scorer: cross entropy over all candidates, and the best class as prediction."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batching import batch_of
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.settings.scorers import SoftmaxSettings

TYPES = 3


def scorer(**changes: object) -> Softmax:
    torch.manual_seed(0)
    return Softmax(SoftmaxSettings(**changes), vector_size=4, sizes=(TYPES,))


def batch(spans: int, pairs: list[tuple[int, int]], windows: int = 1) -> Batch:
    """Spans of one word each, all in the first window, with (span, type) golds."""
    return batch_of([spans, *[0] * (windows - 1)], [(0, span, span) for span in range(spans)], pairs)


def vectors_of(rows: torch.Tensor) -> tuple[SpanVectors, WordStates, Batch]:
    nothing = rows[:0]
    states = WordStates(nothing, nothing, nothing)
    return SpanVectors(rows, nothing, None, None), states, batch(len(rows), [])


def naive_total(logits: list[list[float]], pairs: list[tuple[int, int]]) -> float:
    """Sum over spans of -log p(class); the last gold of a span counts, class 0 without any."""
    classes = {span: type_ + 1 for span, type_ in pairs}
    total = 0.0
    for span, row in enumerate(logits):
        normaliser = sum(math.exp(value) for value in row)
        total -= math.log(math.exp(row[classes.get(span, 0)]) / normaliser)
    return total


def test_spans_begin_as_no_entity_in_whichever_corpus() -> None:
    torch.manual_seed(0)
    made = Softmax(SoftmaxSettings(hidden=(6,)), vector_size=4, sizes=(2, 1))
    made.eval()
    bias = made.layers[-1].bias
    assert bias[made.classes.none].tolist() == pytest.approx([4.6, 4.6])
    assert bias[made.classes.of_type].abs().max() < 1


rows = st.lists(st.lists(st.floats(-4, 4), min_size=TYPES + 1, max_size=TYPES + 1), min_size=1, max_size=9)


@given(rows, st.integers(1, 5), st.data())
def test_the_loss_equals_a_naive_sum_divided_as_asked(
    logits: list[list[float]], windows: int, data: st.DataObject
) -> None:
    spans = st.integers(0, len(logits) - 1)
    pairs = data.draw(
        st.lists(st.tuples(spans, st.integers(0, TYPES - 1)), max_size=6, unique_by=lambda p: p[0])
    )
    total = naive_total(logits, pairs)
    for reduction, divisor in (("windows", windows), ("spans", len(logits))):
        loss = scorer(reduction=reduction).losses(torch.tensor(logits), batch(len(logits), pairs, windows))[
            "spans"
        ]
        assert loss.item() == pytest.approx(total / divisor, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("reduction", ["windows", "spans"])
def test_without_golds_every_span_is_a_negative(reduction: str) -> None:
    logits = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    loss = scorer(reduction=reduction).losses(logits, batch(2, [], 2))["spans"]
    assert loss.item() == pytest.approx(naive_total(logits.tolist(), []) / 2, rel=1e-5)


def test_of_several_types_on_a_span_the_last_is_learnt() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]])
    loss = scorer().losses(logits, batch(1, [(0, 2), (0, 0)]))["spans"]
    assert loss.item() == pytest.approx(naive_total(logits.tolist(), [(0, 0)]), rel=1e-5)


@pytest.mark.parametrize("reduction", ["windows", "spans"])
def test_the_loss_of_no_spans_is_zero(reduction: str) -> None:
    loss = scorer(reduction=reduction).losses(torch.zeros(0, TYPES + 1), batch(0, []))["spans"]
    assert loss.item() == 0


@given(rows)
def test_predictions_are_the_spans_whose_best_class_is_a_type(logits: list[list[float]]) -> None:
    tensor = torch.tensor(logits)
    found = scorer().predict(tensor, batch(len(tensor), []))
    expected = []
    for span, row in enumerate(tensor.tolist()):
        best = max(range(TYPES + 1), key=lambda place: (row[place], -place))
        if best:
            share = math.exp(row[best]) / sum(math.exp(value) for value in row)
            expected.append((span, best - 1, pytest.approx(share, rel=1e-4)))
    assert torch.equal(found.first, found.last) and torch.equal(found.rank, found.confidence)
    columns = found.first.tolist(), found.type.tolist(), found.confidence.tolist()
    assert list(zip(*columns, strict=True)) == expected


def test_of_spans_that_are_no_entities_nothing_is_predicted() -> None:
    found = scorer().predict(torch.tensor([[5.0, 0.0, 0.0, 0.0]] * 3), batch(3, []))
    assert len(found.first) == len(found.type) == len(found.confidence) == 0


def test_no_spans_give_no_predictions() -> None:
    assert len(scorer().predict(torch.zeros(0, TYPES + 1), batch(0, [])).first) == 0


def test_hidden_layers_stand_between_vectors_and_classes() -> None:
    part = scorer(hidden=(7, 6), dropout=0.0).eval()
    vectors = torch.randn(5, 4)
    shapes = [
        tuple(parameter.shape) for name, parameter in part.named_parameters() if name.endswith("weight")
    ]
    assert shapes == [(7, 4), (6, 7), (TYPES + 1, 6)]
    weights = list(part.parameters())
    hidden = vectors
    for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        hidden = (hidden @ weight.T + bias).clamp(min=0)
    torch.testing.assert_close(part(*vectors_of(vectors)), hidden @ weights[-2].T + weights[-1])


def test_dropout_of_hidden_layers_acts_in_training_only() -> None:
    part = scorer(hidden=(50,), dropout=0.5)
    vectors = torch.randn(5, 4)
    assert not torch.equal(part(*vectors_of(vectors)), part(*vectors_of(vectors)))
    part.eval()
    assert torch.equal(part(*vectors_of(vectors)), part(*vectors_of(vectors)))
