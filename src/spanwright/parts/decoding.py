"""Decoding: which of the predicted spans of a document become its entities.

- `nested` keeps them all.
- `flat` keeps the higher ranked of any two that share a word.
- `non-crossing` keeps the higher ranked of any two that overlap without one lying inside the other.

The rule is greedy: take predictions from the highest to the lowest rank and keep each that conflicts with
none kept before. What is kept is noted by word, so a span costs its width, however many there are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spanwright.settings.settings import Decoding

Integers = npt.NDArray[np.int64]


def decode(
    first: Integers, last: Integers, type: Integers, rank: npt.NDArray[np.float64], rule: Decoding
) -> Integers:
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
    kept[by_rank] = keep(start.tolist(), end.tolist())
    return reading_order[kept[reading_order]]


def _keep_disjoint(first: list[int], last: list[int]) -> list[bool]:
    """Which spans are kept; spans are given from the highest to the lowest rank."""
    kept: list[bool] = []
    taken = bytearray(max(last) + 1)
    for start, end in zip(first, last, strict=True):
        free = taken.find(1, start, end + 1) < 0
        if free:
            taken[start : end + 1] = b"\x01" * (end + 1 - start)
        kept.append(free)
    return kept


def _keep_non_crossing(first: list[int], last: list[int]) -> list[bool]:
    """Which spans are kept; spans are given from the highest to the lowest rank."""
    kept: list[bool] = []
    words = max(last) + 1
    furthest_end = [-1] * words  # of the kept spans that start at a word
    earliest_start = [words] * words  # of the kept spans that end at a word
    for start, end in zip(first, last, strict=True):
        free = (
            max(furthest_end[start + 1 : end + 1], default=-1) <= end
            and min(earliest_start[start:end], default=words) >= start
        )
        if free:
            furthest_end[start] = max(furthest_end[start], end)
            earliest_start[end] = min(earliest_start[end], start)
        kept.append(free)
    return kept
