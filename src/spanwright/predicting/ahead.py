"""Work that several threads do at once, with results in the order of the items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def results_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """What a function makes of each item, in order; at most `threads` items are worked on ahead.

    Several threads are of use only if the function leaves Python for most of its time.
    """
    rest = iter(items)
    begun = list(islice(rest, 2))
    if threads == 1 or len(begun) < 2:  # threads would cost more than they bring
        yield from map(function, chain(begun, rest))
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in chain(begun, rest):
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
