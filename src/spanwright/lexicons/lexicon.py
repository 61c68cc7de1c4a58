"""`Term` and `Lexicon`: the names of concepts, and which names mean the same.

Names are looked up without regard to case and to the blanks around punctuation, so that a mention of a
tokenised corpus (`X - linked`) finds the name of a dictionary (`X-Linked`). Answers are spelt as in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from spanwright.lexicons.coverage import Coverage, measure_coverage
from spanwright.lexicons.form import LexiconLog, join_logs
from spanwright.text import Document

# The literal blank comes first in the pattern because the search for it is quick.
_LOOSE_BLANK = re.compile(r" (?:(?!\w)|(?<=\W ))")


def lookup_key(name: str) -> str:
    """What names are compared by: case folded, blanks single, and none beside punctuation."""
    return _LOOSE_BLANK.sub("", " ".join(name.casefold().split()))


@dataclass(frozen=True, slots=True)
class Term:
    """One entry: the names of a concept, the preferred one first."""

    name: str
    type: str | None = None
    """The entity type; None when the file does not say it."""
    concept: str | None = None
    """The identifier; None for a name that stands alone."""
    synonyms: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    """More identifiers of the same concept."""
    xrefs: tuple[str, ...] = ()
    """Identifiers of related concepts elsewhere, where they were asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name and the synonyms."""
        return (self.name, *self.synonyms)

    @property
    def ids(self) -> tuple[str, ...]:
        """All identifiers of the concept."""
        return self.other_ids if self.concept is None else (self.concept, *self.other_ids)


class Lexicon:
    """Terms, and an index of their names that is built at the first lookup.

    Terms that share an identifier, in one file or in several that were merged, name one concept.
    """

    def __init__(self, terms: Iterable[Term], log: LexiconLog | None = None) -> None:
        self._terms = tuple(terms)
        self.log = log or LexiconLog()
        """How the reading went; empty for a lexicon that was not read from a file."""

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._terms)

    def terms(self, type: str | None = None) -> Iterator[Term]:
        """The terms in file order: all, or those of a type."""
        return (term for term in self._terms if type is None or term.type == type)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the terms in the order of their first appearance."""
        return tuple(dict.fromkeys(term.type for term in self._terms if term.type is not None))

    def concepts(self, mention: str) -> tuple[str, ...]:
        """The concepts that a mention names, in file order."""
        found = (self._terms[position].concept for position in self._positions(lookup_key(mention)))
        return tuple(dict.fromkeys(concept for concept in found if concept is not None))

    def synonyms(self, mention: str) -> tuple[str, ...]:
        """The other names of all concepts that a mention names, in file order.

        Of names with the same lookup key the first is given, and none that has the mention's own key.
        """
        own = lookup_key(mention)
        names: dict[str, str] = {}
        for position in self._positions(own):
            for fellow in self._same_concept(position):
                for name in self._terms[fellow].names:
                    names.setdefault(lookup_key(name), name)
        names.pop(own, None)
        return tuple(names.values())

    def coverage(self, documents: Iterable[Document]) -> Coverage:
        """The share of the entities of documents that have synonyms here."""
        return measure_coverage(self.synonyms, documents, key=lookup_key)

    def _positions(self, key: str) -> tuple[int, ...]:
        """The positions of the terms that have a name."""
        found = self._by_name.get(key, ())
        return (found,) if isinstance(found, int) else found

    def _same_concept(self, position: int) -> list[int]:
        """The positions of the terms that share an identifier with a term, itself among them."""
        shared = (self._shared_ids.get(id, ()) for id in self._terms[position].ids)
        return sorted({position}.union(*shared))

    @cached_property
    def _by_name(self) -> dict[str, int | tuple[int, ...]]:
        """The positions of the terms by the lookup keys of their names; nearly all names have just one."""
        index: dict[str, int | tuple[int, ...]] = {}
        for position, term in enumerate(self._terms):
            for name in term.names:
                key = lookup_key(name)
                known = index.setdefault(key, position)
                if isinstance(known, int):
                    if known != position:
                        index[key] = (known, position)
                elif known[-1] != position:
                    index[key] = (*known, position)
        return index

    @cached_property
    def _shared_ids(self) -> dict[str, list[int]]:
        """The positions of the terms of each identifier that more than one has."""
        first: dict[str, int] = {}
        shared: dict[str, list[int]] = {}
        for position, term in enumerate(self._terms):
            for id in term.ids:
                if first.setdefault(id, position) != position:
                    shared.setdefault(id, [first[id]]).append(position)
        return shared


def merge(*lexicons: Lexicon) -> Lexicon:
    """The terms of several lexicons as one, in the order given; terms that share an identifier are joined."""
    terms = (term for lexicon in lexicons for term in lexicon.terms())
    return Lexicon(terms, join_logs(lexicon.log for lexicon in lexicons))
