"""How one corpus marks the names that another corpus has marked.

A *name* is a mention as a run of words: without case, unless a word has a capital behind its first letter (`WAS`
is no `was`). Each distinct name counts once, however often it occurs: mentions of one name are no independent
witnesses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from spanwright.corpora.alignment import align
from spanwright.text import Document, Range, split

Name = tuple[str, ...]
Marks = dict[str | None, float]
"""Shares that add up to 1: of each type, and of None for unmarked."""


@dataclass(slots=True)
class Tally:
    """How the names of one type are marked in another corpus."""

    names: int = 0
    """Distinct names that were found."""
    marks: Counter[str | None] = field(default_factory=Counter)
    """Names by the type they are marked with there, None for unmarked; a name marked in several ways is
    shared out. Adds up to `names`."""

    def share(self, type_: str | None) -> float:
        """Share of the names that are marked with a type."""
        return self.marks[type_] / self.names if self.names else 0.0


def marks_in_texts(source: Iterable[Document], target: Iterable[Document]) -> dict[str, Tally]:
    """How `target` marks the occurrences, in its texts, of the names of each type of `source`.

    Of overlapping occurrences the first and longest counts.
    """
    types = _types_of_names(source)
    lengths = _lengths(types)
    found: defaultdict[Name, Counter[str | None]] = defaultdict(Counter)
    for document in target:
        marked = _Marked(document)
        for name, start, end in _occurrences(document.text, types, lengths):
            found[name].update(marked.at(start, end))
    return _tallies({(type_, name): marks for name, marks in found.items() for type_ in types[name]})


def marks_in_shared_documents(pairs: Sequence[tuple[Document, Document]]) -> dict[str, Tally]:
    """How the second document of each pair marks the places that the first one marks."""
    found: defaultdict[tuple[str, Name], Counter[str | None]] = defaultdict(Counter)
    for source, target in pairs:
        place = align(source.text, target.text)
        marked = _Marked(target)
        for entity in source.entities:
            if (at := place(entity.start, entity.end)) is not None:
                found[entity.type, _name(source.mention(entity))].update(marked.at(*at))
    return _tallies(found)


class _Marked:
    """What is marked at any place of a document."""

    def __init__(self, document: Document) -> None:
        self._exactly: defaultdict[Range, set[str]] = defaultdict(set)
        self._covering: defaultdict[int, set[str]] = defaultdict(set)
        for entity in document.entities:
            if len(entity.pieces) == 1:
                self._exactly[entity.start, entity.end].add(entity.type)
            for start, end in entity.pieces:
                for position in range(start, end):
                    self._covering[position].add(entity.type)

    def at(self, start: int, end: int) -> Marks:
        """The types of mentions with exactly these bounds; else, for one half, of those that overlap."""
        if types := self._exactly.get((start, end)):
            return {type_: 1 / len(types) for type_ in types}
        overlapping = {
            type_ for position in range(start, end) for type_ in self._covering.get(position, ())
        }
        if overlapping:
            return {None: 0.5, **{type_: 0.5 / len(overlapping) for type_ in overlapping}}
        return {None: 1.0}


def _tallies(found: Mapping[tuple[str, Name], Counter[str | None]]) -> dict[str, Tally]:
    """Marks of names summed up by type, each name with weight 1."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for (type_, _), marks in found.items():
        tally, total = tallies[type_], sum(marks.values())
        tally.names += 1
        for mark, weight in marks.items():
            tally.marks[mark] += weight / total
    return dict(tallies)


def _types_of_names(documents: Iterable[Document]) -> dict[Name, set[str]]:
    types: defaultdict[Name, set[str]] = defaultdict(set)
    for document in documents:
        for entity in document.entities:
            types[_name(document.mention(entity))].add(entity.type)
    types.pop((), None)
    return dict(types)


def _lengths(names: Iterable[Name]) -> dict[str, list[int]]:
    """The lengths of the names that begin with a word, longest first."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for name in names:
        lengths[name[0]].add(len(name))
    return {word: sorted(found, reverse=True) for word, found in lengths.items()}


def _occurrences(
    text: str, names: Mapping[Name, object], lengths: Mapping[str, list[int]]
) -> Iterator[tuple[Name, int, int]]:
    """Yield name, start and end of the names in a text, from left to right, the longest first."""
    ranges = split(text)
    words = [_key(text[start:end]) for start, end in ranges]
    position = 0
    while position < len(words):
        step = 1
        for length in lengths.get(words[position], ()):
            name = tuple(words[position : position + length])
            if len(name) == length and name in names:
                yield name, ranges[position][0], ranges[position + length - 1][1]
                step = length
                break
        position += step


@cache
def _name(mention: str) -> Name:
    return tuple(_key(mention[start:end]) for start, end in split(mention))


def _key(word: str) -> str:
    return word if any(letter.isupper() for letter in word[1:]) else word.casefold()
