"""Which ranges of one side share characters with ranges of the other, in `n log n` however they nest."""

from __future__ import annotations

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.evaluation.columns import Columns, Ranges

_NEAREST = 64


def overlapped(queries: Columns, others: Columns, length: int, *, same_type: bool) -> Booleans:
    """Whether each entity shares a character with an entity of the other side, `(entities,)`.

    `length` is that of the running text; `same_type` asks for one of the same type.
    """
    mine, theirs = _apart(queries, length, same_type), _apart(others, length, same_type)
    touched = _touched(mine, theirs)
    return np.bincount(mine.owner, touched, len(queries.entities)) > 0


def partners(
    queries: Columns, others: Columns, length: int, *, same_type: bool, chosen: Booleans
) -> Integers:
    """The overlapping entity of the other side that differs in the fewest characters: `(entities,)`.

    -1 stands for none, and for entities that are not `chosen`. Where more than 64 entities begin just
    before the end of a range, only those and the one that reaches furthest are compared, so that thousands
    of entities in one place stay cheap. Of a discontinuous entity, the range that fits best counts.
    """
    mine, theirs = _apart(queries, length, same_type), _apart(others, length, same_type)
    wanted = chosen[mine.owner]
    mine = Ranges(mine.owner[wanted], mine.start[wanted], mine.end[wanted])
    nearest, difference = _nearest(mine, theirs)
    best = np.full(len(queries.entities), -1, np.int64)
    # Later assignments win, so the range that fits best comes last.
    order = np.lexsort((-difference, mine.owner))
    order = order[nearest[order] >= 0]
    best[mine.owner[order]] = theirs.owner[nearest[order]]
    return best


def _apart(side: Columns, length: int, same_type: bool) -> Ranges:
    """Ranges that hold characters, those of each type in a copy of the running text of its own."""
    ranges = side.ranges
    shift = side.type[ranges.owner] * length if same_type else np.zeros_like(ranges.start)
    filled = ranges.end > ranges.start
    return Ranges(*(column[filled] for column in (ranges.owner, ranges.start + shift, ranges.end + shift)))


def _touched(queries: Ranges, others: Ranges) -> Booleans:
    """Whether each range shares a character with another: more of them have begun than have ended."""
    begun = np.searchsorted(np.sort(others.start), queries.end, side="left")
    ended = np.searchsorted(np.sort(others.end), queries.start, side="right")
    return begun > ended


def _nearest(queries: Ranges, others: Ranges) -> tuple[Integers, Integers]:
    """The overlapping range that differs in the fewest characters, -1 for none, and in how many.

    Both `(queries,)`.
    """
    best = np.full(len(queries.start), -1, np.int64)
    fewest = np.full(len(queries.start), np.iinfo(np.int64).max)
    if not len(others.start):
        return best, fewest
    order = np.argsort(others.start, kind="stable")
    start, end = others.start[order], others.end[order]
    # Those that begin before a query ends are a run from the left, up to `stop`. Those before `first` all
    # end before the query starts.
    stop = np.searchsorted(start, queries.end, side="left")
    reach = np.maximum.accumulate(end)
    first = np.searchsorted(reach, queries.start, side="right")
    furthest = np.searchsorted(reach, reach[stop - 1], side="left")

    def consider(query: Integers, candidate: Integers) -> None:
        begins, ends = start[candidate], end[candidate]
        difference = np.abs(queries.start[query] - begins) + np.abs(queries.end[query] - ends)
        better = (ends > queries.start[query]) & (difference < fewest[query])
        best[query[better]] = order[candidate[better]]
        fewest[query[better]] = difference[better]

    active = np.flatnonzero(stop > first)
    consider(active, furthest[active])
    for back in range(1, _NEAREST + 1):
        active = active[stop[active] - back >= first[active]]
        if not len(active):
            break
        consider(active, stop[active] - back)
    return best, fewest
