"""How alike the names of two types are: `CellLine` and `cell_line`, `SpecificDisease` and `Disease`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

# `DNAMutation` is DNA and Mutation: capitals belong together unless a small letter follows the last of them.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SHORTEST_ABBREVIATION = 3
_ABBREVIATED = 0.8
_ALIKE = 0.5


@cache
def name_words(name: str) -> tuple[str, ...]:
    """The distinct words of a name, without case: camel case, underscores, hyphens and dots part them."""
    return tuple(dict.fromkeys(word.casefold() for word in _WORD.findall(name)))


@cache
def name_similarity(left: str, right: str) -> float:
    """From 0 (nothing in common) to 1 (the same words): how well each word of either name is matched."""
    words, others = name_words(left), name_words(right)
    if not words or not others:
        return 0.0
    matched = sum(_best(word, others) for word in words) + sum(_best(word, words) for word in others)
    return matched / (len(words) + len(others))


def _best(word: str, others: Sequence[str]) -> float:
    return max(_word_similarity(word, other) for other in others)


def _word_similarity(left: str, right: str) -> float:
    """1 for the same stem, less for an abbreviation (`loc`, `location`) or a shared spelling."""
    if _stem(left) == _stem(right):
        return 1.0
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) >= _SHORTEST_ABBREVIATION and longer.startswith(shorter):
        return _ABBREVIATED
    trigrams, others = _trigrams(left), _trigrams(right)
    dice = 2 * len(trigrams & others) / (len(trigrams) + len(others))
    return dice if dice >= _ALIKE else 0.0


def _stem(word: str) -> str:
    """A word without its plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
