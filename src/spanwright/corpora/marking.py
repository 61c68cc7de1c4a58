"""How one corpus marks what another corpus has marked.

A *name* is a mention as a run of words: without case, unless a word has a capital after its first letter
(`WAS` is no `was`). Each distinct name counts once, however often it occurs: mentions of one name are no
independent witnesses.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from spanwright.corpora.alignment import align
from spanwright.text import Document, Range, split

NameWords = tuple[str, ...]
Marks = dict[str | None, float]
"""Weight of each type, and of None for unmarked."""

_CACHED_MENTIONS = 65536
# A word in nearly every document says nothing about the names it stands in.
_LEAST_WEIGHT = 1.0


@dataclass(slots=True)
class Tally:
    """How the names of one type are marked in another corpus."""

    names: int = 0
    """Distinct names that could be looked up there."""
    marks: Marks = field(default_factory=dict)
    """Names by the type they are marked with, None for unmarked; a name marked in several ways is shared out.
    Adds up to `names`."""

    def share(self, type_: str | None) -> float:
        """Share of the names that are marked with a type."""
        return self.marks.get(type_, 0.0) / self.names if self.names else 0.0

    def add(self, marks: Marks) -> None:
        """Count one more name."""
        self.names += 1
        add_marks(self.marks, marks, 1 / sum(marks.values()))


@dataclass(frozen=True, slots=True)
class TextMarks:
    """How a corpus marks, in its texts, the names of each type of another."""

    names: dict[str, Tally]
    """By the occurrences of whole names; of overlapping ones the first and longest counts."""
    words: dict[str, Tally]
    """By the occurrences of the words of a name, rare words counting most."""
    chance: Marks
    """Share of all words of the texts that are marked with each type."""


def marks_in_texts(source: Iterable[Document], target: Sequence[Document]) -> TextMarks:
    """How `target` marks the names of each type of `source`."""
    types = _types_of_names(source)
    lengths = _lengths(types)
    of_names: defaultdict[NameWords, Marks] = defaultdict(dict)
    of_words: defaultdict[str, Marks] = defaultdict(dict)
    documents_with: Counter[str] = Counter()
    for document in target:
        marked = _Marked(document)
        ranges = split(document.text)
        words = [_key(document.text[start:end]) for start, end in ranges]
        for word, (start, _) in zip(words, ranges, strict=True):
            add_marks(of_words[word], marked.covering(start))
        for name, first, end in _occurrences(words, types, lengths):
            add_marks(of_names[name], marked.at(ranges[first][0], ranges[end - 1][1]))
        documents_with.update(set(words))
    weights = {word: math.log(len(target) / count) for word, count in documents_with.items()}
    names = {name: _marks_of_words(name, of_words, weights) for name in types}
    return TextMarks(_tallies(of_names, types), _tallies(names, types), _chance(of_words.values()))


def marks_in_shared_documents(pairs: Sequence[tuple[Document, Document]]) -> dict[str, Tally]:
    """How the second document of each pair marks the places that the first one marks."""
    found: defaultdict[tuple[str, NameWords], Marks] = defaultdict(dict)
    for source, target in pairs:
        place = align(source.text, target.text)
        marked = _Marked(target)
        for entity in source.entities:
            if (at := place(entity.start, entity.end)) is not None:
                add_marks(found[entity.type, _name(source.mention(entity))], marked.at(*at))
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for (type_, _), marks in found.items():
        tallies[type_].add(marks)
    return dict(tallies)


class _Marked:
    """What is marked at any place of a document."""

    def __init__(self, document: Document) -> None:
        self._exactly: defaultdict[Range, set[str]] = defaultdict(set)
        self._covering: defaultdict[int, set[str]] = defaultdict(set)
        for entity in document.entities:
            if len(entity.ranges) == 1:
                self._exactly[entity.start, entity.end].add(entity.type)
            for start, end in entity.ranges:
                for position in range(start, end):
                    self._covering[position].add(entity.type)

    def at(self, start: int, end: int) -> Marks:
        """The types of mentions with exactly these bounds; else, for one half, of those that overlap."""
        if types := self._exactly.get((start, end)):
            return _shared_out(types)
        overlapping: set[str] = set()
        for position in range(start, end):
            overlapping |= self._covering.get(position, set())
        return {None: 0.5, **_shared_out(overlapping, 0.5)} if overlapping else {None: 1.0}

    def covering(self, position: int) -> Marks:
        """The types of mentions that cover a character."""
        types = self._covering.get(position)
        return _shared_out(types) if types else {None: 1.0}


def add_marks(marks: Marks, more: Marks, weight: float = 1.0) -> None:
    """Add weighted marks to others."""
    for mark, count in more.items():
        marks[mark] = marks.get(mark, 0.0) + weight * count


def _shared_out(types: set[str], weight: float = 1.0) -> Marks:
    # Sorted, so that sums of shares have the same last digit in every process.
    return {type_: weight / len(types) for type_ in sorted(types)}


def _marks_of_words(name: NameWords, of_words: Mapping[str, Marks], weights: Mapping[str, float]) -> Marks:
    """How the words of a name are marked on average; nothing if none of them says much."""
    marks: Marks = {}
    known = [word for word in name if weights.get(word, 0.0) > 0 and any(map(str.isalnum, word))]
    if sum(weights[word] for word in known) < _LEAST_WEIGHT:
        return marks
    for word in known:
        add_marks(marks, of_words[word], weights[word] / sum(of_words[word].values()))
    return marks


def _tallies(marks_of: Mapping[NameWords, Marks], types: Mapping[NameWords, set[str]]) -> dict[str, Tally]:
    """Marks of names summed up by type."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for name, marks in marks_of.items():
        for type_ in types[name] if marks else ():
            tallies[type_].add(marks)
    return dict(tallies)


def _chance(of_words: Iterable[Marks]) -> Marks:
    marks: Marks = {}
    for found in of_words:
        add_marks(marks, found)
    total = sum(marks.values())
    return {mark: count / total for mark, count in marks.items()}


def _types_of_names(documents: Iterable[Document]) -> dict[NameWords, set[str]]:
    types: defaultdict[NameWords, set[str]] = defaultdict(set)
    for document in documents:
        for entity in document.entities:
            types[_name(document.mention(entity))].add(entity.type)
    types.pop((), None)
    return dict(types)


def _lengths(names: Iterable[NameWords]) -> dict[str, list[int]]:
    """The lengths of the names that begin with a word, longest first."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for name in names:
        lengths[name[0]].add(len(name))
    return {word: sorted(found, reverse=True) for word, found in lengths.items()}


def _occurrences(
    words: Sequence[str], names: Mapping[NameWords, object], lengths: Mapping[str, list[int]]
) -> Iterator[tuple[NameWords, int, int]]:
    """Yield the names in a row of words with first word and end, from left to right, the longest first."""
    position = 0
    while position < len(words):
        end = position + 1
        for length in lengths.get(words[position], ()):
            name = tuple(words[position : position + length])
            if len(name) == length and name in names:
                end = position + length
                yield name, position, end
                break
        position = end


@lru_cache(_CACHED_MENTIONS)
def _name(mention: str) -> NameWords:
    return tuple(_key(mention[start:end]) for start, end in split(mention))


def _key(word: str) -> str:
    return word if any(letter.isupper() for letter in word[1:]) else word.casefold()
