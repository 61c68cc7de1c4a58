"""Which windows go together: batches of similar length, in an order that seed and epoch decide."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Integers

_POOL_BATCHES = 40
"""Windows of this many batches are sorted by length together: little padding, enough mixing."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """The windows of one corpus, and how many of them an epoch trains on."""

    positions: Integers
    count: int
    """More than there are windows means that some, or all, come several times."""

    def drawn(self, generator: np.random.Generator) -> Integers:
        """The windows of an epoch in random order; none comes once more before all have come."""
        rounds = -(-self.count // max(1, len(self.positions)))
        orders = [generator.permutation(self.positions) for _ in range(rounds)]
        return np.concatenate([self.positions[:0], *orders])[: self.count]


def training_order(
    lengths: Integers,
    portions: Sequence[Portion] = (),
    *,
    seed: int,
    epoch: int,
    windows: int,
    pieces: int,
) -> list[Integers]:
    """Batches of window positions: a pure function of its arguments.

    A batch has windows of one portion, at most `windows` and, padded, at most `pieces` pieces. Without
    portions an epoch has all windows once.
    """
    portions = portions or (Portion(np.arange(len(lengths)), len(lengths)),)
    generator = np.random.default_rng((seed, epoch))
    pool = windows * _POOL_BATCHES
    batches = [
        batch
        for portion in portions
        for shuffled in (portion.drawn(generator),)
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


def with_least_work(lengths: Integers, *, windows: int, pieces: int, overhead: int) -> Iterator[Integers]:
    """Cut all positions, longest window first, into batches within both limits, so that they cost least.

    A batch costs its padded pieces, and `overhead` pieces for being one. So few windows of differing lengths
    come one by one, and many of a length come together.
    """
    ordered = np.argsort(-lengths, kind="stable")
    # For the first windows, however many: the least work, and how many of them then are the last batch.
    work = np.zeros(len(ordered) + 1)
    last = np.zeros(len(ordered) + 1, dtype=np.int64)
    for end in range(1, len(ordered) + 1):
        counts = np.arange(1, min(windows, end) + 1)
        padded = counts * lengths[ordered[end - counts]]
        fits = (padded <= pieces) | (counts == 1)
        sums = np.where(fits, work[end - counts] + padded + overhead, np.inf)
        last[end] = counts[sums.argmin()]
        work[end] = sums.min()
    ends = [len(ordered)]
    while ends[-1]:
        ends.append(ends[-1] - last[ends[-1]])
    ends.reverse()
    for start, end in itertools.pairwise(ends):
        yield ordered[start:end]
