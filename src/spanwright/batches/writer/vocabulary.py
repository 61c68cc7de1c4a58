"""The words that generating parts can write, and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spanwright.text import Document, words

PAD, START, END, UNKNOWN = range(4)
"""Numbers that are no words: what fills up rows, what comes before and behind a text, and all other words."""
SPECIALS = 4
UNKNOWN_WORD = "<unknown>"
"""How the unknown word is shown."""


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
