"""The names of types as words: `cell line` for `CellLine`, `DNA mutation` for `DNAMutation`."""

from __future__ import annotations

import re

_WELL_KNOWN = {
    "PER": "person",
    "ORG": "organization",
    "LOC": "location",
    "MISC": "miscellaneous",
    "GPE": "geopolitical entity",
    "FAC": "facility",
    "VEH": "vehicle",
    "WEA": "weapon",
}
_VOWEL = re.compile(r"[AEIOUY]")
_ABBREVIATIONS_WITH_VOWELS = frozenset(("DNA", "RNA"))
# White space and the punctuation of ASCII, but not the plus sign of `CD4+`.
_SEPARATORS = re.compile(r"[\s!-*,-/:-@\[-`{-~]+")
# Over the classes of the letters (`_letter_class`). In this order: `IDs` and `mRNAs`; `DNA`, `mRNA`, `CD4`;
# `Cell`, `cell`, `p53`; `2nd`.
_WORD = re.compile(r"l{0,2}u{2,}l(?![lx])d*|l{0,2}u+(?![lx])d*|u?[lx]+d*|d+[lx]*")


def label_in_words(name: str) -> str:
    """A name with camel case and punctuation made into blanks, in small letters but for abbreviations.

    Never empty: a name of nothing but punctuation stays as it is, and a blank one is an `entity`.
    """
    is_capitals = name.isupper()
    words = [word for part in _SEPARATORS.split(name) for word in _camel_words(part)]
    spelt = (_spelt(word, is_capitals, is_first=position == 0) for position, word in enumerate(words))
    return " ".join(spelt) or name.strip() or "entity"


def _camel_words(part: str) -> list[str]:
    classes = "".join(map(_letter_class, part))
    return [part[found.start() : found.end()] for found in _WORD.finditer(classes)]


def _letter_class(letter: str) -> str:
    """Upper case, lower case, digit, or anything else, such as Chinese or an accent."""
    return "u" if letter.isupper() else "l" if letter.islower() else "d" if letter.isdigit() else "x"


def _spelt(word: str, is_capitals: bool, *, is_first: bool) -> str:
    """A word as it is read; `is_capitals` says that the whole name has no small letters."""
    # Inside a name, small letters are a word of English: there is no person in `cost_per_unit`.
    if word.upper() in _WELL_KNOWN and (is_first or word.isupper()):
        return _WELL_KNOWN[word.upper()]
    if not word.isupper():
        return word.lower() if word[1:].islower() else word
    # Beside small letters, capitals mark an abbreviation. In a name of capitals, the want of vowels does.
    is_abbreviation = not is_capitals or word in _ABBREVIATIONS_WITH_VOWELS or not _VOWEL.search(word)
    return word if is_abbreviation else word.lower()
