"""Candidate pruning: which spans are kept, what the pruner learns, and what a model after it answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import tiny
from batching import as_taken, batch_of, every_span, with_neighbours
from spanwright.batches.prepare import prepare
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.pruning import Pruner
from spanwright.predicting.tagger import Tagger
from spanwright.settings.data import PruningSettings
from spanwright.text import Document

LIMIT = 3


def pruner(keep: float = 1.0, width: int = 5, size: int = 4) -> Pruner:
    torch.manual_seed(3)
    made = Pruner(PruningSettings(keep=keep, size=size), state_width=width, width_limit=LIMIT)
    torch.nn.init.normal_(made.widths.weight)
    return made


def states(words: int, windows: int, width: int = 5) -> WordStates:
    torch.manual_seed(4)
    return WordStates(torch.randn(words, width), torch.randn(words, width), torch.randn(windows, width))


def with_mentions(counts: list[int], golds: list[tuple[int, int, int]], near: int = 0) -> Batch:
    """All spans of windows; golds are (window, first, last) in packed words."""
    spans = every_span(counts, LIMIT)
    window, first, last = torch.tensor(golds, dtype=torch.long).reshape(-1, 3).unbind(1)
    whole = torch.ones(len(golds), dtype=torch.bool)
    mentions = Mentions(window, first, last, torch.zeros_like(first), whole, whole, whole)
    pairs = [(spans.index(gold), 0) for gold in golds if gold in spans]
    return batch_of(counts, spans, pairs, mentions=mentions, near=near)


def test_a_span_is_scored_by_its_ends_and_width() -> None:
    batch, made, words = batch_of([4], every_span([4], LIMIT)), pruner(), states(4, 1)
    logits = made(words, batch.spans)
    for position, (_, first, last) in enumerate(every_span([4], LIMIT)):
        a, b = made.first(words.start[first]), made.last(words.end[last])
        expected = a[:4] @ b[:4] / 2 + a[4] + b[4] + made.widths.weight[last - first, 0]
        assert logits[position].item() == pytest.approx(expected.item(), abs=1e-5)


def test_the_loss_is_the_summed_cross_entropy_per_window() -> None:
    batch = with_mentions([3, 2], [(0, 0, 1), (1, 3, 3)])
    logits = torch.linspace(-2, 2, len(batch.spans))
    golds = set(batch.golds.span.tolist())
    expected = sum(
        -math.log(torch.sigmoid(logit if n in golds else -logit).item()) for n, logit in enumerate(logits)
    )
    assert pruner().loss(logits, batch).item() == pytest.approx(expected / 2, rel=1e-5)


@given(
    counts=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    keep=st.sampled_from([0.1, 0.5, 1.0, 1.7, 9.0]),
    seed=st.integers(0, 99),
)
def test_each_window_keeps_its_best(counts: list[int], keep: float, seed: int) -> None:
    batch = batch_of(counts, every_span(counts, LIMIT))
    logits = torch.randn(len(batch.spans), generator=torch.Generator().manual_seed(seed))
    kept = pruner(keep).kept(logits, batch)
    for window, count in enumerate(counts):
        own = (batch.spans.window == window).nonzero().squeeze(1).tolist()
        best = sorted(own, key=lambda position: -logits[position])[: math.ceil(keep * count)]
        assert [position for position in own if kept[position]] == sorted(best)


def test_golds_and_their_neighbours_are_kept_in_training_however_low_they_score() -> None:
    batch = with_mentions([5], [(0, 1, 2)], near=1)
    assert batch.neighbours is not None
    logits = torch.zeros(len(batch.spans)).index_fill(0, batch.neighbours.span, -1.0)
    kept = pruner(keep=0.2).pruned(logits, batch)
    found = set(zip(kept.spans.first.tolist(), kept.spans.last.tolist(), strict=True))
    assert {(1, 2), (0, 2), (2, 2), (1, 1), (1, 3)} <= found
    assert len(found) == 6  # one place is left to the best span
    assert kept.golds.span.tolist() == [sorted(found).index((1, 2))]


def deep(**pruning: float) -> dict[str, object]:
    return {
        "candidates": {"width_limit": 4, "pruning": pruning or None},
        "encoder": {"pooling": "mean"},
        "representation": {"kind": "span-transformer", "initial_dropout": 0.0},
        "scorer": {"kind": "softmax", "smoothing": 0.1},
    }


TEXT = Document("d", "a cell and a b ase, the cell of b cells and c cells")


def test_a_pruner_that_keeps_everything_changes_nothing() -> None:
    whole, pruned = tiny.model(**deep()), tiny.model(**deep(keep=99.0))
    pruned.network.load_state_dict(whole.network.state_dict(), strict=False)
    assert Tagger(pruned).tag(TEXT).entities == Tagger(whole).tag(TEXT).entities != ()


def test_a_pruned_model_finds_only_what_the_whole_one_finds() -> None:
    whole, pruned = tiny.model(**deep()), tiny.model(**deep(keep=1.5))
    pruned.network.load_state_dict(whole.network.state_dict(), strict=False)
    every, some = ({entity.key for entity in Tagger(m).tag(TEXT).entities} for m in (whole, pruned))
    assert some < every
    assert len(some) > 0


def gradients(model: torch.nn.Module, loss: Tensor) -> set[str]:
    torch.autograd.backward(loss)
    return {name for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}


def test_the_pruner_and_the_encoder_learn_from_pruning() -> None:
    model = tiny.model(**deep(keep=0.5))
    prepared = prepare(TEXT, model.pieces, model.plan)
    made = next(Tagger(model).batches([prepared], [np.array([[1, 1, 0, 1]])]))
    batch = with_neighbours(as_taken(made), model.settings.scorer.near)
    losses = model.network.losses(batch, {"pruning", "spans"})
    assert set(losses) == model.network.terms == {"pruning", "spans"}
    changed = gradients(model.network, losses["pruning"])
    assert {"spans.pruner.first.weight", "spans.pruner.last.weight"} <= changed
    assert any(name.startswith("encoder.") for name in changed)
    assert not any(name.startswith(("spans.scorer", "spans.representation")) for name in changed)


def test_the_pruner_starts_from_rare_entities() -> None:
    made = Pruner(PruningSettings(), state_width=5, width_limit=LIMIT)
    assert made.widths.weight.sigmoid().max().item() < 0.02
