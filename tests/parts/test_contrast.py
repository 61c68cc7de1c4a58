"""Contrastive losses equal loops written from the equations."""

from __future__ import annotations

import math

import pytest
import torch

from spanwright.parts.contrast import Items, contrast


def _naive(similarity, anchor, window, golds, excluded):
    """Entity losses and threshold losses by loops over windows, types and items."""
    windows, types = anchor.shape

    def negatives(b, k):
        return [i for i in range(len(window)) if window[i] == b and (i, k) not in excluded]

    def log_sum(values):
        return torch.logsumexp(torch.stack(values), 0)

    entity = [
        log_sum(
            [similarity[i, k], anchor[window[i], k], *(similarity[n, k] for n in negatives(window[i], k))]
        )
        - similarity[i, k]
        for i, k in golds
    ]
    threshold = [
        log_sum([anchor[b, k], *(similarity[n, k] for n in negatives(b, k))]) - anchor[b, k]
        for b in range(windows)
        for k in range(types)
    ]
    return torch.stack(entity) if entity else torch.zeros(0), torch.stack(threshold).view(windows, types)


CASES = {
    "several golds of one type": ([0, 0, 0, 1, 1], [(0, 1), (2, 1), (3, 0)], []),
    "types and windows without gold": ([0, 0, 1, 2, 2], [(0, 0)], []),
    "a span with two types": ([0, 0, 1], [(1, 0), (1, 2)], []),
    "a gold cut by the window is no negative": ([0, 0, 1, 1], [(0, 0)], [(3, 0), (1, 1)]),
    "no negative is left": ([0, 1], [(0, 0), (1, 0)], [(0, 1), (0, 2), (1, 1), (1, 2)]),
    "no gold at all": ([0, 0, 1], [], []),
    "the same gold twice": ([0, 0, 1], [(0, 0), (0, 0)], []),
}


@pytest.mark.parametrize("case", CASES)
def test_losses_and_gradients_equal_the_naive_loops(case: str) -> None:
    window, golds, cut = CASES[case]
    generator = torch.Generator().manual_seed(1)
    similarity = (5 * torch.randn(len(window), 3, generator=generator)).requires_grad_()
    anchor = (5 * torch.randn(max(window) + 1, 3, generator=generator)).requires_grad_()
    excluded = {*golds, *cut}
    rows = torch.tensor(golds, dtype=torch.long).view(-1, 2)
    out = torch.tensor(sorted(excluded), dtype=torch.long).view(-1, 2)
    items = Items(torch.tensor(window), rows[:, 0], rows[:, 1], out[:, 0], out[:, 1])
    fast = contrast(similarity, anchor, items)
    naive = _naive(similarity, anchor, window, golds, excluded)
    for ours, theirs in zip(fast, naive, strict=True):
        torch.testing.assert_close(ours, theirs)
    gradients = [
        torch.autograd.grad(entity.sum() + 2 * threshold.sum(), (similarity, anchor), allow_unused=True)
        for entity, threshold in (fast, naive)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, torch.zeros_like(ours) if theirs is None else theirs)


def test_permuting_items_and_types_changes_nothing() -> None:
    similarity, anchor = torch.randn(6, 4), torch.randn(2, 4)
    window = torch.tensor([0, 0, 0, 1, 1, 1])
    gold, types = torch.tensor([1, 4]), torch.tensor([2, 3])
    entity, threshold = contrast(similarity, anchor, Items(window, gold, types, gold, types))
    order, renamed = torch.randperm(6), torch.randperm(4)
    place, name = order.argsort(), renamed.argsort()
    moved = Items(window[order], place[gold], name[types], place[gold], name[types])
    again, thresholds = contrast(similarity[order][:, renamed], anchor[:, renamed], moved)
    torch.testing.assert_close(again, entity)
    torch.testing.assert_close(thresholds, threshold[:, renamed])


def test_large_scales_do_not_overflow() -> None:
    similarity = torch.tensor([[1e4], [-1e4]])
    entity, threshold = contrast(
        similarity,
        torch.tensor([[0.0]]),
        Items(
            torch.tensor([0, 0]), torch.tensor([1]), torch.tensor([0]), torch.tensor([1]), torch.tensor([0])
        ),
    )
    assert math.isclose(entity.item(), 2e4) and math.isclose(threshold.item(), 1e4)
