"""Atoms: the parts of words by which names and texts are compared.

Names and texts are cut in the same way: into words by the splitter of `spanwright.text`, and numbers once
more at their points and commas. White space is no part of an atom, so the name `1,2-DMH` of a dictionary and
the `1 , 2 - DMH` of a tokenised corpus are the same atoms. Words that a corpus gives are cut where they are
more than one atom, and never joined.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice

from spanwright.text import Document, Range, split

BLOCK = 1 << 16
"""Chunks of a document that are looked at together; it bounds the memory for a long document."""

_CHUNK = re.compile(r"\S+")
_ATOM = re.compile(r"[.,]|[^.,]+")
_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 100
_INSIDE_A_WORD = -1


def atoms_of_name(name: str, *, fold: bool) -> Iterator[str]:
    """The atoms of a name, with their case folded or as they are."""
    return chain.from_iterable(_cut_all(name.split(), fold))


def blocks(document: Document, *, fold: bool, reach: int) -> Iterator[Block]:
    """The chunks of a document, `BLOCK` at a time, each time with the next `reach` after them.

    A chunk is a given word, or else text without white space, which no word crosses.
    """
    chunks = _given_words(document) if document.words is not None else _visible(document.text)
    held = list(islice(chunks, BLOCK + reach))
    while held:
        yield Block(document, held, fold=fold)
        held = held[BLOCK:] + list(islice(chunks, BLOCK))


def _visible(text: str) -> Iterator[Range]:
    return (match.span() for match in _CHUNK.finditer(text))


def _given_words(document: Document) -> Iterator[Range]:
    """The given words that have atoms."""
    return ((start, end) for start, end in document.words or () if not document.text[start:end].isspace())


class Block:
    """Chunks of a document, and the atoms of all of them in one row."""

    def __init__(self, document: Document, ranges: list[Range], *, fold: bool) -> None:
        self._ranges = ranges
        self._chunks = [document.text[start:end] for start, end in ranges]
        self._given = document.words is not None
        cut = _cut_all(self._chunks, fold)
        # The number of atoms up to the end of each chunk.
        self._ends = list(accumulate(map(len, cut)))
        self.atoms = list(chain.from_iterable(cut))
        """What is compared."""
        self.own = self._ends[min(BLOCK, len(ranges)) - 1]
        """The number of atoms of this block alone: those after them begin the next block."""

    def characters(self, first: int, end: int) -> Range | None:
        """The characters of the atoms `[first, end)`; None when a border of them lies inside a word."""
        first_chunk, first_place = self._place(first)
        last_chunk, last_place = self._place(end - 1)
        start = self._borders(first_chunk)[first_place][0]
        stop = self._borders(last_chunk)[last_place][1]
        if _INSIDE_A_WORD in (start, stop):
            return None
        return self._ranges[first_chunk][0] + start, self._ranges[last_chunk][0] + stop

    def _place(self, atom: int) -> tuple[int, int]:
        """The chunk of an atom, and its place in the chunk."""
        chunk = bisect_right(self._ends, atom)
        return chunk, atom - (self._ends[chunk - 1] if chunk else 0)

    def _borders(self, chunk: int) -> tuple[Range, ...]:
        text = self._chunks[chunk]
        if text.isalpha() and text.isascii():
            return ((0, len(text)),)
        return (_borders if len(text) <= _LONGEST_REMEMBERED else _borders.__wrapped__)(text, self._given)


def _cut_all(chunks: Sequence[str], fold: bool) -> list[tuple[str, ...]]:
    """The atoms of each chunk."""
    # Texts repeat their words. A chunk without end, such as a coded picture, is not worth remembering.
    is_usual = max(map(len, chunks), default=0) <= _LONGEST_REMEMBERED
    cut = _cut if is_usual else _cut.__wrapped__
    # Letters of ASCII alone are one word, and so are most chunks.
    if fold:
        return [
            (chunk.lower(),) if chunk.isalpha() and chunk.isascii() else cut(chunk, True) for chunk in chunks
        ]
    return [(chunk,) if chunk.isalpha() and chunk.isascii() else cut(chunk, False) for chunk in chunks]


@lru_cache(maxsize=_REMEMBERED)
def _cut(chunk: str, fold: bool) -> tuple[str, ...]:
    atoms = (chunk[start:end] for start, end in _atom_ranges(chunk))
    # Folding may change the length of a text, so it comes after the cut.
    return tuple(map(str.casefold, atoms) if fold else atoms)


@lru_cache(maxsize=_REMEMBERED)
def _borders(chunk: str, given: bool) -> tuple[Range, ...]:
    """For each atom, the offsets where a match may begin and end: those of the words that are cut there."""
    words = ((0, len(chunk)),) if given else split(chunk)
    starts, ends = {start for start, _ in words}, {end for _, end in words}
    return tuple(
        (start if start in starts else _INSIDE_A_WORD, end if end in ends else _INSIDE_A_WORD)
        for start, end in _atom_ranges(chunk)
    )


def _atom_ranges(chunk: str) -> list[Range]:
    return [match.span() for start, end in split(chunk) for match in _ATOM.finditer(chunk, start, end)]
