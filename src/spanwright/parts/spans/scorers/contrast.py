"""The contrastive losses of BINDER (Zhang et al., 2023; equations 5 to 9).

A window and a type pose one question: which items of the window (words or spans) belong to the type? An
anchor, the similarity of the window's [CLS] or a learnt number, stands among the answers. Of one window and
type, with the negatives N (items that are no gold of the type):

    entity loss of a gold g    -log  exp(g) / (exp(g) + exp(anchor) + sum of exp(n) over N)
    threshold loss             -log  exp(anchor) / (exp(anchor) + sum of exp(n) over N)

Other golds of the type stand in neither sum: each gold competes alone, and none pushes the threshold up.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class Items:
    """What is compared with the types, and which pairs of an item and a type are golds."""

    window: Tensor
    """(items,): the window of each item."""
    gold: Tensor
    """(golds,): the item of each gold; an item stands here once per gold."""
    gold_type: Tensor
    """(golds,): its type."""
    excluded: Tensor
    """(pairs,): items that are no negatives of a type: all its golds, also those that are not trained on."""
    excluded_type: Tensor
    """(pairs,): that type."""


def contrast(similarity: Tensor, anchor: Tensor | None, items: Items, windows: int) -> tuple[Tensor, Tensor]:
    """Entity losses (golds,) and threshold losses (windows, types).

    `similarity` is (items, types), `anchor` (windows, types). Without an anchor, golds compete with negatives
    only, and there is no threshold loss: it is 0.
    """
    rivals = _rivals(similarity, anchor, items, windows)
    gold = similarity[items.gold, items.gold_type]
    entity = functional.softplus(rivals[items.window[items.gold], items.gold_type] - gold)
    return entity, rivals.new_zeros(()) if anchor is None else rivals - anchor


def _rivals(similarity: Tensor, anchor: Tensor | None, items: Items, windows: int) -> Tensor:
    """(windows, types): log of the summed exponentials of the anchor and all negatives."""
    infinity = torch.tensor(float("-inf"), dtype=similarity.dtype, device=similarity.device)
    negatives = similarity.index_put((items.excluded, items.excluded_type), infinity)
    lowest = similarity.new_full((windows, similarity.shape[1]), torch.finfo(similarity.dtype).min)
    start = lowest if anchor is None else anchor.detach().expand_as(lowest)
    # The largest of each sum is taken out, so that no exponential overflows.
    index = items.window[:, None].expand_as(negatives)
    largest = start.scatter_reduce(0, index, negatives.detach(), "amax")
    total = torch.zeros_like(largest) if anchor is None else (anchor - largest).exp()
    total = total.index_add(0, items.window, (negatives - largest[items.window]).exp())
    # Without an anchor a type may have no rival at all: then nothing is lost, and nothing divided by 0.
    return largest + total.clamp_min(torch.finfo(total.dtype).tiny).log()
