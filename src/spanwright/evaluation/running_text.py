"""The words and sentences of documents that are laid end to end, and which of them an entity touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.evaluation.columns import Comparison
from spanwright.text import Document, Range, sentences, words

UNKNOWN = -1
"""The number of a word that a vocabulary lacks."""


@dataclass(slots=True)
class FoldedWords:
    """Lower-cased words and their numbers."""

    numbers: dict[str, int]

    def learn(self, text: str, ranges: Sequence[Range]) -> list[int]:
        """The numbers of words; new words get a number."""
        numbers, (lowered, places) = self.numbers, _lowered(text, ranges)
        return [numbers.setdefault(lowered[start:end], len(numbers)) for start, end in places]

    def look_up(self, text: str, ranges: Sequence[Range]) -> list[int]:
        """The numbers of words; `UNKNOWN` for those never learnt."""
        numbers, (lowered, places) = self.numbers, _lowered(text, ranges)
        return [numbers.get(lowered[start:end], UNKNOWN) for start, end in places]


def _lowered(text: str, ranges: Sequence[Range]) -> tuple[str, Iterable[Range]]:
    """A text in lower case, and where in it the words are."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered, ranges
    # The letter İ becomes two characters and moves all that follows, so words are lowered one by one.
    found = [text[start:end].lower() for start, end in ranges]
    return "".join(found), pairwise(accumulate(map(len, found), initial=0))


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

    def sentence_words(self, counted: Booleans) -> Integers:
        """How many of the words that are counted, `(words,)`, begin in each sentence: `(sentences,)`."""
        before = np.concatenate(([0], np.cumsum(counted)))
        first = np.searchsorted(self.word_start, self.sentence_start)
        return np.diff(before[first], append=before[-1])


def text_of_comparison(comparison: Comparison, vocabulary: FoldedWords | None = None) -> RunningText:
    """The text that both sides of a comparison are about; words get numbers if there is a vocabulary."""

    def parts() -> Iterable[_Part]:
        for pair in comparison.pairs:
            found = words(pair.document)
            numbers = vocabulary.look_up(pair.document.text, found) if vocabulary else []
            yield pair.compared(found), numbers, pair.compared(sentences(pair.document))

    return _running_text(parts(), comparison.base)


def text_of_training(documents: Sequence[Document], vocabulary: FoldedWords) -> RunningText:
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
        # What stands before the first sentence belongs to it, and a text without sentences is one.
        starts = [0, *(start for start, _ in borders[1:])]
        columns[2].append(np.array(starts, np.int64) + begin)
    bounds = np.concatenate(columns[0]) if columns[0] else np.zeros((0, 2), np.int64)
    number, sentence = (np.concatenate(part) if part else np.zeros(0, np.int64) for part in columns[1:])
    return RunningText(base, bounds[:, 0].copy(), bounds[:, 1].copy(), number, sentence)


def _offsets(ranges: Sequence[Range]) -> Integers:
    """Ranges as an array, `(ranges, 2)`."""
    return np.fromiter(chain.from_iterable(ranges), np.int64, 2 * len(ranges)).reshape(-1, 2)
