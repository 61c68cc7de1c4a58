"""Boundary smoothing (Zhu and Li, 2022): spans near an entity are a little of its type.

An entity gives `smoothing / (4 d D)` to each span whose first and last word are, taken together, d words away
from its own, for d = 1 .. D. A place holds 4 d such spans, unless the text or the order of the two words
forbids some: what those would get stays with the entity.
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from spanwright.batches.batch import Batch, Spans


def smoothed_targets(batch: Batch, classes: int, *, smoothing: float, distance: int) -> Tensor:
    """(spans, classes): the probability of each class, the first of which is no entity.

    What several entities give to a span adds up; a type has at most 1, and types that sum up to more share 1.
    Entities that are no candidates, such as too wide ones, give to candidates all the same, and what is given
    to spans that are no candidates is in no loss.
    """
    mentions = batch.mentions
    whole = mentions.starts & mentions.ends
    window, first, last, type_ = (
        column[whole] for column in (mentions.window, mentions.first, mentions.last, mentions.type)
    )
    near = _neighbourhood(distance, first.device)
    begin, finish = first[:, None] + near[:, 0], last[:, None] + near[:, 1]
    behind = batch.word_counts.cumsum(0)
    legal = (begin <= finish) & (begin >= (behind - batch.word_counts)[window, None])
    legal &= finish < behind[window, None]
    given = legal * smoothing / (4 * near.abs().sum(1) * distance)
    # The entity itself stands in front of its neighbours.
    mass = torch.cat([1 - given.sum(1, keepdim=True), given], dim=1).flatten()
    places = torch.cat([first[:, None], begin], 1).flatten(), torch.cat([last[:, None], finish], 1).flatten()
    span, found = _positions(batch.spans, *places)
    kept = found & (mass > 0)
    class_ = type_.repeat_interleave(1 + len(near)) + 1
    targets = mass.new_zeros(len(batch.spans), classes)
    targets.index_put_((span[kept], class_[kept]), mass[kept], accumulate=True)
    targets.clamp_(max=1)
    targets /= targets.sum(dim=1, keepdim=True).clamp(min=1)
    targets[:, 0] = 1 - targets.sum(dim=1)
    return targets


def _neighbourhood(distance: int, device: torch.device) -> Tensor:
    """(neighbours, 2): how far first and last words move, in all ways up to a distance but standing still."""
    reach = range(-distance, distance + 1)
    moves = [(first, last) for first, last in product(reach, reach) if 0 < abs(first) + abs(last) <= distance]
    return torch.tensor(moves, device=device)


def _positions(spans: Spans, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Positions of spans, given by their words, in the candidate list, and which of them are in it."""
    if not len(spans):
        return torch.zeros_like(first), torch.zeros_like(first, dtype=torch.bool)
    # One number per span: no two have the same as long as the stride is beyond all last words.
    stride = int(max(spans.last.max(), last.max() if len(last) else 0)) + 2
    known, order = (spans.first * stride + spans.last).sort()
    asked = first * stride + last
    place = torch.searchsorted(known, asked).clamp(max=len(known) - 1)
    return order[place], known[place] == asked
