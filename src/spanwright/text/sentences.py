"""Sentence borders by rule, for documents whose corpus gives none.

Windows, not sentences, carry the models; sentences only limit how far a window reaches when a recipe asks
for `context = "sentence"`. So the rules are few and err on the side of too long.
"""

from __future__ import annotations

import re

from spanwright.text.document import Document, Range

_ABBREVIATION = re.compile(
    r"approx|dr|mr|mrs|ms|prof|st|figs?|tab|eqs?|refs?|nos?|vol|cf|vs|al|resp|ca|etc|spp?|subsp|var"
    r"|inc|ltd|co|corp|dept|univ|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|(?:[a-z]\.)+[a-z]",  # e.g., U.S.
    re.IGNORECASE,
)
_LONGEST_TOKEN = 24
"""So many characters before a full stop are looked at."""
# A pattern that begins with a class of characters is sought faster than one that begins with a choice; so
# lookbehinds tell which character it was. They and the possessive repeats also keep long runs of dots or
# blanks from being tried at every position.
_BORDER = re.compile(
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
    for match in _BORDER.finditer(text):
        gap = match["gap"]
        # A line break ends a sentence whatever stands before it.
        if gap and "\n" not in gap and _is_abbreviation(text, start, match.start()):
            continue
        _append_trimmed(ranges, text, start, match.end())
        start = match.end()
    _append_trimmed(ranges, text, start, len(text))
    return tuple(ranges)


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Whether the token before the full stop at `stop` is an abbreviation or an initial ('E. coli')."""
    # With the full stop, the last token is there even if a blank stands before it.
    token = text[max(start, stop - _LONGEST_TOKEN) : stop + 1].split()[-1][:-1].lstrip("([\"'")
    return (len(token) == 1 and token.isupper()) or bool(_ABBREVIATION.fullmatch(token))


def _append_trimmed(ranges: list[Range], text: str, start: int, end: int) -> None:
    """Add the sentence without the white space at its end, unless there is nothing else."""
    end = start + len(text[start:end].rstrip())
    if start < end:
        ranges.append((start, end))
