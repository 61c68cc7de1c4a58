from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from spanwright.predicting.ahead import results_in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_results_come_in_the_order_of_the_items(threads: int, count: int) -> None:
    assert list(results_in_order(lambda item: item * item, range(count), threads)) == [
        item * item for item in range(count)
    ]


def test_threads_work_at_once_and_read_only_as_far_ahead_as_they_are_many() -> None:
    together, read = threading.Barrier(2, timeout=60), 0

    def items() -> Iterator[int]:
        nonlocal read
        for item in range(8):
            read += 1
            yield item

    def meet(item: int) -> int:
        together.wait()
        return item

    found = results_in_order(meet, items(), 2)
    assert next(found) == 0
    assert read <= 3
    assert list(found) == list(range(1, 8))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_an_item_comes_in_its_place(threads: int) -> None:
    found = results_in_order(lambda item: 6 // item, [3, 2, 0, 1], threads)
    assert [next(found), next(found)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(found)
