"""Soft targets: what scorers learn from probabilities of golds, and the probabilities that scorers have."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from batching import batch_of, every_span
from spanwright.parts.batch import Batch
from spanwright.parts.spans.pruning import Pruner
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, Compared, Comparisons
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.parts.spans.scorers.type_vectors import AtomicTypes
from spanwright.settings.data import PruningSettings
from spanwright.settings.scorers import BiEncoderSettings, SigmoidSettings, SoftmaxSettings

TYPES = 3
SOME = settings(max_examples=40)
Targets = dict[tuple[int, int], float]


def softmax(sizes: tuple[int, ...] = (TYPES,), **changes: object) -> Softmax:
    return Softmax(SoftmaxSettings(**changes), vector_size=4, sizes=sizes)


def sigmoid(sizes: tuple[int, ...] = (TYPES,), **changes: object) -> Sigmoid:
    chosen = SigmoidSettings.model_validate({"kind": "sigmoid", **changes})
    return Sigmoid(chosen, vector_size=4, sizes=sizes)


def bi_encoder(sizes: tuple[int, ...] = (TYPES,), **changes: object) -> BiEncoder:
    chosen = BiEncoderSettings.model_validate({"kind": "bi-encoder", "types": "atomic", **changes})
    source = AtomicTypes(sum(sizes), 4)
    return BiEncoder(chosen, source=source, sizes=sizes, state_width=4, vector_size=4)


def batch(spans: int, targets: Targets, *, soft: bool = True) -> Batch:
    """Spans of one word each in one window; targets are probabilities by span and type."""
    made = batch_of([spans], [(0, span, span) for span in range(spans)], list(targets))
    probability = torch.tensor(list(targets.values())) if soft else None
    return replace(made, golds=replace(made.golds, probability=probability))


@st.composite
def scored(draw: st.DrawFn, classes: int) -> tuple[Tensor, Targets]:
    """Logits (spans, classes) and soft targets, of which a span may have several."""
    spans = draw(st.integers(1, 6))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    pair = st.tuples(st.integers(0, spans - 1), st.integers(0, TYPES - 1))
    targets = draw(st.dictionaries(pair, st.floats(0, 1, width=32), max_size=8))
    return 3 * torch.randn(spans, classes, generator=generator), targets


@SOME
@given(scored(TYPES + 1))
def test_the_loss_of_softmax_is_the_cross_entropy_of_the_probabilities(drawn: tuple[Tensor, Targets]) -> None:
    logits, targets = drawn
    total = 0.0
    for span, row in enumerate(logits.tolist()):
        normaliser = math.log(sum(map(math.exp, row)))
        given_types = [targets.get((span, type_), 0.0) for type_ in range(TYPES)]
        scale = max(1.0, sum(given_types))
        shares = [1 - sum(given_types) / scale, *(share / scale for share in given_types)]
        total -= sum(share * (logit - normaliser) for share, logit in zip(shares, row, strict=True))
    loss = softmax().losses(logits, batch(len(logits), targets))["spans"]
    assert loss.item() == pytest.approx(total, rel=1e-4, abs=1e-4)


@SOME
@given(scored(TYPES))
def test_the_loss_of_sigmoid_is_the_binary_cross_entropy_of_the_probabilities(
    drawn: tuple[Tensor, Targets],
) -> None:
    logits, targets = drawn
    total = 0.0
    for span, row in enumerate(logits.tolist()):
        for type_, logit in enumerate(row):
            share, found = targets.get((span, type_), 0.0), 1 / (1 + math.exp(-logit))
            total -= share * math.log(found) + (1 - share) * math.log(1 - found)
    loss = sigmoid().losses(logits, batch(len(logits), targets))["spans"]
    assert loss.item() == pytest.approx(total, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("made", "classes"), [(softmax, TYPES + 1), (sigmoid, TYPES)])
def test_soft_targets_that_are_certain_are_hard_ones(made: type, classes: int) -> None:
    logits, targets = torch.randn(4, classes), {(0, 1): 1.0, (3, 2): 1.0}
    soft, hard = (made().losses(logits, batch(4, targets, soft=soft))["spans"] for soft in (True, False))
    torch.testing.assert_close(soft, hard)


def test_what_types_leave_goes_to_no_entity_of_the_same_corpus() -> None:
    made = batch_of([1, 1], [(0, 0, 0), (1, 1, 1)], [(0, 0), (1, 2)], corpus=[0, 1])
    made = replace(made, golds=replace(made.golds, probability=torch.tensor([0.25, 0.5])))
    found = softmax((2, 1)).classes.probabilities(made)
    assert found.tolist() == [[0.75, 0.25, 0, 0, 0], [0, 0, 0, 0.5, 0.5]]


def test_a_pruner_learns_how_likely_a_span_is_of_any_type() -> None:
    made = batch_of([3], every_span([3], 1), [(0, 0), (0, 1), (1, 0), (1, 2)])
    made = replace(made, golds=replace(made.golds, probability=torch.tensor([0.2, 0.3, 0.9, 0.8])))
    logits = torch.tensor([0.3, -1.0, 2.0])
    pruner = Pruner(PruningSettings(), state_width=4, width_limit=1)
    expected = sum(
        -share * math.log(found) - (1 - share) * math.log(1 - found)
        for share, found in zip([0.5, 1.0, 0.0], logits.sigmoid().tolist(), strict=True)
    )
    assert pruner.loss(logits, made).item() == pytest.approx(expected, rel=1e-5)


def test_pruning_keeps_every_span_with_a_soft_target() -> None:
    made = batch(5, {(1, 0): 0.01, (4, 2): 0.6})
    pruner = Pruner(PruningSettings(keep=0.2), state_width=4, width_limit=1)
    kept = pruner.pruned(torch.tensor([5.0, -5.0, 0.0, 0.0, -5.0]), made)
    assert kept.spans.first.tolist() == [0, 1, 4]
    assert kept.golds.span.tolist() == [1, 2]
    assert kept.golds.probability is not None
    assert kept.golds.probability.tolist() == pytest.approx([0.01, 0.6])


def test_softmax_gives_the_probabilities_of_its_types() -> None:
    logits = torch.randn(4, TYPES + 1)
    found = softmax().probabilities(logits, batch(4, {}))
    torch.testing.assert_close(found, (logits.exp() / logits.exp().sum(1, keepdim=True))[:, 1:])


def test_sigmoid_gives_the_probability_of_each_type_whatever_its_threshold() -> None:
    made, logits = sigmoid(threshold="tuned"), torch.randn(4, TYPES)
    assert made.tuned is not None
    made.tuned.fill_(0.99)
    torch.testing.assert_close(made.probabilities(logits, batch(4, {})), 1 / (1 + (-logits).exp()))


def comparisons(spans: int, types: int = TYPES) -> Comparisons:
    made = [Compared(torch.randn(spans, types), torch.randn(1, types)) for _ in range(3)]
    return Comparisons(*made)


def test_a_bi_encoder_is_as_sure_below_its_threshold_as_above() -> None:
    scores, made = comparisons(5), bi_encoder()
    found = made.probabilities(scores, batch(5, {}))
    torch.testing.assert_close(found, (scores.spans.similarity - scores.spans.threshold).sigmoid())


@pytest.mark.parametrize("joint", [False, True])
def test_a_bi_encoder_reports_its_probabilities_of_what_it_predicts(joint: bool) -> None:
    scores, made = comparisons(40), bi_encoder(joint=joint)
    probabilities, found = made.probabilities(scores, batch(40, {})), made.predict(scores, batch(40, {}))
    assert 0 < len(found.type) < 120
    torch.testing.assert_close(probabilities[found.first, found.type], found.confidence)
    above = (probabilities > 0.5).nonzero()
    assert above.tolist() == torch.stack([found.first, found.type], dim=1).tolist()


def test_a_joint_span_is_no_better_than_an_end_below_its_threshold() -> None:
    zero = torch.zeros(1, 1)
    end = Compared(torch.tensor([[-1.0], [2.0]]), zero)
    scores = Comparisons(Compared(torch.tensor([[3.0], [3.0]]), zero), end, end)
    found = bi_encoder((1,), joint=True).probabilities(scores, batch(2, {}))
    torch.testing.assert_close(found, torch.tensor([[-1.0], [3.0]]).sigmoid())


def test_types_of_another_corpus_have_no_probability() -> None:
    made = batch_of([1, 1], [(0, 0, 0), (1, 1, 1)], corpus=[0, 1])
    logits = softmax((2, 1)).classes.masked(torch.randn(2, 5), made)
    scores = replace(comparisons(2), spans=Compared(torch.randn(2, 3), torch.randn(2, 3)))
    found = [
        softmax((2, 1)).probabilities(logits, made),
        sigmoid((2, 1)).probabilities(torch.randn(2, 3), made),
        bi_encoder((2, 1)).probabilities(scores, made),
    ]
    for probabilities in found:
        assert (probabilities > 0).tolist() == [[True, True, False], [False, False, True]]
