"""The contrastive losses equal loops written from the equations, in values and gradients."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from spanwright.parts.spans.scorers.contrast import Items, contrast

Pair = tuple[int, int]


class Case(NamedTuple):
    """Items of windows, and which pairs of an item and a type are golds or merely no negatives."""

    windows: int
    types: int
    window: list[int]
    golds: list[Pair]
    spared: list[Pair]
    """Pairs that are neither golds nor negatives."""
    seed: int

    @property
    def items(self) -> Items:
        gold, gold_type = columns(self.golds)
        excluded, excluded_type = columns([*self.golds, *self.spared])
        return Items(torch.tensor(self.window, dtype=torch.long), gold, gold_type, excluded, excluded_type)

    def numbers(self, *shape: int, shift: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed + shift)
        return 3 * torch.randn(*shape, dtype=torch.float64, generator=generator)

    @property
    def similarity(self) -> Tensor:
        return self.numbers(len(self.window), self.types)

    @property
    def anchor(self) -> Tensor:
        return self.numbers(self.windows, self.types, shift=1)


def columns(pairs: list[Pair]) -> tuple[Tensor, ...]:
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).unbind(1)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any number of golds on any items; a pair may be the gold of two entities."""
    windows, types = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    window = draw(st.lists(st.integers(0, windows - 1), max_size=8))
    pairs: st.SearchStrategy[list[Pair]] = st.just([])
    if window:
        pairs = st.lists(st.tuples(st.integers(0, len(window) - 1), st.integers(0, types - 1)), max_size=8)
    return Case(windows, types, window, draw(pairs), draw(pairs), draw(st.integers(0, 1000)))


def naive(case: Case, similarity: Tensor, anchor: Tensor | None) -> tuple[Tensor, Tensor]:
    """Entity losses (golds,) and threshold losses (windows, types), one question after the other."""
    no_negatives = {*case.golds, *case.spared}

    def lost(answer: Tensor, rivals: list[Tensor]) -> Tensor:
        return torch.stack([answer, *rivals]).logsumexp(0) - answer

    def negatives(window: int, type_: int) -> list[Tensor]:
        return [
            similarity[item, type_]
            for item, its_window in enumerate(case.window)
            if its_window == window and (item, type_) not in no_negatives
        ]

    entity = similarity.new_zeros(len(case.golds))
    for number, (item, type_) in enumerate(case.golds):
        window = case.window[item]
        anchors = [] if anchor is None else [anchor[window, type_]]
        entity[number] = lost(similarity[item, type_], [*anchors, *negatives(window, type_)])
    threshold = similarity.new_zeros(case.windows, case.types)
    if anchor is not None:
        for window in range(case.windows):
            for type_ in range(case.types):
                threshold[window, type_] = lost(anchor[window, type_], negatives(window, type_))
    return entity, threshold


def assert_same(case: Case, *, anchored: bool = True) -> None:
    """Values, and gradients of a sum in which each loss has a weight of its own."""
    results = []
    for function in (lambda *given_: contrast(*given_, case.items, case.windows), lambda *g: naive(case, *g)):
        similarity = case.similarity.requires_grad_()
        anchor = case.anchor.requires_grad_() if anchored else None
        entity, threshold = function(similarity, anchor)
        threshold = threshold.expand(case.windows, case.types)
        weighted = (entity * case.numbers(len(case.golds), shift=2)).sum()
        weighted = weighted + (threshold * case.numbers(case.windows, case.types, shift=3)).sum()
        leaves = [similarity] if anchor is None else [similarity, anchor]
        gradients = torch.autograd.grad(weighted + 0 * similarity.sum(), leaves)
        results.append([entity.detach(), threshold.detach(), *gradients])
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@given(cases())
def test_losses_and_gradients_equal_a_loop(case: Case) -> None:
    assert_same(case)


@given(cases())
def test_without_an_anchor_golds_compete_with_negatives_alone(case: Case) -> None:
    assert_same(case, anchored=False)


NAMED = {
    "several golds of a type": Case(1, 2, [0] * 5, [(0, 0), (1, 0), (3, 0), (2, 1)], [], 1),
    "types without gold": Case(1, 3, [0] * 4, [(0, 1)], [], 2),
    "a window without gold": Case(2, 2, [0, 0, 0, 1, 1], [(0, 0)], [], 3),
    "a window without negatives": Case(2, 1, [0, 0, 1, 1, 1], [(0, 0), (1, 0), (2, 0)], [], 4),
    "a window without items": Case(3, 2, [0, 0, 2], [(2, 1)], [], 5),
    "golds of two types on an item": Case(1, 2, [0] * 3, [(1, 0), (1, 1)], [], 6),
    "two golds of one type on an item": Case(1, 2, [0] * 3, [(1, 0), (1, 0), (2, 0)], [], 7),
    "a pair that is spared": Case(1, 2, [0] * 4, [(0, 0)], [(2, 0), (3, 1)], 8),
    "one type": Case(2, 1, [0, 1, 1, 0], [(0, 0), (2, 0)], [(1, 0)], 9),
    "fifty types": Case(2, 50, [0, 0, 0, 1, 1], [(n % 5, (7 * n) % 50) for n in range(30)], [(0, 1)], 10),
}


@pytest.mark.parametrize("anchored", [True, False], ids=["anchor", "no anchor"])
@pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)
def test_losses_and_gradients_equal_a_loop_where(case: Case, anchored: bool) -> None:
    assert_same(case, anchored=anchored)


def test_without_an_anchor_there_is_no_threshold_loss() -> None:
    case = NAMED["several golds of a type"]
    assert contrast(case.similarity, None, case.items, case.windows)[1].item() == 0


def test_a_gold_without_rivals_loses_nothing() -> None:
    case = Case(1, 1, [0, 0], [(0, 0), (1, 0)], [], 0)
    similarity = case.similarity.requires_grad_()
    entity, _ = contrast(similarity, None, case.items, 1)
    assert entity.tolist() == [0, 0]
    assert torch.autograd.grad(entity.sum(), similarity)[0].tolist() == [[0], [0]]


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_windows_types_and_items_does_not_matter(case: Case, random: object) -> None:
    def shuffled(count: int) -> list[int]:
        order = list(range(count))
        random.shuffle(order)
        return order

    # New position of each window, type and item.
    to_window, to_type, to_item = shuffled(case.windows), shuffled(case.types), shuffled(len(case.window))
    moved = case._replace(
        window=[to_window[case.window[to_item.index(place)]] for place in range(len(to_item))],
        golds=[(to_item[item], to_type[type_]) for item, type_ in case.golds],
        spared=[(to_item[item], to_type[type_]) for item, type_ in case.spared],
    )
    similarity = torch.empty_like(case.similarity)
    similarity[torch.tensor(to_item, dtype=torch.long)[:, None], torch.tensor(to_type)] = case.similarity
    anchor = torch.empty_like(case.anchor)
    anchor[torch.tensor(to_window)[:, None], torch.tensor(to_type)] = case.anchor
    entity, threshold = contrast(case.similarity, case.anchor, case.items, case.windows)
    moved_entity, moved_threshold = contrast(similarity, anchor, moved.items, case.windows)
    torch.testing.assert_close(moved_entity, entity)
    torch.testing.assert_close(moved_threshold[torch.tensor(to_window)][:, torch.tensor(to_type)], threshold)


@given(cases(), st.booleans())
def test_huge_similarities_neither_overflow_nor_lose_the_answer(case: Case, anchored: bool) -> None:
    def extreme(numbers: Tensor, dtype: torch.dtype) -> Tensor:
        return (1e4 * numbers.sign() * (numbers.abs() > 1)).to(dtype).requires_grad_()

    results = []
    for dtype in (torch.float32, torch.float64):
        similarity = extreme(case.similarity, dtype)
        anchor = extreme(case.anchor, dtype) if anchored else None
        if dtype == torch.float32:
            entity, threshold = contrast(similarity, anchor, case.items, case.windows)
        else:
            entity, threshold = naive(case, similarity, anchor)
        leaves = [similarity] if anchor is None else [similarity, anchor]
        gradients = torch.autograd.grad(entity.sum() + threshold.sum() + 0 * similarity.sum(), leaves)
        results.append([entity, threshold.expand(case.windows, case.types), *gradients])
    for found, expected in zip(*results, strict=True):
        # Beside numbers of 1e4, single precision has three decimals.
        torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=2e-3)


@given(cases())
def test_one_threshold_for_all_windows_gathers_the_gradients_of_all(case: Case) -> None:
    thresholds = case.anchor[0].clone().requires_grad_()
    anchors = case.anchor[:1].expand(case.windows, -1).clone().requires_grad_()
    gradients = []
    for leaf, anchor in ((thresholds, thresholds.expand(case.windows, -1)), (anchors, anchors)):
        entity, threshold = contrast(case.similarity, anchor, case.items, case.windows)
        gradients.append(torch.autograd.grad(entity.sum() + threshold.sum(), leaf)[0])
    torch.testing.assert_close(gradients[0], gradients[1].sum(0))
