"""What names are compared by: without case, hyphens, Greek letters, plurals, spelling and order."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_GREEK = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta"},
    **{"θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi"},
    **{"ο": "omicron", "π": "pi", "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon"},
    **{"φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega"},
}
_GREEK_LETTER = re.compile("[" + "".join(_GREEK) + "]")
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’`´]s?\b")
_LETTERS_AND_DIGITS = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_ROMAN_AFTER = {"i": "1", "v": "5", "x": "10"}
"""Letters that are numbers only after a word such as `type`."""
_NUMBERED = frozenset(("type", "class", "grade", "stage", "group", "form", "subtype", "factor"))
_UNSPOKEN = frozenset(("a", "an", "and", "by", "due", "for", "from", "in", "of", "or", "the", "to", "with"))
"""Words that are left out of names in which others are left."""


@lru_cache(maxsize=200_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in one spelling each, in the order of the name."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = _GREEK_LETTER.sub(lambda match: f" {_GREEK[match[0]]} ", folded)
    folded = _LETTERS_AND_DIGITS.sub(" ", _POSSESSIVE.sub("", _without_marks(folded)))
    words = [_numeral(word, before) for before, word in _with_word_before(_WORD.findall(folded))]
    spelt = tuple(_spelling(_singular(word)) for word in words if word not in _UNSPOKEN)
    return spelt or tuple(words)


def normal_key(name: str) -> str:
    """The key of names that differ in case, punctuation, Greek letters, plurals or spelling."""
    return " ".join(words_of(name))


def unordered(key: str) -> str:
    """The key of names that differ in the order of their words, too (`Cancer, Breast`), from a normal one."""
    return " ".join(sorted(key.split()))


def _without_marks(text: str) -> str:
    """Letters without accents: `Sjögren` is often written `Sjogren`."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def _with_word_before(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(["", *words], words, strict=False))


def _numeral(word: str, before: str) -> str:
    if before in _NUMBERED and word in _ROMAN_AFTER:
        return _ROMAN_AFTER[word]
    return _ROMAN.get(word, word)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


def _spelling(word: str) -> str:
    """British and American spelling as one: `haemophilia`, `oedema`, `tumour`."""
    if len(word) < 5:
        return word
    word = word.replace("ae", "e").replace("oe", "e")
    return word[:-3] + "or" if word.endswith("our") else word
