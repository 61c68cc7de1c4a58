"""Decoding: which of the predicted spans of a document become its entities.

- `nested` keeps them all.
- `flat` keeps the higher ranked of any two that share a word.
- `non-crossing` keeps the higher ranked of any two that overlap without one lying inside the other.

The rule is greedy: take predictions from the highest to the lowest rank and keep each that conflicts with
none kept before. What is kept is noted by word, so a span costs its width, however many there are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.settings.settings import Decoding

_RUN = 8192
"""Predictions that are decoded together, if there is a place to cut after them."""
_LOOKED_AT = 4096
"""Spans that are Python's numbers at a time: these take five times the memory of an array's."""


def decode_in_runs(
    first: Integers, last: Integers, type: Integers, rank: Floats, rule: Decoding
) -> Iterator[Integers]:
    """What `decode` gives, in parts: runs of predictions of which none conflicts with one of another run.

    Predictions of one span stay together. Where each overlaps the next over a whole document, a run is as
    long as that.
    """
    order = np.argsort(first, kind="stable")
    begins = first[order]
    reach = begins if rule == "nested" else np.maximum.accumulate(last[order])
    cuts = np.append(np.flatnonzero(begins[1:] > reach[:-1]) + 1, len(order))
    begin = 0
    while begin < len(order):
        end = int(cuts[np.searchsorted(cuts, min(begin + _RUN, len(order)))])
        run = order[begin:end]
        yield run[decode(first[run], last[run], type[run], rank[run], rule)]
        begin = end


def decode(first: Integers, last: Integers, type: Integers, rank: Floats, rule: Decoding) -> Integers:
    """Positions of the predictions to keep, in order of their first word and width.

    `first` and `last` are words of one document (inclusive). Ties in rank are broken by the longer
    span, then the leftmost, then the lower type id, so that the order of predictions does not matter.
    """
    reading_order = np.lexsort((type, last, first))
    if rule == "nested" or len(first) < 2:
        return reading_order
    by_rank = np.lexsort((type, first, first - last, -rank))
    keep = _keep_disjoint if rule == "flat" else _keep_non_crossing
    start, end = first[by_rank] - first.min(), last[by_rank] - first.min()
    kept = np.zeros(len(first), dtype=bool)
    kept[by_rank] = np.frombuffer(keep(start, end), dtype=bool)
    return reading_order[kept[reading_order]]


def _keep_disjoint(first: Integers, last: Integers) -> bytearray:
    """Which spans are kept; spans are given from the highest to the lowest rank."""
    kept = bytearray()
    taken = bytearray(int(last.max()) + 1)
    for start, end in _pairs(first, last):
        free = taken.find(1, start, end + 1) < 0
        if free:
            taken[start : end + 1] = b"\x01" * (end + 1 - start)
        kept.append(free)
    return kept


def _keep_non_crossing(first: Integers, last: Integers) -> bytearray:
    """Which spans are kept; spans are given from the highest to the lowest rank."""
    kept = bytearray()
    words = int(last.max()) + 1
    furthest_end = array("q", [-1]) * words  # of the kept spans that start at a word
    earliest_start = array("q", [words]) * words  # of the kept spans that end at a word
    for start, end in _pairs(first, last):
        free = (
            max(furthest_end[start + 1 : end + 1], default=-1) <= end
            and min(earliest_start[start:end], default=words) >= start
        )
        if free:
            furthest_end[start] = max(furthest_end[start], end)
            earliest_start[end] = min(earliest_start[end], start)
        kept.append(free)
    return kept


def _pairs(first: Integers, last: Integers) -> Iterator[tuple[int, int]]:
    for begin in range(0, len(first), _LOOKED_AT):
        part = slice(begin, begin + _LOOKED_AT)
        yield from zip(first[part].tolist(), last[part].tolist(), strict=True)
