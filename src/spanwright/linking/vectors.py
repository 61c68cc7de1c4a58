"""Vectors of names, and the search among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from spanwright.arrays import Floats32, Integers
from spanwright.linking.names import unordered
from spanwright.linking.neighbours import MOST_COMPARED, Neighbours, StoredVectors

if TYPE_CHECKING:
    from spanwright.linking.encoder import NameEncoder

_KEPT = 20_000
"""Mentions whose vectors are remembered."""


class NameVectors:
    """The vectors of names, and the encoder that makes such vectors of mentions.

    Names that differ in spelling and in the order of words only have one vector: in vocabularies these are
    half of them.
    """

    def __init__(
        self, vectors: StoredVectors, vector_of: Integers, encoder: NameEncoder, neighbours: Neighbours
    ) -> None:
        """`vectors` are `(distinct names, size)`, `vector_of` the number of that of each name, `(names,)`."""
        self.vectors = vectors
        self.vector_of = vector_of
        self.encoder = encoder
        self.neighbours = neighbours
        self._known: dict[str, Floats32] = {}
        self._order = np.argsort(vector_of, kind="stable")
        self._starts = np.searchsorted(vector_of[self._order], np.arange(len(vectors) + 1))

    @classmethod
    def of(cls, vectors: Floats32, vector_of: Integers, encoder: NameEncoder) -> NameVectors:
        """With what is needed to search; many vectors are kept in 16 bits."""
        kept: StoredVectors = vectors if len(vectors) <= MOST_COMPARED else vectors.astype(np.float16)
        return cls(kept, vector_of, encoder, Neighbours.of(vectors))

    def search(self, mentions: Sequence[str], most: int) -> list[Integers]:
        """The rows of the nearest names of each mention, in no order."""
        if not mentions:
            return []
        nearest = self.neighbours.search(self._of(mentions), most)
        return [np.concatenate([self._rows(number) for number in each.tolist()]) for each in nearest]

    def _rows(self, number: int) -> Integers:
        return self._order[self._starts[number] : self._starts[number + 1]]

    def similarities(self, mentions: Sequence[str], rows: Sequence[Integers]) -> list[Floats32]:
        """The cosines of each mention with some of the names."""
        vectors = self._of(mentions)
        return [
            self.vectors[self.vector_of[each]].astype(np.float32) @ vector
            for each, vector in zip(rows, vectors, strict=True)
        ]

    def _of(self, mentions: Sequence[str]) -> Floats32:
        if len(self._known) > _KEPT:
            self._known.clear()
        new = [mention for mention in dict.fromkeys(mentions) if mention not in self._known]
        if new:
            self._known.update(zip(new, self.encoder.encode(new), strict=True))
        return np.stack([self._known[mention] for mention in mentions])


def distinct_names(names: Sequence[str], keys: Sequence[str]) -> tuple[list[str], Integers]:
    """A name of each group of names with the same words, and the group of each name, `(names,)`.

    Of `Cancer, Breast` and `Breast Cancer` the second is chosen, as texts have it.
    """
    numbers: dict[str, int] = {}
    chosen: list[str] = []
    group = np.empty(len(names), dtype=np.int64)
    for row, (name, key) in enumerate(zip(names, keys, strict=True)):
        number = group[row] = numbers.setdefault(unordered(key), len(chosen))
        if number == len(chosen):
            chosen.append(name)
        elif "," in chosen[number] and "," not in name:
            chosen[number] = name
    return chosen, group
