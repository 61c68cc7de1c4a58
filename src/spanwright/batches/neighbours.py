"""Spans whose borders are near those of entities: smoothing gives to them, and none of them is left out."""

from __future__ import annotations

from itertools import product

import numpy as np

from spanwright.batches.batch import Array, Mentions, Neighbours, Spans
from spanwright.batches.pieces import Integers


def find_neighbours(
    spans: Spans[Array], mentions: Mentions[Array], word_counts: Integers, distance: int
) -> Neighbours[Array]:
    """All places up to a distance from the mentions that their window (of `word_counts`) shows whole."""
    whole = np.flatnonzero(mentions.starts & mentions.ends)
    moves = _moves(distance)
    first = mentions.first[whole, None] + moves[:, 0]
    last = mentions.last[whole, None] + moves[:, 1]
    behind = np.cumsum(word_counts)
    window = mentions.window[whole]
    legal = (first <= last) & (first >= (behind - word_counts)[window, None]) & (last < behind[window, None])
    span, found = _positions(spans, first, last)
    candidate = found & legal
    return Neighbours(whole, np.abs(moves).sum(1), legal, candidate, span[candidate])


def _positions(spans: Spans[Array], first: Integers, last: Integers) -> tuple[Integers, Array]:
    """Positions of spans, given by their words, in the candidate list, and which of them are in it."""
    if not len(spans):
        return np.zeros_like(first), np.zeros_like(first, dtype=bool)
    # One number per span: no two have the same as long as the stride is beyond all last words. Candidates
    # stand in the order of their numbers.
    stride = int(max(spans.last.max(), last.max(initial=0))) + 2
    known, asked = spans.first * stride + spans.last, first * stride + last
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return place, known[place] == asked


def _moves(distance: int) -> Integers:
    """(places, 2): how far first and last words move in all ways up to a distance, standing still first."""
    reach = range(-distance, distance + 1)
    moves = [(first, last) for first, last in product(reach, reach) if 0 < abs(first) + abs(last) <= distance]
    return np.asarray([(0, 0), *moves], dtype=np.int64)
