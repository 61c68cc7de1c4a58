"""Gold spans as words: what is learnt to be written from them, and what a written text is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spanwright.batches.batch import Array, Batch, Spans
from spanwright.batches.pieces import Integers
from spanwright.batches.prepare import PreparedDocument
from spanwright.batches.writer.vocabulary import Vocabulary
from spanwright.text import Entity, Range
from spanwright.text import split as split_words

Words = tuple[str, ...]

LONGEST = 14
"""Words of the longest text that is written."""


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
