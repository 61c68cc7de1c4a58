"""Texts that are nearly the same: an index of word shingles.

A shingle is a run of four words without case and punctuation, so tokenisation does not matter, and one
changed word changes four shingles of the text. Two measures compare the shingles of two texts: *containment*,
the share of the smaller set that the larger one has too (a text without its title is wholly contained in the
text with it), and *resemblance*, the share of both together that they have in common (Jaccard).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Scripts without blanks between words give one word per character, as in `spanwright.text.words`.
_UNSPACED = "\u2e80-\u30ff\u31f0-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
# Shingles of more texts than this are phrases of the trade, and following them would cost quadratic time.
_COMMON = 32
# A pair worth comparing in full shares at least this many shingles that are not common.
_FEWEST_SHARED = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are."""

    containment: float
    resemblance: float
    shingles: int
    """How many the smaller text has."""


def shingles(text: str) -> frozenset[int]:
    """The hashes of the runs of four words of a text; their values hold within one process only."""
    words = _WORD.findall(text.casefold())
    return frozenset(map(hash, zip(words, words[1:], words[2:], words[3:], strict=False)))


def likeness(left: frozenset[int], right: frozenset[int]) -> Likeness:
    """Containment and resemblance of two sets of shingles; 0 where one is empty."""
    smaller = min(len(left), len(right))
    if not smaller:
        return Likeness(0.0, 0.0, 0)
    shared = len(left & right)
    return Likeness(shared / smaller, shared / (len(left) + len(right) - shared), smaller)


def containment(left: str, right: str) -> float:
    """Containment of two texts."""
    return likeness(shingles(left), shingles(right)).containment


class NearTexts:
    """Finds the texts of a collection that contain nearly all of another text, or are contained in it.

    Near means: at least `containment` of the shingles of the smaller text, which has at least `fewest` of
    them. Texts too short for that are never near anything.
    """

    def __init__(self, texts: Iterable[str], *, containment: float, fewest: int) -> None:
        self._containment = containment
        self._fewest = fewest
        self._sets: list[frozenset[int]] = []
        self._places: defaultdict[int, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            found = shingles(text)
            self._sets.append(found)
            if len(found) >= fewest:
                for shingle in found:
                    self._places[shingle].append(place)

    def find(self, text: str) -> Iterator[tuple[int, Likeness]]:
        """Yield the places of the texts that are near, in order, and how near they are."""
        wanted = shingles(text)
        if len(wanted) < self._fewest:
            return
        shared: Counter[int] = Counter()
        for shingle in wanted:
            places = self._places.get(shingle, ())
            if len(places) <= _COMMON:
                shared.update(places)
        for place in sorted(place for place, count in shared.items() if count >= _FEWEST_SHARED):
            found = likeness(wanted, self._sets[place])
            if found.containment >= self._containment:
                yield place, found
