"""A tree of mentions, to find millions of them in a running text without a loop over words.

A mention of `n` words is a node at depth `n`. Texts are walked down all at once, one word per step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.evaluation.running_text import RunningText


@dataclass(frozen=True, slots=True, eq=False)
class MentionTree:
    """The edges of each depth, sorted; the node that an edge leads to has the edge's position."""

    depths: tuple[Integers, ...]
    first_number: Integers
    """Mentions are numbered through all depths: where each depth begins, and their sum, `(depths + 1,)`."""

    def down(self, depth: int, node: Integers, word: Integers) -> tuple[Integers, Booleans]:
        """The nodes one word further, and whether there are such: `(walks,)` each."""
        edges, wanted = self.depths[depth], _edges(node, word)
        place = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
        return place, edges[place] == wanted


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Where mentions stand in a text; every array is `(occurrences,)`."""

    mention: Integers
    first: Integers
    """The first word."""
    width: Integers
    """The number of words."""


def grow_tree(words: Integers, first: Integers, width: Integers) -> tuple[MentionTree, Integers]:
    """The tree of runs of words, and the number of each run's mention, -1 if one of its words is unknown.

    `words` are numbers in a vocabulary, `(words,)`; runs begin at `first` and are `width` long.
    """
    depths: list[Integers] = []
    first_number = [0]
    numbers, node = np.full(len(first), -1, np.int64), np.zeros(len(first), np.int64)
    unknown_before = np.concatenate(([0], np.cumsum(words < 0)))
    walking = np.flatnonzero((width > 0) & (unknown_before[first + width] == unknown_before[first]))
    while len(walking):
        depth = len(depths)
        edges, node[walking] = np.unique(
            _edges(node[walking], words[first[walking] + depth]), return_inverse=True
        )
        # A longer run overwrites this at its next step.
        numbers[walking] = first_number[depth] + node[walking]
        depths.append(edges)
        first_number.append(first_number[depth] + len(edges))
        walking = walking[width[walking] > depth + 1]
    return MentionTree(tuple(depths), np.array(first_number)), numbers


def find_mentions(tree: MentionTree, words: Integers, first: Integers, width: Integers) -> Integers:
    """The number of the mention that each run of words is, -1 if the tree lacks it: `(runs,)`."""
    numbers, node = np.full(len(first), -1, np.int64), np.zeros(len(first), np.int64)
    walking = np.flatnonzero((width > 0) & (width <= len(tree.depths)))
    for depth in range(len(tree.depths)):
        walking = walking[width[walking] > depth]
        node[walking], found = tree.down(depth, node[walking], words[first[walking] + depth])
        walking = walking[found]
        arrived = walking[width[walking] == depth + 1]
        numbers[arrived] = tree.first_number[depth] + node[arrived]
    return numbers


def occurrences(tree: MentionTree, text: RunningText, wanted: Integers) -> Occurrences:
    """All places of a text where one of the `wanted` mentions stands, within one document."""
    document = np.searchsorted(text.base, text.word_start, side="right")
    stop = np.searchsorted(document, document, side="right")
    is_wanted = np.zeros(tree.first_number[-1], np.bool_)
    is_wanted[wanted[wanted >= 0]] = True
    first, node = np.arange(len(stop)), np.zeros(len(stop), np.int64)
    found: list[Integers] = [np.zeros((3, 0), np.int64)]
    for depth in range(len(tree.depths)):
        inside = first + depth < stop[first]
        first, node = first[inside], node[inside]
        node, hit = tree.down(depth, node, text.word_number[first + depth])
        first, node = first[hit], node[hit]
        number = tree.first_number[depth] + node
        chosen = is_wanted[number]
        found.append(np.stack((number, first, np.full(len(first), depth + 1)))[:, chosen])
    return Occurrences(*np.concatenate(found, axis=1))


def _edges(node: Integers, word: Integers) -> Integers:
    """One number for a node and the word that follows it; there are fewer than 2 ** 31 different words."""
    return node << 31 | word
