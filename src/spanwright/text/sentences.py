"""Sentence borders by rule, for documents whose corpus gives none.

Windows, not sentences, carry the models; sentences only limit how far a window reaches when a recipe asks
for `context = "sentence"`. So the rules are few and err on the side of too long.

A line break ends a sentence at an empty line, after end punctuation, and where the line was ended on purpose,
as a title is. It does not where the line is wrapped: the next one goes on in lower case, or its first word
would not have fitted in. Texts with lines wider than any that are wrapped have a paragraph in each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from spanwright.text.document import Document, Range

ABBREVIATION = re.compile(
    r"approx|dr|mr|mrs|ms|prof|st|figs?|tab|eqs?|refs?|nos?|vol|cf|vs|al|resp|ca|etc|spp?|subsp|var"
    r"|inc|ltd|co|corp|dept|univ|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|(?:[a-z]\.)+[a-z]",  # e.g., U.S.
    re.IGNORECASE,
)
LONGEST_TOKEN = 24
"""So many characters before a full stop are looked at, and of a word that might have fitted in a line."""
NARROWEST = 40
"""Lines that are all narrower than this are titles or items of a list unless the next is in lower case."""
WIDEST = 160
"""A text with wider lines is not wrapped."""
CLOSING = "\"')]」』”’"
# A pattern that begins with a class of characters is sought faster than one that begins with a choice; so
# lookbehinds tell which character it was. They and the possessive repeats also keep long runs of dots or
# blanks from being tried at every position.
BORDER = re.compile(
    r"[.!?。！？\n](?:"
    r"(?<=(?<![.!?])[.!?])[.!?]*+[\"')\]]*+(?P<gap>\s++)(?=[\"'(\[]*+[A-Z0-9\u0391-\u03a9\u0410-\u042f])"
    r"|(?<=[。！？])[。！？]*+[」』”’]*+\s*+"
    r"|(?<=\n)\s*+"
    r")"
)


def sentences(document: Document) -> tuple[Range, ...]:
    """The sentences of a document: those given by its corpus, else those the rules find."""
    return document.sentences if document.sentences is not None else split_sentences(document.text)


def split_sentences(text: str) -> tuple[Range, ...]:
    """Half-open character ranges of the sentences of a text, without the white space between them."""
    ranges: list[Range] = []
    start = len(text) - len(text.lstrip())
    wrapped = frozenset(_wrapped_breaks(text))
    for match in BORDER.finditer(text):
        gap = match["gap"]
        if gap is None and match.start() in wrapped:
            continue
        if gap and _is_abbreviation(text, start, match.start()):
            line_break = text.find("\n", match.start("gap"), match.end("gap"))
            if line_break < 0 or line_break in wrapped:
                continue
        _append_trimmed(ranges, text, start, match.end())
        start = match.end()
    _append_trimmed(ranges, text, start, len(text))
    return tuple(ranges)


def _wrapped_breaks(text: str) -> Iterator[int]:
    """The positions of the line breaks that end no sentence."""
    for lines in _paragraphs(text):
        width = max(end - start for start, end in lines)
        if width > WIDEST:
            continue
        pairs = list(pairwise(lines))
        full = [_is_full(text, line, following, width) for line, following in pairs]
        # One line alone may be the widest by chance.
        is_wrapped = width >= NARROWEST and sum(full) > 1
        for (line, following), filled in zip(pairs, full, strict=True):
            goes_on = text[line[1] : following[1]].lstrip()[0].islower() or (is_wrapped and filled)
            if goes_on and not _is_ended(text, line):
                yield text.index("\n", line[1])


def _paragraphs(text: str) -> Iterator[list[Range]]:
    """Runs of two and more lines that are not empty, without the white space at the end of each."""
    lines: list[Range] = []
    start = 0
    for line in text.split("\n") if "\n" in text else ():
        end = start + len(line.rstrip())
        if start < end:
            lines.append((start, end))
        elif lines:
            yield from [lines] if len(lines) > 1 else []
            lines = []
        start += len(line) + 1
    if len(lines) > 1:
        yield lines


def _is_full(text: str, line: Range, following: Range, width: int) -> bool:
    """Whether the first word of the next line does not fit in a line."""
    word = text[following[0] : following[1]].split(maxsplit=1)[0]
    return line[1] - line[0] + 1 + min(len(word), LONGEST_TOKEN) > width


def _is_ended(text: str, line: Range) -> bool:
    """Whether a line ends with end punctuation that is no part of an abbreviation."""
    bare = text[line[0] : line[1]].rstrip(CLOSING)
    before = bare.rstrip(".!?。！？")
    return before != bare and not _is_abbreviation(text, line[0], line[0] + len(before))


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Whether the token before the full stop at `stop` is an abbreviation or an initial ('E. coli')."""
    # With the full stop, the last token is there even if a blank stands before it.
    token = text[max(start, stop - LONGEST_TOKEN) : stop + 1].split()[-1][:-1].lstrip("([\"'")
    return (len(token) == 1 and token.isupper()) or bool(ABBREVIATION.fullmatch(token))


def _append_trimmed(ranges: list[Range], text: str, start: int, end: int) -> None:
    """Add the sentence without the white space at its end, unless there is nothing else."""
    end = start + len(text[start:end].rstrip())
    if start < end:
        ranges.append((start, end))
