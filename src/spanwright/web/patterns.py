"""The patterns of words and sentences for JavaScript, with the characters that Python means by them.

The two languages differ in what is a letter, a digit and a blank, and every version of Unicode adds some. So
classes are written out, character by character.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import groupby

from spanwright.text.sentences import (
    ABBREVIATION,
    BORDER,
    CLOSING,
    LONGEST_TOKEN,
    NARROWEST,
    WIDEST,
)
from spanwright.text.words import LETTER, pattern


def patterns_script() -> str:
    """A module of JavaScript with the patterns."""
    values = {
        "WORD": in_javascript(pattern()),
        "BORDER": in_javascript(BORDER.pattern),
        "ABBREVIATION": in_javascript(ABBREVIATION.pattern),
        "CLOSING": _escaped(CLOSING),
        "LOWER": _ranges(str.islower),
        "SPACE": _members(r"\s"),
        "UPPER": _ranges(str.isupper),
        "LIMITS": {
            "longest_token": LONGEST_TOKEN,
            "narrowest": NARROWEST,
            "widest": WIDEST,
        },
    }
    lines = (f"export const {name} = {json.dumps(value)};\n" for name, value in values.items())
    return "// Written by `spanwright export --web`.\n\n" + "".join(lines)


def in_javascript(given: str) -> str:
    """A pattern that finds the same with the flag `u`.

    Repeats that give nothing back become those that may: ours are followed by what none of theirs is.
    """
    for old, new in {
        LETTER: f"[{_members(LETTER)}]",
        r"\d": f"[{_members(chr(92) + 'd')}]",
        r"\s": f"[{_members(chr(92) + 's')}]",
        r"\S": f"[^{_members(chr(92) + 's')}]",
        "*+": "*",
        "++": "+",
        "(?P<": "(?<",
        r"\"": '"',
    }.items():
        given = given.replace(old, new)
    return given


@cache
def _members(class_: str) -> str:
    """The inside of a class with all characters of a class of Python."""
    return _ranges(re.compile(class_).match)


def _ranges(belongs: Callable[[str], object]) -> str:
    """The inside of a class with all characters that belong to it, without halves, which no text has."""
    codes = (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    members = [code for code in codes if belongs(chr(code))]
    runs = [
        [code for _, code in run] for _, run in groupby(enumerate(members), lambda pair: pair[1] - pair[0])
    ]
    return "".join(_range(run[0], run[-1]) for run in runs)


def _range(first: int, last: int) -> str:
    return rf"\u{{{first:x}}}" + (rf"-\u{{{last:x}}}" if last > first else "")


def _escaped(characters: str) -> str:
    return "".join(rf"\u{{{ord(character):x}}}" for character in characters)
