"""Batches of windows: each window once, within the limits, decided by seed and epoch alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanwright.batches.order import Portion, by_length, training_order, with_least_work

lengths = st.lists(st.integers(1, 50), max_size=60).map(lambda values: np.asarray(values, dtype=np.int64))
limits = st.fixed_dictionaries({"windows": st.integers(1, 9), "pieces": st.integers(1, 200)})


def lists(batches: list[np.ndarray]) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


@given(lengths, limits, st.integers(0, 3), st.integers(0, 3))
def test_every_window_is_in_exactly_one_batch(
    sizes: np.ndarray, limit: dict[str, int], seed: int, epoch: int
) -> None:
    batches = training_order(sizes, seed=seed, epoch=epoch, **limit)
    assert sorted(position for batch in lists(batches) for position in batch) == list(range(len(sizes)))


@given(lengths, limits)
def test_batches_respect_both_limits_unless_one_window_is_too_long_by_itself(
    sizes: np.ndarray, limit: dict[str, int]
) -> None:
    for batch in training_order(sizes, seed=1, epoch=1, **limit):
        padded = len(batch) * int(sizes[batch].max())
        assert 1 <= len(batch) <= limit["windows"]
        assert padded <= limit["pieces"] or len(batch) == 1


@given(lengths, limits)
def test_cutting_by_length_goes_from_the_longest_to_the_shortest(
    sizes: np.ndarray, limit: dict[str, int]
) -> None:
    batches = list(by_length(sizes, np.arange(len(sizes)), **limit))
    ordered = [int(sizes[position]) for batch in batches for position in batch]
    assert ordered == sorted(sizes.tolist(), reverse=True)


@given(lengths, limits, st.integers(0, 40))
def test_cutting_with_least_work_keeps_every_window_and_both_limits(
    sizes: np.ndarray, limit: dict[str, int], overhead: int
) -> None:
    batches = list(with_least_work(sizes, **limit, overhead=overhead))
    assert sorted(position for batch in lists(batches) for position in batch) == list(range(len(sizes)))
    ordered = [int(sizes[position]) for batch in batches for position in batch]
    assert ordered == sorted(sizes.tolist(), reverse=True)
    for batch in batches:
        assert len(batch) <= limit["windows"]
        assert len(batch) * int(sizes[batch].max()) <= limit["pieces"] or len(batch) == 1


def work(batches: Iterable[Sequence[int]], overhead: int) -> int:
    """Padded pieces and overhead of batches of lengths."""
    return sum(len(batch) * max(batch) + overhead for batch in batches)


@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=9),
    st.integers(1, 5),
    st.integers(20, 60),
    st.integers(0, 30),
)
def test_no_other_cut_of_the_sorted_windows_has_less_work(
    sizes: list[int], windows: int, pieces: int, overhead: int
) -> None:
    ordered = sorted(sizes, reverse=True)
    legal = []
    for borders in itertools.product((False, True), repeat=len(ordered) - 1):
        ends = [0, *(end for end, border in enumerate(borders, start=1) if border), len(ordered)]
        cut = [ordered[start:end] for start, end in itertools.pairwise(ends)]
        if all(len(batch) <= windows and len(batch) * batch[0] <= pieces for batch in cut):
            legal.append(work(cut, overhead))
    found = with_least_work(np.asarray(sizes), windows=windows, pieces=pieces, overhead=overhead)
    assert work([[sizes[position] for position in batch] for batch in found], overhead) == min(legal)


@given(lengths, limits)
def test_the_order_is_a_pure_function_of_seed_and_epoch(sizes: np.ndarray, limit: dict[str, int]) -> None:
    before = np.random.get_state()[1].tolist()
    first, second = (training_order(sizes, seed=3, epoch=2, **limit) for _ in range(2))
    assert lists(first) == lists(second)
    assert np.random.get_state()[1].tolist() == before


def test_another_seed_or_epoch_gives_another_order() -> None:
    sizes = np.arange(1, 101)
    orders = [
        lists(training_order(sizes, seed=seed, epoch=epoch, windows=4, pieces=400))
        for seed, epoch in ((1, 1), (1, 2), (2, 1))
    ]
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_windows_of_a_batch_have_similar_lengths() -> None:
    sizes = np.random.default_rng(0).integers(1, 500, 640)
    batches = training_order(sizes, seed=1, epoch=1, windows=16, pieces=8000)
    padded = sum(len(batch) * int(sizes[batch].max()) for batch in batches)
    assert padded < 1.1 * sizes.sum()


# Portions.

sizes_of_corpora = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 60)), min_size=1, max_size=4)


def portions_of(drawn: list[tuple[int, int]]) -> tuple[tuple[Portion, ...], np.ndarray]:
    """Portions of so many windows, of which so many come; and the portion of each window."""
    corpus = np.repeat(np.arange(len(drawn)), [size for size, _ in drawn])
    corpus = np.random.default_rng(0).permutation(corpus)
    made = [Portion(np.flatnonzero(corpus == n), count) for n, (_, count) in enumerate(drawn)]
    return tuple(made), corpus


def lengths_of(corpus: np.ndarray) -> np.ndarray:
    return np.random.default_rng(1).integers(1, 50, len(corpus))


@given(sizes_of_corpora, limits)
def test_a_batch_has_windows_of_one_portion_within_both_limits(
    drawn: list[tuple[int, int]], limit: dict[str, int]
) -> None:
    portions, corpus = portions_of(drawn)
    sizes = lengths_of(corpus)
    for batch in training_order(sizes, portions, seed=1, epoch=1, **limit):
        assert len(set(corpus[batch].tolist())) == 1
        assert 1 <= len(batch) <= limit["windows"]
        assert len(batch) * int(sizes[batch].max()) <= limit["pieces"] or len(batch) == 1


@given(sizes_of_corpora, limits, st.integers(0, 3))
def test_portions_give_as_many_windows_as_they_say_and_each_about_equally_often(
    drawn: list[tuple[int, int]], limit: dict[str, int], epoch: int
) -> None:
    portions, corpus = portions_of(drawn)
    batches = training_order(lengths_of(corpus), portions, seed=2, epoch=epoch, **limit)
    times = np.bincount(np.concatenate(batches), minlength=len(corpus))
    for portion in portions:
        own = times[portion.positions]
        assert own.sum() == portion.count
        assert own.max() - own.min() <= 1


@given(sizes_of_corpora, limits)
def test_portions_of_all_windows_give_each_exactly_once(
    drawn: list[tuple[int, int]], limit: dict[str, int]
) -> None:
    portions, corpus = portions_of([(size, size) for size, _ in drawn])
    batches = training_order(lengths_of(corpus), portions, seed=3, epoch=0, **limit)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(corpus)))


@given(sizes_of_corpora, limits)
def test_with_portions_the_order_is_a_pure_function_of_seed_and_epoch(
    drawn: list[tuple[int, int]], limit: dict[str, int]
) -> None:
    before = np.random.get_state()[1].tolist()
    orders = [
        lists(training_order(lengths_of(corpus), portions, seed=3, epoch=2, **limit))
        for _ in range(2)
        for portions, corpus in (portions_of(drawn),)
    ]
    assert orders[0] == orders[1]
    assert np.random.get_state()[1].tolist() == before


def test_portions_of_another_seed_or_epoch_come_in_another_order_with_other_windows() -> None:
    portions, corpus = portions_of([(50, 20), (30, 50)])
    orders = [
        training_order(lengths_of(corpus), portions, seed=seed, epoch=epoch, windows=4, pieces=400)
        for seed, epoch in ((1, 1), (1, 2), (2, 1))
    ]
    assert lists(orders[0]) != lists(orders[1]) != lists(orders[2]) != lists(orders[0])
    drawn = [sorted(np.concatenate(order).tolist()) for order in orders]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_batches_of_several_portions_are_mixed_over_the_epoch() -> None:
    portions, corpus = portions_of([(200, 200), (200, 200)])
    batches = training_order(lengths_of(corpus), portions, seed=1, epoch=1, windows=4, pieces=400)
    first_half = [int(corpus[batch[0]]) for batch in batches[: len(batches) // 2]]
    assert 0.3 < np.mean(first_half) < 0.7


@given(lengths, limits)
def test_without_portions_all_windows_are_one(sizes: np.ndarray, limit: dict[str, int]) -> None:
    everything = Portion(np.arange(len(sizes)), len(sizes))
    expected = training_order(sizes, (everything,), seed=1, epoch=1, **limit)
    assert lists(training_order(sizes, seed=1, epoch=1, **limit)) == lists(expected)
