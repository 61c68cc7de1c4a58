"""Contrastive losses against types, with the window's anchor as a threshold (BINDER, equations 5 to 9).

An item is a candidate span, or a word as the start or end of an entity. For each window and type, a gold item
must be nearer to the type than every item that is no gold of that type and than the window's anchor; the
anchor must be nearer than every such item. Golds of the same type are left out of each other's comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Items:
    """What is compared with types: which items are gold, and which must not be negatives."""

    window: Tensor
    """(items,): the window of each item."""
    gold: Tensor
    """(golds,): positions of gold items; an item may stand here once per gold and type."""
    gold_type: Tensor
    """(golds,): their type ids."""
    excluded: Tensor
    """(exclusions,): positions of items that are no negatives for a type, the golds among them."""
    excluded_type: Tensor
    """(exclusions,): the types they are no negatives for."""


def contrast(similarity: Tensor, anchor: Tensor, items: Items) -> tuple[Tensor, Tensor]:
    """Loss of each gold, (golds,), and threshold loss of each window and type, (windows, types).

    `similarity` is (items, types), `anchor` (windows, types): scaled cosines with the types.
    """
    rivals = _log_sum(similarity, anchor, items)
    gold = similarity[items.gold, items.gold_type]
    rivals_of_gold = rivals[items.window[items.gold], items.gold_type]
    return torch.logaddexp(gold, rivals_of_gold) - gold, rivals - anchor


def _log_sum(similarity: Tensor, anchor: Tensor, items: Items) -> Tensor:
    """(windows, types): log of the summed exponentials of the negatives and the anchor."""
    negatives = similarity.clone()
    negatives[items.excluded, items.excluded_type] = -torch.inf
    index = items.window[:, None].expand_as(negatives)
    # The anchor is always in the sum, so the largest is finite even where a window has no negative.
    largest = anchor.detach().scatter_reduce(0, index, negatives.detach(), "amax")
    weights = torch.exp(negatives - largest[items.window])
    total = torch.exp(anchor - largest).index_add(0, items.window, weights)
    return largest + torch.log(total)
