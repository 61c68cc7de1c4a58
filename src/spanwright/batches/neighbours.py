"""Spans whose borders are near those of entities: smoothing gives to them, and sampling keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from spanwright.batches.batch import Batch, Spans


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The places around the mentions that their window shows whole."""

    mention: Tensor
    """(mentions,): positions in the batch's mentions."""
    first: Tensor
    """(mentions, places): packed first word of each place."""
    last: Tensor
    """(mentions, places): packed last word."""
    legal: Tensor
    """(mentions, places): False where the window ends, or the last word would stand before the first."""
    distance: Tensor
    """(places,): words between the first words, plus words between the last words; at least 1."""

    @classmethod
    def of(cls, batch: Batch, distance: int) -> Neighbours:
        """All places up to a distance, but not that of the mention itself."""
        mentions = batch.mentions
        whole = (mentions.starts & mentions.ends).nonzero().squeeze(1)
        moves = _moves(distance, whole.device)
        first = mentions.first[whole, None] + moves[:, 0]
        last = mentions.last[whole, None] + moves[:, 1]
        behind = batch.word_counts.cumsum(0)
        window = mentions.window[whole]
        legal = (first <= last) & (first >= (behind - batch.word_counts)[window, None])
        legal &= last < behind[window, None]
        return cls(whole, first, last, legal, moves.abs().sum(1))


def near_golds(batch: Batch, distance: int) -> Tensor:
    """(spans,): True for golds, and for candidates up to a distance from a mention."""
    near = torch.zeros(len(batch.spans), dtype=torch.bool, device=batch.spans.first.device)
    near[batch.golds.span] = True
    if distance:
        places = Neighbours.of(batch, distance)
        position, found = positions(batch.spans, places.first[places.legal], places.last[places.legal])
        near[position[found]] = True
    return near


def positions(spans: Spans, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Positions of spans, given by their words, in the candidate list, and which of them are in it."""
    if not len(spans):
        return torch.zeros_like(first), torch.zeros_like(first, dtype=torch.bool)
    # One number per span: no two have the same as long as the stride is beyond all last words.
    stride = int(max(spans.last.max(), last.max() if len(last) else 0)) + 2
    known, order = (spans.first * stride + spans.last).sort()
    asked = first * stride + last
    place = torch.searchsorted(known, asked).clamp(max=len(known) - 1)
    return order[place], known[place] == asked


def _moves(distance: int, device: torch.device) -> Tensor:
    """(places, 2): how far first and last words move, in all ways up to a distance but standing still."""
    reach = range(-distance, distance + 1)
    moves = [(first, last) for first, last in product(reach, reach) if 0 < abs(first) + abs(last) <= distance]
    return torch.tensor(moves, device=device).reshape(-1, 2)
