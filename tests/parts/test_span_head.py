"""Span heads after a bottleneck: the mean of what samples cost, and answers that are never drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from batching import batch_of, every_span
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.model import SpanHead
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.pruning import Pruner
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.parts.spans.transforms.bottleneck import Bottleneck
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.settings.data import PruningSettings
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import SigmoidSettings, SoftmaxSettings
from spanwright.settings.transforms import BottleneckSettings

WIDTH, LIMIT, TYPES, COUNTS = 6, 3, 2, (5, 4)
SCORERS = ("softmax", "sigmoid")


def scorer(kind: str) -> Softmax | Sigmoid:
    if kind == "softmax":
        return Softmax(SoftmaxSettings(kind="softmax", dropout=0.0), vector_size=4, sizes=(TYPES,))
    return Sigmoid(SigmoidSettings(kind="sigmoid", dropout=0.0), vector_size=4, sizes=(TYPES,))


def head(kind: str = "sigmoid", *, samples: int = 3, keep: float | None = None) -> SpanHead:
    torch.manual_seed(0)
    composed = ComposedSettings(ingredients=("first", "mean", "last"), size=5, dropout=0.0)
    narrow = BottleneckSettings(kind="bottleneck", size=4, samples=samples)
    pruning = PruningSettings(keep=keep, size=3) if keep is not None else None
    return SpanHead(
        representation=Transformed(
            Composed(composed, state_width=WIDTH, width_limit=LIMIT), [Bottleneck(narrow, vector_size=5)]
        ),
        scorer=scorer(kind),
        pruner=Pruner(pruning, state_width=WIDTH, width_limit=LIMIT) if pruning else None,
    )


def states(counts: Sequence[int] = COUNTS) -> WordStates:
    generator = torch.Generator().manual_seed(1)
    start, end, anchor = (
        torch.randn(rows, WIDTH, generator=generator) for rows in (sum(counts), sum(counts), len(counts))
    )
    return WordStates(start, end, anchor)


def batch() -> Batch:
    """All candidates; one of them has two types, another has one."""
    spans, golds = every_span(COUNTS, LIMIT), [(1, 0), (1, 1), (14, 1)]
    rows = torch.tensor([(*spans[span], type_) for span, type_ in golds])
    whole = torch.ones(len(golds), dtype=torch.bool)
    return batch_of(COUNTS, spans, golds, mentions=Mentions(*rows.unbind(1), whole, whole, whole))


def drawn(made: SpanHead, given: Batch, seed: int = 2) -> SpanVectors:
    torch.manual_seed(seed)
    vectors: SpanVectors = made.representation(states(), given.spans)
    return vectors


def losses(made: SpanHead, given: Batch, seed: int = 2) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    return made.losses(states(), given, made.terms)


def loss_of(made: SpanHead, vectors: SpanVectors, given: Batch) -> Tensor:
    """What span vectors cost, by the scorer alone."""
    return made.scorer.losses(made.scorer(vectors, states(), given), given)["spans"]


@pytest.mark.parametrize("kind", SCORERS)
def test_the_loss_is_the_mean_of_what_each_sample_costs(kind: str) -> None:
    made, given = head(kind), batch()
    vectors = drawn(made, given)
    costs = [loss_of(made, replace(vectors, spans=sample), given) for sample in vectors.samples]
    assert len({float(cost.detach()) for cost in costs}) == 3
    torch.testing.assert_close(losses(made, given)["spans"], sum(costs) / 3)


@pytest.mark.parametrize("samples", [0, 1, 3])
def test_compression_is_the_mean_divergence_of_the_candidates(samples: int) -> None:
    made, given = head(samples=samples), batch()
    found = losses(made, given)
    assert found.keys() == made.terms == {"spans", "compression"}
    expected = sum(drawn(made, given).divergence.unbind()) / len(given.spans)
    torch.testing.assert_close(found["compression"], expected)


@pytest.mark.parametrize("kind", SCORERS)
def test_without_samples_the_means_of_spans_are_scored(kind: str) -> None:
    made, given = head(kind, samples=0), batch()
    expected = loss_of(made, made.eval().representation(states(), given.spans), given)
    for seed in (2, 3):
        torch.testing.assert_close(losses(made.train(), given, seed)["spans"], expected)


def test_other_noise_gives_another_loss_in_training() -> None:
    made, given = head(), batch()
    assert losses(made, given, 2)["spans"] != losses(made, given, 3)["spans"]


def answers(found: Predictions) -> list[tuple[float, ...]]:
    columns = (found.window, found.first, found.last, found.type, found.confidence)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("keep", [None, 1.0], ids=["all", "pruned"])
@pytest.mark.parametrize("kind", SCORERS)
def test_answers_are_those_of_the_means_whatever_the_noise(kind: str, keep: float | None) -> None:
    made, given = head(kind, keep=keep).eval(), batch()
    made.scorer.layers[-1].weight.data.mul_(20)  # so that there are answers
    few = given if keep is None else made.pruner.pruned(made.pruner(states(), given.spans), given)
    transforms = made.representation.transforms
    inner = made.representation.representation(states(), few.spans)
    means = replace(inner, spans=transforms[0].mean(inner.spans))
    expected = answers(made.scorer.predict(made.scorer(means, states(), few), few))
    assert len(expected) > 0
    for seed in (2, 3):
        torch.manual_seed(seed)
        found = answers(made.predict(states(), given))
        assert [row[:4] for row in found] == [row[:4] for row in expected]
        assert [row[4] for row in found] == pytest.approx([row[4] for row in expected])


@pytest.mark.parametrize("kind", SCORERS)
def test_after_a_pruner_only_what_is_kept_is_scored_and_compressed(kind: str) -> None:
    made, given = head(kind, keep=0.5), batch()
    assert made.terms == {"spans", "compression", "pruning"}
    kept = made.pruner.pruned(made.pruner(states(), given.spans).detach(), given)
    assert len(given.golds.span) <= len(kept.spans) < len(given.spans)
    found, pruner = losses(made, given), made.pruner
    made.pruner = None
    expected = losses(made, kept) | {"pruning": pruner.loss(pruner(states(), given.spans), given)}
    assert found.keys() == expected.keys()
    for name, loss in expected.items():
        torch.testing.assert_close(found[name], loss)


@pytest.mark.parametrize("kind", SCORERS)
def test_no_candidates_compress_to_nothing_and_harm_no_gradient(kind: str) -> None:
    made = head(kind)
    found = made.losses(states((1,)), batch_of((1,)), made.terms)
    assert {name: float(loss.detach()) for name, loss in found.items()} == {"spans": 0.0, "compression": 0.0}
    torch.autograd.backward(sum(found.values()))
    assert all(p.grad is None or not bool(p.grad.any()) for p in made.parameters())


def test_a_head_without_a_bottleneck_has_no_compression() -> None:
    made = head()
    made.representation = made.representation.representation
    assert made.terms == {"spans"}
