"""Gold spans as words, and the words that auto-encoders of spans (Joint-IB) can write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from spanwright.arrays import Integers
from spanwright.batches.batch import Array, Batch, Spans
from spanwright.batches.prepare import PreparedDocument
from spanwright.text import Document, Entity, Range, words
from spanwright.text import split as split_words

PAD, START, END, UNKNOWN = range(4)
"""Numbers that are no words: what fills up rows, what comes before and after a text, and all other words."""
SPECIALS = 4
UNKNOWN_WORD = "<unknown>"
"""How the unknown word is shown."""
Words = tuple[str, ...]

LONGEST = 14
"""Words of the longest text that is written."""


@dataclass(frozen=True)
class Vocabulary:
    """Words with numbers: the more frequent a word, the lower its number. Case is kept."""

    entries: tuple[str, ...] = ()
    """The words from number `SPECIALS` on."""

    @classmethod
    def of(cls, documents: Iterable[Document], *, least_count: int = 1) -> Vocabulary:
        """The words that texts have at least so often, the most frequent first, then by the alphabet."""
        counts: Counter[str] = Counter()
        for document in documents:
            counts.update(document.text[start:end] for start, end in words(document))
        frequent = ((word, count) for word, count in counts.items() if count >= least_count)
        ordered = sorted(frequent, key=lambda entry: (-entry[1], entry[0]))
        return cls(tuple(word for word, _ in ordered))

    def __len__(self) -> int:
        """The number of numbers, with the special ones."""
        return SPECIALS + len(self.entries)

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The numbers of words, spelt exactly so; `UNKNOWN` for those that are not here."""
        return [self._numbers.get(word, UNKNOWN) for word in words]

    def words(self, numbers: Iterable[int]) -> list[str]:
        """The words of numbers up to the first `END`; padding and start are left out."""
        found: list[str] = []
        for number in numbers:
            if number == END:
                break
            if number >= SPECIALS:
                found.append(self.entries[number - SPECIALS])
            elif number == UNKNOWN:
                found.append(UNKNOWN_WORD)
        return found

    def spelt(self, word: str) -> str:
        """A word in a spelling that is here, if there is one.

        As given if it is here so, else in lower case, else in the most frequent spelling that differs in
        case alone. A word that is not here in any case stays as given.
        """
        for spelling in (word, word.lower(), self._by_folded.get(word.casefold(), word)):
            if spelling in self:
                return spelling
        return word

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"words": self.entries}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary of plain values."""
        return cls(tuple(str(word) for word in values["words"]))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.entries, SPECIALS)}

    @cached_property
    def _by_folded(self) -> dict[str, str]:
        """The most frequent word of each spelling without case."""
        return {word.casefold(): word for word in reversed(self.entries)}


class SynonymSource(Protocol):
    """Knows other names of mentions."""

    def of(self, mention: str, *concepts: Sequence[str]) -> tuple[str, ...]:
        """The synonyms of a mention with the concepts of each of its annotations."""


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The words of a gold span and of its synonyms."""

    document: int
    """The position of its document in the list."""
    first: int
    """Its first word in the document."""
    last: int
    """Its last word (inclusive)."""
    words: Words
    """Its own words, as in the text."""
    synonyms: tuple[Words, ...]
    """The words of each synonym, spelt as `Vocabulary.spelt` says."""

    @property
    def synonym_references(self) -> tuple[Words, ...]:
        """What a generated synonym is compared with: the synonyms, or its own words where there is none."""
        return self.synonyms or (self.words,)


def gold_spans(
    documents: Sequence[PreparedDocument],
    golds: Sequence[Integers],
    vocabulary: Vocabulary,
    synonyms: SynonymSource,
) -> Iterator[GoldSpan]:
    """The gold spans of documents in order, each once, whatever the number of its types.

    `golds` holds the gold rows (golds, 4) of each document. Synonyms keep the case of their sources, except
    for words that the vocabulary has in another case only.
    """
    known: dict[tuple[str, tuple[Words, ...]], tuple[Words, ...]] = {}
    for index, (prepared, rows) in enumerate(zip(documents, golds, strict=True)):
        text, ranges = prepared.document.text, prepared.words.tolist()
        concepts = _concepts(prepared.document.entities)
        for first, last in np.unique(rows[:, :2], axis=0).tolist():
            start, end = ranges[first][0], ranges[last][1]
            key = text[start:end], tuple(concepts[start, end])
            if key not in known:
                names = synonyms.of(key[0], *key[1])
                known[key] = tuple(_words(name, vocabulary) for name in names)
            own = tuple(text[left:right] for left, right in ranges[first : last + 1])
            yield GoldSpan(index, first, last, own, known[key])


def spans_of_golds(batch: Batch[Array]) -> tuple[Spans[Array], Integers]:
    """The gold spans of a batch, each once, and (spans, 3): document, first and last word of each there."""
    spans = batch.spans.take(np.unique(batch.golds.span))
    offset = batch.word_offset[spans.window]
    places = (batch.document[spans.window], spans.first + offset, spans.last + offset)
    return spans, np.column_stack(places)


def _concepts(entities: Iterable[Entity]) -> dict[Range, dict[Words, None]]:
    """The concepts of each annotation of a range, in order and without repetition."""
    found: dict[Range, dict[Words, None]] = {}
    for entity in entities:
        if len(entity.ranges) == 1:
            found.setdefault((entity.start, entity.end), {})[entity.concepts] = None
    return found


def _words(name: str, vocabulary: Vocabulary) -> Words:
    return tuple(vocabulary.spelt(name[start:end]) for start, end in split_words(name))
