"""The names that a linker knows, from a lexicon and from annotated documents, and the concepts they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from spanwright.arrays import Floats32, Integers
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term
from spanwright.lexicons.lexicon import lookup_key
from spanwright.linking.names import normal_key
from spanwright.text import Document

_PREFERRED, _SYNONYM, _ANNOTATED = 0.5, 0.3, 1.0
"""What a name counts for its concept: as the preferred name, as a synonym, as a mention of a corpus."""


class SameConcepts:
    """Which identifiers mean the same: those of one term, whatever prefix a corpus gives them."""

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        parent: dict[str, str] = {}

        def root(id: str) -> str:
            while parent[id] != id:
                # Halved on the way, so that no chain becomes long.
                parent[id] = id = parent[parent[id]]
            return id

        for term in terms:
            known = [id for id in term.ids if id in parent]
            for id in term.ids:
                parent.setdefault(id, id)
            # A term may join identifiers that were apart so far.
            for id in term.ids:
                parent[root(id)] = root((known or term.ids)[0])
        self._first = {id: root(id) for id in parent}

    def first(self, id: str) -> str:
        """The identifier that stands for all that mean the same; an unknown one stands for itself."""
        id = id.strip()
        if id in self._first:
            return self._first[id]
        bare = id.partition(":")[2]
        return self._first.get(bare, id) if bare else id

    def all(self, ids: Iterable[str]) -> frozenset[str]:
        """What stands for each of some identifiers."""
        return frozenset(self.first(id) for id in ids)

    def to_dict(self) -> dict[str, str]:
        """Each identifier with the one that stands for it."""
        return dict(self._first)

    @classmethod
    def from_dict(cls, first: Mapping[str, str]) -> SameConcepts:
        """The inverse of `to_dict`."""
        made = cls()
        made._first.update(first)
        return made


@dataclass(frozen=True, slots=True)
class NamedConcepts:
    """Names, each with the concept it means; a name of several concepts stands there several times."""

    names: Sequence[str]
    keys: Sequence[str]
    """What names are compared by (`names.normal_key`)."""
    concept: Integers
    """The number of each name's concept, `(names,)`."""
    weight: Floats32
    """How much each name speaks for its concept, `(names,)`: annotated mentions count each time."""
    answers: Sequence[tuple[str, ...]]
    """The identifiers of each concept: one, or several for names of several concepts together."""

    def __len__(self) -> int:
        """The number of names."""
        return len(self.names)


@dataclass(slots=True)
class _Gathering:
    """Names by their concepts, as they are read."""

    weights: dict[tuple[str, tuple[str, ...]], float] = field(default_factory=dict)
    spelling: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def add(self, name: str, answer: tuple[str, ...], weight: float) -> None:
        key = (lookup_key(name), answer)
        self.spelling.setdefault(key, name)
        self.weights[key] = self.weights.get(key, 0.0) + weight

    def finished(self) -> NamedConcepts:
        answers = {answer: number for number, answer in enumerate(dict.fromkeys(a for _, a in self.weights))}
        names = list(self.spelling.values())
        return NamedConcepts(
            names,
            [normal_key(name) for name in names],
            np.fromiter((answers[answer] for _, answer in self.weights), np.int64, len(self.weights)),
            np.fromiter(self.weights.values(), np.float32, len(self.weights)),
            list(answers),
        )


def gather(lexicon: Lexicon, documents: Iterable[Document] = (), *, type: str | None = None) -> NamedConcepts:
    """The names of a lexicon and the mentions of documents for entities of a type, with their concepts.

    Terms without a type are for all. Without `type`, names are for entities of types that no term has. Terms
    without an identifier cannot be answered with, and are left out.
    """
    same = SameConcepts(lexicon.terms())
    gathering = _Gathering()
    answer: tuple[str, ...]
    for term in lexicon.terms():
        if term.ids and term.type in (None, type):
            answer = (same.first(term.ids[0]),)
            gathering.add(term.name, answer, _PREFERRED)
            for synonym in term.synonyms:
                gathering.add(synonym, answer, _SYNONYM)
    for document in documents:
        for entity in document.entities:
            is_asked_for = entity.type not in lexicon.types if type is None else entity.type == type
            if entity.concepts and is_asked_for:
                answer = tuple(sorted(same.all(entity.concepts)))
                gathering.add(" ".join(document.mention(entity).split()), answer, _ANNOTATED)
    return gathering.finished()


def check_names(lexicon: Lexicon, documents: Iterable[Document]) -> None:
    """Refuse a lexicon that no mention could be linked to."""
    if any(entity.concepts for document in documents for entity in document.entities):
        return
    terms = list(lexicon.terms())
    if not any(name.strip() for term in terms for name in term.names):
        raise InputError("the lexicon has no names; expected at least one term with a name and an identifier")
    if not any(term.ids for term in terms):
        raise InputError(
            f"none of the {len(terms):,} terms of the lexicon has an identifier, so there is nothing to link "
            f"to; expected a column `concept` in a table, or another form of lexicon (docs/lexicons.md)"
        )
