"""Atoms: the pieces of words by which names and texts are compared.

Names and texts are cut in the same way: into words by the splitter of `spanwright.text`, and numbers once more
at their points and commas. White space is no part of an atom, so that the name `1,2-DMH` of a dictionary and
`1 , 2 - DMH` of a tokenised corpus are the same atoms. Text that a corpus gives words for is cut further where
such a word is more than one atom; it is never joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from spanwright.text import Document, split

Atom = tuple[str, int, int]
"""What is compared, and the characters where a match may begin and end: -1 where it may not."""

BLOCK = 1 << 16
"""Atoms of a document that are held at a time, besides those that a name needs to reach behind them."""

_INSIDE = -1
_CHUNK = re.compile(r"\S+")
_LONGEST_REMEMBERED = 100
_ATOM = re.compile(r"[.,]|[^.,]+")


def atoms_of_name(name: str, *, fold: bool) -> list[str]:
    """The atoms of a name, with their case folded or as they are."""
    return [key for key, _, _ in _cut(name, fold)]


def blocks(document: Document, *, fold: bool, reach: int) -> Iterator[list[Atom]]:
    """The atoms of a document, `BLOCK` at a time, each block with the next `reach` atoms behind it."""
    atoms = _given_words(document, fold) if document.words is not None else _chunks(document.text, fold)
    block = list(islice(atoms, BLOCK + reach))
    while block:
        yield block
        block = block[BLOCK:] + list(islice(atoms, BLOCK))


def _chunks(text: str, fold: bool) -> Iterator[Atom]:
    """The atoms of a text without given words; a word never reaches across white space."""
    for match in _CHUNK.finditer(text):
        offset = match.start()
        for key, start, end in _remembered(match.group(), fold):
            yield key, start if start < 0 else start + offset, end if end < 0 else end + offset


def _given_words(document: Document, fold: bool) -> Iterator[Atom]:
    """The atoms of a document with given words: a match may begin and end at their borders only."""
    for start, end in document.words or ():
        keys = [key for key, _, _ in _remembered(document.text[start:end], fold)]
        last = len(keys) - 1
        for position, key in enumerate(keys):
            yield key, start if position == 0 else _INSIDE, end if position == last else _INSIDE


def _remembered(chunk: str, fold: bool) -> tuple[Atom, ...]:
    # Texts repeat their words; a chunk without end, such as a coded picture, is not worth remembering.
    return _cut_once(chunk, fold) if len(chunk) <= _LONGEST_REMEMBERED else _cut(chunk, fold)


def _cut(chunk: str, fold: bool) -> tuple[Atom, ...]:
    """The atoms of a piece of text, with offsets in it."""
    return tuple(
        (
            (match.group().casefold() if fold else match.group()),
            match.start() if match.start() == start else _INSIDE,
            match.end() if match.end() == end else _INSIDE,
        )
        for start, end in split(chunk)
        for match in _ATOM.finditer(chunk, start, end)
    )


_cut_once = lru_cache(maxsize=1 << 17)(_cut)
