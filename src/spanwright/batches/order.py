"""Which windows go together: batches of similar length, in an order that seed and epoch decide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spanwright.batches.pieces import Integers

_POOL_BATCHES = 40
"""Windows of this many batches are sorted by length together: little padding, enough mixing."""


def training_order(lengths: Integers, *, seed: int, epoch: int, windows: int, pieces: int) -> list[Integers]:
    """Batches of window positions: a pure function of its arguments.

    A batch has at most `windows` windows and, padded, at most `pieces` pieces.
    """
    generator = np.random.default_rng((seed, epoch))
    shuffled = generator.permutation(len(lengths))
    pool = windows * _POOL_BATCHES
    batches = [
        batch
        for start in range(0, len(shuffled), pool)
        for batch in by_length(lengths, shuffled[start : start + pool], windows=windows, pieces=pieces)
    ]
    return [batches[position] for position in generator.permutation(len(batches))]


def by_length(lengths: Integers, positions: Integers, *, windows: int, pieces: int) -> Iterator[Integers]:
    """Cut positions, longest window first, into batches within both limits."""
    ordered = positions[np.argsort(-lengths[positions], kind="stable")]
    start = 0
    while start < len(ordered):
        # The first window is the longest, so it decides the padded length of its batch.
        fitting = max(1, min(windows, pieces // int(lengths[ordered[start]])))
        yield ordered[start : start + fitting]
        start += fitting
