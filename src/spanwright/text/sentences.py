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
# The lookbehinds and possessive repeats keep long runs of dots or blanks from being tried at every position.
_BORDER = re.compile(
    r"(?<![.!?])(?P<stop>[.!?]++[\"')\]]*+)(?P<gap>\s++)(?=[\"'(\[]*+[A-Z0-9\u0391-\u03a9\u0410-\u042f])"
    r"|(?P<cjk>[。！？]+[」』”’]*)\s*"
    r"|(?<!\s)(?P<line>\s*\n\s*)"
)
_LAST_TOKEN = re.compile(r"\S*$")


def sentences(document: Document) -> tuple[Range, ...]:
    """The sentences of a document: those given by its corpus, else those the rules find."""
    return document.sentences if document.sentences is not None else split_sentences(document.text)


def split_sentences(text: str) -> tuple[Range, ...]:
    """Half-open character ranges of the sentences of a text, without the white space between them."""
    ranges: list[Range] = []
    start = 0
    for match in _BORDER.finditer(text):
        # A line break ends a sentence whatever stands before it.
        in_line = match["stop"] and "\n" not in match["gap"]
        if in_line and _is_abbreviation(text[max(start, match.start() - 24) : match.start()]):
            continue
        end = match.start() if match["line"] else match.end("stop" if match["stop"] else "cjk")
        _append_trimmed(ranges, text, start, end)
        start = match.end()
    _append_trimmed(ranges, text, start, len(text))
    return tuple(ranges)


def _is_abbreviation(before_stop: str) -> bool:
    """Whether the token before a full stop is an abbreviation or an initial ('E. coli')."""
    match = _LAST_TOKEN.search(before_stop)
    token = match.group().lstrip("([\"'") if match else ""
    return bool(_ABBREVIATION.fullmatch(token)) or (len(token) == 1 and token.isupper())


def _append_trimmed(ranges: list[Range], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        ranges.append((start, end))
