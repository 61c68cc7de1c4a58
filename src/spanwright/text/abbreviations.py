"""Abbreviations that a text defines itself, by the rules of Schwartz and Hearst (2003).

A short form stands in brackets after its long form, `tumour necrosis factor (TNF)`, or before a long form in
brackets, `TNF (tumour necrosis factor)`. Its letters and digits must be found in the long form in their
order, the first of them at the beginning of a word. The shortest such long form is taken, unless the initials
of a longer one are the short form: `attenuated adenomatous polyposis coli (AAPC)`. All offsets are characters
of the untouched text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanwright.text.document import Range

_BRACKETED = re.compile(r"[(\[]([^()\[\]]{1,200})[)\]]")
_SENTENCE_END = re.compile(r"[.!?;:]\s|\n")
_WORD_BEFORE = re.compile(r"(\S+)\s*\Z")
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\S+")
_PLURAL = re.compile(r".*[A-Z0-9]s")
_HALVES = re.compile(r"([A-Z0-9]{2,})-([A-Z0-9]{2,})")
_SHORTEST, _LONGEST = 2, 10
"""Characters of a short form."""
_LONG_CHARACTERS = 300
"""Before a bracket that are searched for a long form."""


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A definition in a text: where the short form stands, and where the long form does."""

    short: Range
    long: Range


def find_abbreviations(text: str) -> tuple[Abbreviation, ...]:
    """The definitions of a text in their order."""
    return tuple(found for match in _BRACKETED.finditer(text) if (found := _definition(text, match)))


def expansions(text: str) -> dict[str, str]:
    """The long form of each short form that a text defines; of several definitions the first counts.

    A definition of `VSDs` also explains `VSD`, and one of `HPT-JT` also `HPT` and `JT`.
    """
    found: dict[str, str] = {}
    for each in find_abbreviations(text):
        found.setdefault(text[slice(*each.short)], text[slice(*each.long)])
    implied = dict(pair for short, long in found.items() for pair in _implied(short, long))
    return {**implied, **found}


def _implied(short: str, long: str) -> Iterator[tuple[str, str]]:
    """What a definition explains besides: the singular of a short form, and its two halves."""
    if _PLURAL.fullmatch(short):
        short = short[:-1]
        yield short, long
    if halves := _HALVES.fullmatch(short):
        middle = _match(long, halves[2], 0, len(long))
        if middle and (first := long[:middle].rstrip(" -/")):
            yield halves[1], first
            yield halves[2], long[middle:]


def occurrences(text: str, short: str) -> Iterator[Range]:
    """Where a short form stands as a word of its own."""
    for match in re.finditer(rf"(?<![^\W_]){re.escape(short)}(?![^\W_])", text):
        yield match.span()


def _definition(text: str, match: re.Match[str]) -> Abbreviation | None:
    inside = _trimmed(text, match.start(1), _first_clause_end(text, *match.span(1)))
    if _is_short_form(text[slice(*inside)]):
        return _long_before(text, inside, match.start())
    return _short_before(text, inside, match.start())


def _long_before(text: str, short: Range, bracket: int) -> Abbreviation | None:
    """The definition `long form (SF)`."""
    context = _trimmed(text, _sentence_start(text, bracket), bracket)
    long = _long_form(text, text[slice(*short)], context)
    return Abbreviation(short, long) if long else None


def _short_before(text: str, context: Range, bracket: int) -> Abbreviation | None:
    """The definition `SF (long form)`; a short form in small letters alone would be any word."""
    word = _WORD_BEFORE.search(text, max(0, bracket - _LONGEST - 3), bracket)
    if word is None or not _is_short_form(word[1]) or word[1].islower() or word[1].istitle():
        return None
    if word.start(1) > 0 and not text[word.start(1) - 1].isspace():
        return None  # the search began inside a longer word
    long = _long_form(text, word[1], context)
    return Abbreviation(word.span(1), long) if long else None


def _first_clause_end(text: str, start: int, end: int) -> int:
    """Where the first clause in brackets ends: of `(HD; MIM 143100)` the first is the short form."""
    found = re.compile(r"[;,]").search(text, start, end)
    return found.start() if found else end


def _trimmed(text: str, start: int, end: int) -> Range:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, max(start, start + len(inner.strip()))


def _is_short_form(text: str) -> bool:
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isalpha() for character in text)
    )


def _sentence_start(text: str, end: int) -> int:
    """The beginning of the sentence that goes on at `end`, or of the characters that are searched."""
    start = max(0, end - _LONG_CHARACTERS)
    return max((match.end() for match in _SENTENCE_END.finditer(text, start, end)), default=start)


def _long_form(text: str, short: str, context: Range) -> Range | None:
    """The end of a context that has the letters of a short form; None if there is none."""
    most = min(len(short) + 5, 2 * len(short))
    tokens = [match.span() for match in _TOKEN.finditer(text, *context)][-most:]
    if not tokens:
        return None
    found = _initials(text, short, context)
    if found is None:
        found = _match(text, short, tokens[0][0], context[1])
    if found is None:
        return None
    start = max(begin for begin, _ in tokens if begin <= found)
    long = text[start : context[1]]
    is_long = len(long) > len(short) and not any(occurrences(long, short))
    return (start, context[1]) if is_long else None


def _initials(text: str, short: str, context: Range) -> int | None:
    """Where the last words of a context begin, if their initials are the short form."""
    words = list(_WORD.finditer(text, *context))[-len(short) :]
    same = "".join(word[0][0] for word in words).lower() == short.lower()
    return words[0].start() if same else None


def _match(text: str, short: str, start: int, end: int) -> int | None:
    """Where the first letter of a short form is, if each letter is found from the right, in order."""
    letters = [character.lower() for character in short if character.isalnum()]
    position = end
    for number in range(len(letters) - 1, -1, -1):
        position -= 1
        while position >= start and not _fits(text, position, letters[number], first=number == 0):
            position -= 1
        if position < start:
            return None
    return position


def _fits(text: str, position: int, letter: str, *, first: bool) -> bool:
    """Whether a letter is at a position; the first of a short form must begin a word."""
    begins = not first or position == 0 or not text[position - 1].isalnum()
    return begins and text[position].lower() == letter
