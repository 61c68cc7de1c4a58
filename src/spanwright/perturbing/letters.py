"""Perturbations of single characters: typos, case, and other ways to write the same."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable
from random import Random

from spanwright.perturbing.edits import Edit
from spanwright.text import Document, Range, words

_TYPO_SHARE = 0.1
"""Share of the words that get a typo."""
_SHORTEST = 4
"""Letters of the shortest word that gets one."""
_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_GREEK = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta"},
    **{"θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi"},
    **{"ο": "omicron", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi"},
    **{"χ": "chi", "ψ": "psi", "ω": "omega"},
}
_VARIANTS = {
    **_GREEK,
    **{letter.upper(): name.capitalize() for letter, name in _GREEK.items()},
    **{"'": "\u2019", '"': "\u201d", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'},
    **{"-": "\u2010", "\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-"},
    **{
        "\u2026": "...",
        "\u2032": "'",
        "\xb5": "u",
        "\xd7": "x",
        "\xb1": "+/-",
        "\u2264": "<=",
        "\u2265": ">=",
    },
}


def typos(document: Document, random: Random) -> list[Edit]:
    """A letter inside one word in ten is swapped with the next, left out, doubled or a key beside it.

    Words of letters only, from four letters on; their first and last letters stay. A word that an entity
    cuts stays as it is.
    """
    borders = sorted({border for entity in document.entities for each in entity.ranges for border in each})
    return [
        edit
        for word in words(document)
        if _takes_typo(document.text, word, borders) and random.random() < _TYPO_SHARE
        for edit in _typo(document.text, word, random)
    ]


def _takes_typo(text: str, word: Range, borders: list[int]) -> bool:
    start, end = word
    next_border = bisect_left(borders, start + 1)
    cut = next_border < len(borders) and borders[next_border] < end
    return end - start >= _SHORTEST and not cut and text[start:end].isalpha()


def _typo(text: str, word: Range, random: Random) -> list[Edit]:
    at = random.randrange(word[0] + 1, word[1] - 2)
    letter, following = text[at], text[at + 1]
    match random.choice(("swap", "drop", "double", "neighbour")):
        case "swap":
            return [Edit(at, at + 1, following), Edit(at + 1, at + 2, letter)]
        case "drop":
            return [Edit(at, at + 1, "")]
        case "double":
            return [Edit(at, at + 1, 2 * letter)]
        case _:
            return [Edit(at, at + 1, _neighbour_key(letter, random))]


def _neighbour_key(letter: str, random: Random) -> str:
    """A key beside the letter's; the letter itself when it is on no row."""
    for row in _KEY_ROWS:
        at = row.find(letter.lower())
        if at >= 0:
            key = random.choice(row[max(0, at - 1) : at] + row[at + 1 : at + 2])
            return key.upper() if letter.isupper() else key
    return letter


def lower_case(document: Document, random: Random) -> list[Edit]:
    """Every letter in lower case."""
    return _letter_by_letter(document.text, str.lower)


def upper_case(document: Document, random: Random) -> list[Edit]:
    """Every letter in upper case."""
    return _letter_by_letter(document.text, str.upper)


def character_variants(document: Document, random: Random) -> list[Edit]:
    """Greek letters by name, other quotation marks and dashes, Latin letters without their accents."""
    return _letter_by_letter(document.text, _variant)


def _variant(letter: str) -> str:
    if letter.isascii() or letter in _VARIANTS:
        return _VARIANTS.get(letter, letter)
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


def _letter_by_letter(text: str, change: Callable[[str], str]) -> list[Edit]:
    """An edit for each character that changes, since a change may give several."""
    new = {letter: change(letter) for letter in set(text)}
    return [Edit(at, at + 1, new[letter]) for at, letter in enumerate(text) if new[letter] != letter]
