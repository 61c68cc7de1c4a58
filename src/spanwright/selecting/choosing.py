"""Choosing among texts: one after another, so that each is new beside those chosen before it.

Signals of different kinds are made comparable as ranks: the share of texts that have less of it. All of them
grow with a text, as there is more to learn from a longer one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from spanwright.arrays import Floats, Floats32
from spanwright.errors import InputError
from spanwright.selecting.signals import Signals
from spanwright.text import Document

InformedStrategy = Literal["mixed", "uncertainty", "disagreement", "novelty"]
Strategy = Literal[InformedStrategy, "random"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
NOVEL = ("mixed", "novelty")
"""The strategies that look at what is annotated or chosen."""
_COMMON = 0.25
"""A word in more than this share of the texts says nothing of one of them, new as it may be."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A text that was chosen."""

    place: int
    """Its position in the pool."""
    new_words: list[str] = field(default_factory=list)
    """Words of it that were not seen, as far as the strategy looks at them."""


def drawn(texts: Sequence[Document], count: int, seed: int) -> list[Document]:
    """Up to `count` texts at random."""
    places = np.random.default_rng(seed).permutation(len(texts))
    return [texts[place] for place in places[:count]]


def choose(
    pool: Sequence[Signals], known: Sequence[Signals], count: int, by: InformedStrategy
) -> list[Choice]:
    """Up to `count` texts in the order of their worth; `known` are annotated texts."""
    count = min(count, len(pool))
    fixed = _fixed_ranks(pool, by)
    if by not in NOVEL:
        return [Choice(int(place)) for place in np.argsort(-fixed, kind="stable")[:count]]
    novelty = Novelty(pool, known)
    left = np.ones(len(pool), bool)
    chosen: list[Choice] = []
    for _ in range(count):
        worth = np.where(left, fixed + novelty.ranks(), -np.inf)
        best = int(worth.argmax())
        left[best] = False
        chosen.append(Choice(best, novelty.new_words(best)))
        novelty.add(best)
    return chosen


def _fixed_ranks(pool: Sequence[Signals], by: InformedStrategy) -> Floats:
    """(texts,): the ranks that do not depend on what is chosen."""
    worth = np.zeros(len(pool))
    if by in ("mixed", "uncertainty"):
        worth += _ranks(np.array([each.mistakes for each in pool]))
    if by in ("mixed", "disagreement"):
        amounts = np.array([each.disagreement for each in pool])
        if by == "disagreement" and not amounts.any():
            raise InputError(
                "tagger and spans differ nowhere in these texts; choose by another strategy, "
                "such as --by mixed"
            )
        worth += _ranks(amounts)
    return worth


def _ranks(amounts: Floats) -> Floats:
    """(texts,): the share of texts that have less, which is the same for equal ones."""
    ordered = np.sort(amounts)
    shares: Floats = np.searchsorted(ordered, amounts, side="left") / max(1, len(amounts))
    return shares


class Novelty:
    """How new each text of a pool is beside what is annotated or chosen: in its words and its spans."""

    def __init__(self, pool: Sequence[Signals], known: Sequence[Signals]) -> None:
        self._pool = pool
        counts: Counter[str] = Counter(word for each in pool for word in each.words)
        # A new word is worth more if other texts have it, too: it is no slip.
        self._worth = {word: float(np.log1p(count)) for word, count in counts.items()}
        self._texts: defaultdict[str, list[int]] = defaultdict(list)
        for place, each in enumerate(pool):
            for word in each.words:
                self._texts[word].append(place)
        self._new_words = np.array([sum(self._worth[word] for word in each.words) for each in pool])
        self._owner = np.repeat(np.arange(len(pool)), [len(each.vectors) for each in pool])
        self._vectors = _stacked(pool)
        self._nearest: Floats = np.zeros(len(self._vectors))
        for each in known:
            self._see_words(each.words)
        self._see_vectors(_stacked(known))

    def ranks(self) -> Floats:
        """(texts,): the mean of the ranks by new words and by distance of spans from all seen ones."""
        distances = np.bincount(self._owner, weights=1 - self._nearest, minlength=len(self._pool))
        return (_ranks(self._new_words) + _ranks(distances.astype(np.float64))) / 2

    def add(self, place: int) -> None:
        """A text of the pool is chosen."""
        self._see_words(self._pool[place].words)
        self._see_vectors(self._pool[place].vectors)

    def new_words(self, place: int) -> list[str]:
        """The words of a text that were not seen, those of most texts first, and the commonest last."""
        new = [word for word in self._pool[place].words if word in self._texts]
        many = _COMMON * len(self._pool)
        return sorted(new, key=lambda word: (len(self._texts[word]) > many, -self._worth[word], word))

    def _see_words(self, words: frozenset[str]) -> None:
        for word in words & self._texts.keys():
            self._new_words[self._texts.pop(word)] -= self._worth[word]

    def _see_vectors(self, vectors: Floats32) -> None:
        if len(vectors) and len(self._vectors):
            cosines = self._vectors @ vectors.T
            self._nearest = np.maximum(self._nearest, cosines.max(1))


def _stacked(signals: Sequence[Signals]) -> Floats32:
    """(spans, size): the vectors of all texts."""
    rows = [each.vectors for each in signals if len(each.vectors)]
    return np.concatenate(rows) if rows else np.zeros((0, 0), np.float32)
