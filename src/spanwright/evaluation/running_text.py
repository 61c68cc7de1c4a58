"""The words and sentences of documents that are laid end to end, and which of them an entity touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from spanwright.evaluation.columns import Comparison, Integers
from spanwright.text import Document, Range, sentences, words

UNKNOWN = -1
"""The number of a word that a vocabulary lacks."""


@dataclass(slots=True)
class Vocabulary:
    """Lower-cased words and their numbers."""

    numbers: dict[str, int]

    def learn(self, text: str, ranges: Sequence[Range]) -> list[int]:
        """The numbers of words; new words get a number."""
        numbers = self.numbers
        return [numbers.setdefault(word, len(numbers)) for word in _lowered(text, ranges)]

    def look_up(self, text: str, ranges: Sequence[Range]) -> list[int]:
        """The numbers of words; `UNKNOWN` for those never learnt."""
        numbers = self.numbers
        return [numbers.get(word, UNKNOWN) for word in _lowered(text, ranges)]


def _lowered(text: str, ranges: Sequence[Range]) -> list[str]:
    """The words in lower case."""
    lowered = text.lower()
    # A few letters become two in lower case, and move all that follows.
    if len(lowered) != len(text):
        return [text[start:end].lower() for start, end in ranges]
    return [lowered[start:end] for start, end in ranges]


@dataclass(frozen=True, slots=True, eq=False)
class RunningText:
    """Words and sentences in offsets of the running text."""

    base: Integers
    """Where each document begins, and where the text ends: `(documents + 1,)`."""
    word_start: Integers
    word_end: Integers
    word_number: Integers
    """The number of each word in a vocabulary, `(words,)`; empty if none was asked for."""
    sentence_start: Integers
    """Where sentences begin, `(sentences,)`. Each reaches to the next, so every place is in one."""

    def first_word(self, start: Integers) -> Integers:
        """The first word that reaches beyond each offset."""
        return np.searchsorted(self.word_end, start, side="right")

    def stop_word(self, end: Integers) -> Integers:
        """One past the last word that begins before each offset."""
        return np.searchsorted(self.word_start, end, side="left")

    def sentence(self, offset: Integers) -> Integers:
        """The sentence that each offset is in."""
        return np.searchsorted(self.sentence_start, offset, side="right") - 1

    def sentence_words(self) -> Integers:
        """The number of words of each sentence, `(sentences,)`."""
        return np.bincount(self.sentence(self.word_start), minlength=len(self.sentence_start))


def text_of_comparison(comparison: Comparison, vocabulary: Vocabulary | None = None) -> RunningText:
    """The text that both sides of a comparison are about; words get numbers if there is a vocabulary."""

    def parts() -> Iterable[_Part]:
        for pair in comparison.pairs:
            found = words(pair.document)
            numbers = vocabulary.look_up(pair.document.text, found) if vocabulary else []
            yield pair.compared(found), numbers, pair.compared(sentences(pair.document))

    return _running_text(parts(), comparison.base)


def text_of_training(documents: Sequence[Document], vocabulary: Vocabulary) -> RunningText:
    """The text of training documents, whose words are learnt on the way."""

    def parts() -> Iterable[_Part]:
        for document in documents:
            found = words(document)
            yield found, vocabulary.learn(document.text, found), sentences(document)

    base = np.cumsum([0, *(len(document.text) + 1 for document in documents)], dtype=np.int64)
    return _running_text(parts(), base)


_Part = tuple[Sequence[Range], list[int], Sequence[Range]]
"""Words, their numbers and the sentences of one document."""


def _running_text(parts: Iterable[_Part], base: Integers) -> RunningText:
    columns: list[list[Integers]] = [[], [], []]
    for (found, numbers, borders), begin in zip(parts, base[:-1].tolist(), strict=True):
        columns[0].append(_offsets(found) + begin)
        columns[1].append(np.array(numbers, np.int64))
        starts = _offsets(borders)[:, 0] + begin
        # What stands before the first sentence belongs to it, and a text without sentences is one.
        columns[2].append(np.array([begin, *starts[1:]], np.int64))
    bounds = np.concatenate(columns[0]) if columns[0] else np.zeros((0, 2), np.int64)
    number, sentence = (np.concatenate(part) if part else np.zeros(0, np.int64) for part in columns[1:])
    return RunningText(base, bounds[:, 0].copy(), bounds[:, 1].copy(), number, sentence)


def _offsets(ranges: Sequence[Range]) -> Integers:
    """Ranges as an array, `(ranges, 2)`."""
    return np.fromiter(chain.from_iterable(ranges), np.int64, 2 * len(ranges)).reshape(-1, 2)
