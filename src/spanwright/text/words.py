"""The offset-exact word splitter.

Every character that is not white space belongs to exactly one word, so no text is ever lost. Letters and
digits stay together (`p53`, `TNFα`), decimal numbers too (`2.5`); punctuation, hyphens and slashes are
words of their own, because entity borders fall on them; Chinese characters and Japanese kana are one word
each. Combining marks belong to the character before them.

Names of mutations are cut where annotators cut them: off the name that they are glued to (`JAK2` `V617F`,
`CCR5` `Delta32`), and between residue and position (`Gly` `104` `Cys`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from spanwright.text.document import Document, Range

_ONE_CHARACTER_SCRIPTS = (
    "\u2e80-\u2fdf"  # radicals
    "\u3005-\u3007\u3021-\u3029"  # ideographic iteration mark and numerals
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
LETTER = rf"[^\W_{_ONE_CHARACTER_SCRIPTS}]"
_RESIDUE = "(?:A(?:la|rg|sn|sp)|Cys|Gl[nuy]|His|Ile|L(?:eu|ys)|Met|P(?:he|ro)|Ser|T(?:hr|rp|yr)|Val)"
_RESIDUE_LETTER = "[ACDEFGHIKLMNPQRSTVWY]"


def words(document: Document) -> tuple[Range, ...]:
    """The words of a document: those given by its corpus, else those the splitter finds."""
    return document.words if document.words is not None else split(document.text)


def iter_words(document: Document) -> Iterator[Range]:
    """The same one after another, for texts whose words would take much memory together."""
    if document.words is not None:
        return iter(document.words)
    return (match.span() for match in _pattern().finditer(document.text))


def split(text: str) -> tuple[Range, ...]:
    """Half-open character ranges of the words of a text."""
    # By way of a list, which is a tenth faster: this runs over every word of every corpus.
    return tuple([match.span() for match in _pattern().finditer(text)])


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(pattern())


def pattern() -> str:
    """What finds the words of a text."""
    mark, letter = f"[{_combining_marks()}]", LETTER
    mutation = rf"{_RESIDUE_LETTER}\d\d+{_RESIDUE_LETTER}(?!{letter})|(?<=\d)(?:[Dd]elta|Δ)\d"
    return (
        r"(?!\s)(?:"  # so that no kind of word is tried at a blank
        r"[A-Za-z][a-z]*+(?=[\n -/:-@])"  # most words and what follows them, for speed
        rf"|\d+(?:[.,]\d+)+{mark}*"  # 2.5 and 1,000
        rf"|{_RESIDUE}(?=\d)|\d+(?={_RESIDUE}(?!{letter}))"
        rf"|{letter}*?[a-z0-9](?={mutation})"
        rf"|{letter}+(?:{mark}+{letter}*)*"
        rf"|\S{mark}*)"
    )


@cache
def _combining_marks() -> str:
    """The inside of a character class with all combining marks of this Python's Unicode version."""
    ranges: list[str] = []
    start: int | None = None
    # Marks begin at U+0300; above U+1E94A there are only the variation selectors.
    for code in (*range(0x300, 0x1E950), *range(0xE00FF, 0xE01F1)):
        is_mark = unicodedata.category(chr(code))[0] == "M"
        if is_mark and start is None:
            start = code
        elif not is_mark and start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    return "".join(ranges)
