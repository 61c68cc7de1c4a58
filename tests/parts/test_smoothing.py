"""Boundary smoothing: what an entity gives to spans near it, by hand and by a naive loop."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from batching import batch_of
from golden.references.boundary_smoothing import Gold, smoothed
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.spans.classes import Classes
from spanwright.parts.spans.scorers.softmax import Softmax, smoothed_targets
from spanwright.settings.scorers import SoftmaxSettings

TYPES = 2


def batch(
    words: int, golds: list[Gold], *, limit: int = 100, before: int = 0, whole: bool = True, distance: int = 1
) -> Batch:
    """One window of words with all spans up to a width, after one whose words are in no span."""
    spans = [
        (1, before + first, before + last)
        for first in range(words)
        for last in range(first, min(first + limit, words))
    ]
    first, last, type_ = torch.tensor(golds, dtype=torch.long).reshape(-1, 3).unbind(1)
    shown = torch.full((len(golds),), whole)
    mentions = Mentions(torch.ones_like(first), first + before, last + before, type_, shown, shown, shown)
    pairs = [(spans.index((1, before + f, before + e)), t) for f, e, t in golds if e - f < limit]
    return batch_of([before, words], spans, pairs, mentions=mentions, near=distance)


def target(given_batch: Batch, first: int, last: int) -> list[float]:
    """The probabilities of one span."""
    found = smoothed_targets(given_batch, Classes((TYPES,)), smoothing=0.1)
    spans = given_batch.spans
    row = ((spans.first == first) & (spans.last == last)).nonzero().item()
    return found[row].tolist()


@st.composite
def annotated(draw: st.DrawFn) -> tuple[int, list[Gold]]:
    words = draw(st.integers(1, 6))
    spans = [(i, j) for i in range(words) for j in range(i, words)]
    pairs = st.tuples(st.sampled_from(spans), st.integers(0, TYPES - 1))
    return words, [(*span, type_) for span, type_ in draw(st.lists(pairs, unique=True, max_size=5))]


@given(annotated(), st.integers(1, 7), st.integers(0, 3), st.floats(0.01, 0.9), st.integers(1, 3))
def test_targets_equal_a_naive_loop_over_all_spans(
    drawn: tuple[int, list[Gold]], limit: int, before: int, smoothing: float, distance: int
) -> None:
    words, golds = drawn
    given_batch = batch(words, golds, limit=limit, before=before, distance=distance)
    found = smoothed_targets(given_batch, Classes((TYPES,)), smoothing=smoothing)
    table = smoothed(words, golds, TYPES, smoothing, distance)
    columns = (given_batch.spans.first.tolist(), given_batch.spans.last.tolist())
    expected = [table[first - before, last - before] for first, last in zip(*columns, strict=True)]
    torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-5, atol=1e-6)


def test_an_entity_inside_a_text_gives_a_quarter_to_each_of_four_neighbours() -> None:
    given_batch = batch(6, [(2, 3, 1)])
    assert target(given_batch, 2, 3) == pytest.approx([0.1, 0.0, 0.9])
    for first, last in ((1, 3), (3, 3), (2, 2), (2, 4)):
        assert target(given_batch, first, last) == pytest.approx([0.975, 0.0, 0.025])


def test_an_entity_of_one_word_at_the_border_keeps_what_it_cannot_give() -> None:
    given_batch = batch(6, [(0, 0, 0)], before=3)
    assert target(given_batch, 3, 3) == pytest.approx([0.025, 0.975, 0.0])
    assert target(given_batch, 3, 4) == pytest.approx([0.975, 0.025, 0.0])


def test_a_neighbour_of_two_entities_gets_from_both() -> None:
    given_batch = batch(6, [(1, 2, 0), (1, 4, 0), (2, 3, 1)])
    assert target(given_batch, 1, 3) == pytest.approx([1 - 0.075, 0.05, 0.025])


def test_types_on_one_span_share_its_probability() -> None:
    assert target(batch(6, [(2, 3, 0), (2, 3, 1)]), 2, 3) == pytest.approx([0.0, 0.5, 0.5])


def test_an_entity_that_is_too_wide_gives_to_candidates_all_the_same() -> None:
    given_batch = batch(6, [(1, 3, 0)], limit=2)
    assert target(given_batch, 1, 2) == pytest.approx([0.975, 0.025, 0.0])


def test_an_entity_that_its_window_cuts_gives_nothing() -> None:
    assert target(batch(6, [(0, 1, 0)], limit=2, whole=False), 1, 1) == [1.0, 0.0, 0.0]


def losses(given_batch: Batch, logits: Tensor, **choices: object) -> float:
    scorer = Softmax(SoftmaxSettings(**choices), vector_size=1, sizes=(TYPES,))
    return scorer.losses(logits, given_batch)["spans"].item()


@pytest.mark.parametrize("reduction", ["windows", "spans"])
def test_hardly_any_smoothing_is_hardly_different_from_none(reduction: str) -> None:
    given_batch = batch(5, [(1, 2, 0), (4, 4, 1)], limit=3)
    logits = torch.randn(len(given_batch.spans), TYPES + 1, generator=torch.Generator().manual_seed(0))
    none, little, much = (
        losses(given_batch, logits, reduction=reduction, smoothing=value) for value in (0.0, 1e-7, 0.3)
    )
    assert little == pytest.approx(none, rel=1e-5)
    assert much != pytest.approx(none, rel=1e-3)


def test_no_candidates_have_no_targets() -> None:
    mentions = batch(2, [(0, 1, 0)]).mentions
    given_batch = batch_of([0, 2], mentions=mentions, near=1)
    assert smoothed_targets(given_batch, Classes((TYPES,)), smoothing=0.1).shape == (0, TYPES + 1)
