"""Batches of windows: each window once, within the limits, decided by seed and epoch alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanwright.batches.order import by_length, training_order

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
