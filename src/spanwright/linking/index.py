"""The index of a linker: which concepts a name means, exactly or nearly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Floats32
from spanwright.lexicons.lexicon import lookup_key
from spanwright.linking.composites import is_composite
from spanwright.linking.concepts import NamedConcepts
from spanwright.linking.edits import Edits, learn_edits, variants
from spanwright.linking.names import normal_key, unordered, words_of
from spanwright.linking.ngrams import NgramIndex
from spanwright.linking.vectors import NameVectors

EXACT, NORMALISED, REORDERED = 1.0, 0.97, 0.94
"""Scores of names that are the same but for case, for spelling and punctuation, for the order of words."""
EDITED = 0.7
"""The score that names would have whose words are exchanged with a probability of 0 of meaning the same."""
VECTOR_SHARE = 0.6
"""Of vectors in the score of similar names; the rest is that of n-grams."""
RENOWN_OF_KNOWN, RENOWN_OF_SIMILAR = 0.1, 0.02
"""How much it counts that a concept is well known, among those of a name and among those of like names."""
_FOUND = 32
"""Names that each search hands on."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention may mean."""

    concepts: tuple[str, ...]
    """Its identifier; several where the name means several concepts together."""
    name: str
    """The name that is most like the mention."""
    score: float
    """From 0 to 1: how like."""


class NameIndex:
    """Finds the concepts of names: the same ones in a dictionary, similar ones by n-grams and vectors."""

    def __init__(
        self,
        named: NamedConcepts,
        vectors: NameVectors | None = None,
        *,
        ngrams: Mapping[str, npt.NDArray[Any]] | None = None,
        edits: Edits | None = None,
    ) -> None:
        """`ngrams` and `edits` are those of an index that was made of the same names."""
        self.named = named
        self.vectors = vectors
        self._stored_ngrams = ngrams
        self._stored_edits = edits

    @cached_property
    def _rows(self) -> dict[str, int | tuple[int, ...]]:
        """The rows of names by their key; nearly all keys have one."""
        rows: dict[str, int | tuple[int, ...]] = {}
        for row, key in enumerate(map(unordered, self.named.keys)):
            known = rows.setdefault(key, row)
            if known != row:
                rows[key] = (*((known,) if isinstance(known, int) else known), row)
        return rows

    @cached_property
    def ngrams(self) -> NgramIndex:
        """The index of the names' n-grams, made when it is first needed."""
        return NgramIndex(self.named.keys, self._stored_ngrams)

    @cached_property
    def edits(self) -> Edits:
        """Which words may be exchanged, learnt when it is first needed."""
        if self._stored_edits is not None:
            return self._stored_edits
        return learn_edits(self.named.keys, self.named.concept)

    @cached_property
    def _renown(self) -> Floats32:
        """How much is known of each concept, `(concepts,)`: the logarithm of its names and mentions.

        Of concepts that are equally like a mention, the better known is meant.
        """
        counts = np.bincount(self.named.concept, minlength=len(self.named.answers))
        weights = np.bincount(self.named.concept, self.named.weight, minlength=len(self.named.answers))
        renown: Floats32 = np.log1p(counts + weights).astype(np.float32)
        return renown

    def exact(self, mention: str) -> list[Candidate]:
        """The concepts with the same name, the likeliest first, by the least that had to be ignored."""
        rows = self._rows_of(unordered(normal_key(mention)))
        closeness = {row: self._closeness(row, mention) for row in rows}
        best = max(closeness.values(), default=0.0)
        return self._ranked([row for row in rows if closeness[row] == best], best)

    def _rows_of(self, key: str) -> tuple[int, ...]:
        found = self._rows.get(key, ())
        return (found,) if isinstance(found, int) else found

    def _closeness(self, row: int, mention: str) -> float:
        if lookup_key(self.named.names[row]) == lookup_key(mention):
            return EXACT
        return NORMALISED if self.named.keys[row] == normal_key(mention) else REORDERED

    def _ranked(self, rows: Sequence[int], closeness: float) -> list[Candidate]:
        """The concepts of names that are equally close, each with its share of their weights."""
        weights: dict[int, float] = {}
        names: dict[int, str] = {}
        for row in rows:
            concept = int(self.named.concept[row])
            renown = 1 + RENOWN_OF_KNOWN * float(self._renown[concept])
            weights[concept] = weights.get(concept, 0.0) + float(self.named.weight[row]) * renown
            names.setdefault(concept, self.named.names[row])
        total = sum(weights.values())
        return [
            Candidate(self.named.answers[concept], names[concept], closeness * weight / total)
            for concept, weight in sorted(weights.items(), key=lambda item: -item[1])
        ]

    def similar(self, mentions: Sequence[str], most: int) -> list[list[Candidate]]:
        """The concepts of the most similar names of each mention, the best first."""
        return [
            self._best(mention, [*self._edited(mention), *near], most)
            for mention, near in zip(mentions, self._near(mentions), strict=True)
        ]

    def _edited(self, mention: str) -> list[tuple[int, float]]:
        """The names that a mention has once some of its words are exchanged, with their scores."""
        return [
            (row, EDITED + (NORMALISED - EDITED) * probability)
            for words, probability in variants(words_of(mention), self.edits).items()
            for row in self._rows_of(" ".join(sorted(words)))
        ]

    def _near(self, mentions: Sequence[str]) -> list[list[tuple[int, float]]]:
        """The names that n-grams and vectors find near each mention, with their scores."""
        keys = [normal_key(mention) for mention in mentions]
        rows = [self.ngrams.search(key, _FOUND) for key in keys]
        if self.vectors is not None:
            rows = list(map(np.union1d, rows, self.vectors.search(mentions, _FOUND)))
        scores = list(map(self.ngrams.similarities, keys, rows))
        if self.vectors is not None:
            cosines = self.vectors.similarities(mentions, rows)
            scores = [VECTOR_SHARE * c + (1 - VECTOR_SHARE) * s for c, s in zip(cosines, scores, strict=True)]
        return [list(zip(r.tolist(), s.tolist(), strict=True)) for r, s in zip(rows, scores, strict=True)]

    def _best(self, mention: str, scored: Sequence[tuple[int, float]], most: int) -> list[Candidate]:
        """The best name of each concept, of rows with their scores.

        Concepts that are named together answer composite mentions only.
        """
        several = is_composite(mention)
        found: dict[int, Candidate] = {}
        ranked = [(row, self._with_renown(row, score)) for row, score in scored]
        for row, score in sorted(ranked, key=lambda pair: -pair[1]):
            concept = int(self.named.concept[row])
            answer = self.named.answers[concept]
            if concept not in found and (several or len(answer) == 1):
                found[concept] = Candidate(answer, self.named.names[row], score)
                if len(found) == most:
                    break
        return list(found.values())

    def _with_renown(self, row: int, score: float) -> float:
        renown = float(self._renown[self.named.concept[row]])
        return min(1.0, max(0.0, score + RENOWN_OF_SIMILAR * renown))
