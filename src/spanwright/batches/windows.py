"""Windows: runs of words that fit the encoder, overlapping their neighbours.

Every span up to the width limit is owned by exactly one window, the one in which it has most context. Of
two neighbours, the left one gives a span `[i, j)` the right context `left.end - j`, the right one gives it
the left context `i - right.first`; the left one is at least as good when `i + j <= right.first + left.end`.
So a window owns the spans whose `i + j` lies between the sums it shares with its two neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.errors import SettingsError

NO_LOWER_BOUND = -1
NO_UPPER_BOUND = 2**62


@dataclass(frozen=True, slots=True)
class Window:
    """Words `[first, end)` of a document, owner of the spans `[i, j)` with `own_above < i + j <= own_to`."""

    document: int
    """Position of the document in the list that the window was made from."""
    first: int
    end: int
    own_above: int = NO_LOWER_BOUND
    own_to: int = NO_UPPER_BOUND

    def owns(self, first: Integers, last: Integers) -> Booleans:
        """Mask of the spans, given by first and last word (inclusive) in the document, that it owns."""
        sums = first + last + 1
        inside = (first >= self.first) & (last < self.end)
        return inside & (sums > self.own_above) & (sums <= self.own_to)


def fit_counts(counts: Integers, width_limit: int, capacity: int) -> Integers:
    """Piece counts with which every run of `width_limit` words fills at most half a window.

    Only words that make such a run too long (a DNA sequence, a base64 string) are shortened.
    """
    if 2 * width_limit > capacity:
        raise SettingsError(
            f"spans of {width_limit} words do not fit windows of {capacity} pieces; expected widths up to "
            f"{capacity // 2} words: lower candidates.width_limit or raise windows.pieces"
        )
    fitted = counts.copy()
    longest = capacity // 2
    while (crowded := _words_of_long_runs(fitted, width_limit, capacity // 2)).any():
        fitted[crowded] = np.minimum(fitted[crowded], longest)
        longest = max(1, longest // 2)
    return fitted


def _words_of_long_runs(counts: Integers, width: int, limit: int) -> Booleans:
    """Mask of the words that stand in a run of `width` words with more than `limit` pieces."""
    sums = np.concatenate([[0], np.cumsum(counts)])
    starts = np.arange(len(counts))
    too_long = sums[np.minimum(starts + width, len(counts))] - sums[starts] > limit
    reach = np.zeros(len(counts) + 1, dtype=np.int64)
    np.add.at(reach, starts[too_long], 1)
    np.add.at(reach, np.minimum(starts[too_long] + width, len(counts)), -1)
    return np.cumsum(reach[:-1]) > 0


def cut_windows(
    document: int, counts: Integers, segments: Iterable[tuple[int, int]], *, capacity: int, overlap: int
) -> Iterator[Window]:
    """The windows of a document.

    `counts` are fitted piece counts of its words, `segments` the word ranges that no window leaves
    (sentences, or the whole document), `overlap` the words that neighbours share, at least the width limit.
    """
    sums = np.concatenate([[0], np.cumsum(counts)])
    for segment_first, segment_end in segments:
        first, own_above = segment_first, NO_LOWER_BOUND
        while first < segment_end:
            end = _furthest(sums, first, capacity, segment_end)
            if end == segment_end:
                yield Window(document, first, end, own_above)
                break
            next_first = max(end - overlap, _earliest(sums, end, capacity // 2))
            yield Window(document, first, end, own_above, next_first + end)
            first, own_above = next_first, next_first + end


def _furthest(sums: Integers, first: int, capacity: int, limit: int) -> int:
    """The largest end with at most `capacity` pieces in `[first, end)`."""
    return min(limit, int(np.searchsorted(sums, sums[first] + capacity, side="right")) - 1)


def _earliest(sums: Integers, end: int, capacity: int) -> int:
    """The smallest start with at most `capacity` pieces in `[start, end)`."""
    return int(np.searchsorted(sums, sums[end] - capacity, side="left"))
