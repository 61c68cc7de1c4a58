"""Decoding: which of the predicted spans of a document become its entities.

- `nested` keeps them all.
- `flat` keeps the most confident of any two that share a word.
- `non-crossing` keeps the most confident of any two that overlap without one lying inside the other.

The rule is greedy: take predictions from the most to the least confident and keep each that conflicts with
none kept before. It is computed in rounds over all spans at once: a span that beats every span it conflicts
with is kept, those that conflict with a kept one are dropped, and the rest goes into the next round.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Decoding = Literal["nested", "flat", "non-crossing"]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def decode(
    first: Integers, last: Integers, type: Integers, confidence: npt.NDArray[np.float64], rule: Decoding
) -> Integers:
    """Positions of the predictions to keep, in order of their first word and width.

    `first` and `last` are words of one document (inclusive). Ties in confidence are broken by the longer
    span, then the leftmost, then the lower type id, so that the order of predictions does not matter.
    """
    reading_order = np.lexsort((type, last, first))
    if rule == "nested" or len(first) < 2:
        return reading_order
    by_rank = np.lexsort((type, first, first - last, -confidence))
    start = first[by_rank] - first.min()
    end = last[by_rank] - first.min()
    kept = np.zeros(len(first), dtype=bool)
    kept[by_rank] = _greedy(start, end, rule)
    return reading_order[kept[reading_order]]


def _greedy(first: Integers, last: Integers, rule: Decoding) -> Booleans:
    """Mask of the spans kept; spans are given from the most to the least confident."""
    kept = np.zeros(len(first), dtype=bool)
    alive = np.arange(len(first))
    best_conflict = _best_overlapping if rule == "flat" else _best_crossing
    while len(alive):
        spans = first[alive], last[alive]
        everyone = np.arange(len(alive))
        winners = best_conflict(*spans, everyone) >= everyone
        kept[alive[winners]] = True
        ranks = np.where(winners, everyone, len(alive))
        beaten = best_conflict(*spans, ranks) < len(alive)
        # A span is no conflict of its own, so a winner leaves by being a winner.
        alive = alive[~(winners | beaten)]
    return kept


def _best_overlapping(first: Integers, last: Integers, ranks: Integers) -> Integers:
    """The lowest of `ranks` among the spans that share a word with each span, itself included."""
    nobody = len(ranks)
    best = np.full(int(last.max()) + 1, nobody)
    widths = last - first + 1
    for offset in range(int(widths.max())):
        reaching = widths > offset
        np.minimum.at(best, first[reaching] + offset, ranks[reaching])
    lowest = np.full(len(first), nobody)
    for offset in range(int(widths.max())):
        reaching = widths > offset
        lowest[reaching] = np.minimum(lowest[reaching], best[first[reaching] + offset])
    return lowest


def _best_crossing(first: Integers, last: Integers, ranks: Integers) -> Integers:
    """The lowest of `ranks` among the spans that cross each span (overlap, and neither is inside)."""
    widths = last - first + 1
    widest = int(widths.max())
    words = int(last.max()) + 1
    starting_here = _wider_than(first, widths, ranks, words, widest)
    ending_here = _wider_than(last, widths, ranks, words, widest)
    lowest = np.full(len(first), len(ranks))
    for offset in range(1, widest):
        # Spans that start `offset` words into this one and end behind it ...
        inside = widths > offset
        right = starting_here[first[inside] + offset, widths[inside] - offset]
        # ... and spans that end `offset` words before its last word and start before it.
        left = ending_here[last[inside] - offset, widths[inside] - offset]
        lowest[inside] = np.minimum(lowest[inside], np.minimum(right, left))
    return lowest


def _wider_than(place: Integers, widths: Integers, ranks: Integers, words: int, widest: int) -> Integers:
    """(words, widest + 1): the lowest rank of the spans at a place that have more than w words."""
    table = np.full((words, widest + 1), len(ranks))
    np.minimum.at(table, (place, widths - 1), ranks)
    return np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
