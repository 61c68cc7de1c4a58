"""Finding names in a sequence of atoms: two engines that give the same answers in the same order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate
from typing import Protocol

Found = tuple[int, int, int]
"""First atom, end atom (half open) and number of the name."""


class NameSearch(Protocol):
    """Finds all names, also within and across each other: by first atom, the longest first."""

    def find(self, atoms: Sequence[str]) -> Iterator[Found]:
        """Every occurrence of every name."""
        ...


SearchMaker = Callable[[Sequence[str]], NameSearch]
"""Makes an engine from names: distinct, each written as its atoms with a blank between them."""


def fastest(names: Sequence[str]) -> NameSearch:
    """The automaton where its package is installed, else the index."""
    return Automaton(names) if find_spec("ahocorasick_rs") else WordIndex(names)


class WordIndex:
    """The lengths of the names by their first atoms, and the names: needs no package."""

    def __init__(self, names: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}
        lengths: dict[str, set[int]] = {}
        for name in names:
            lengths.setdefault(name.partition(" ")[0], set()).add(name.count(" ") + 1)
        # Few different tuples are needed, and each is kept once.
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._lengths = {
            first: shared.setdefault(longest_first, longest_first)
            for first, found in lengths.items()
            for longest_first in [tuple(sorted(found, reverse=True))]
        }

    def find(self, atoms: Sequence[str]) -> Iterator[Found]:
        """Every occurrence of every name: by first atom, the longest first."""
        lengths_of, number_of = self._lengths.get, self._numbers.get
        for first, atom in enumerate(atoms):
            for length in lengths_of(atom, ()):
                end = first + length
                number = number_of(" ".join(atoms[first:end])) if end <= len(atoms) else None
                if number is not None:
                    yield first, end, number


class Automaton:
    """An Aho-Corasick automaton over the atoms with blanks around them."""

    def __init__(self, names: Sequence[str]) -> None:
        from ahocorasick_rs import AhoCorasick

        self._automaton = AhoCorasick((f" {name} " for name in names), store_patterns=False)

    def find(self, atoms: Sequence[str]) -> Iterator[Found]:
        """Every occurrence of every name: by first atom, the longest first."""
        text = f" {' '.join(atoms)} "
        # Where the blank before each atom is, and the last one.
        blanks = list(accumulate((len(atom) + 1 for atom in atoms), initial=0))
        matches = self._automaton.find_matches_as_indexes(text, overlapping=True)
        matches.sort(key=lambda match: (match[1], -match[2]))
        for number, start, end in matches:
            yield bisect_left(blanks, start), bisect_left(blanks, end - 1), number
