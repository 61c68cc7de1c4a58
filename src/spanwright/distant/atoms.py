"""Atoms: the pieces of words by which names and texts are compared.

Names and texts are cut in the same way: into words by the splitter of `spanwright.text`, and numbers once more
at their points and commas. White space is no part of an atom, so the name `1,2-DMH` of a dictionary and the
`1 , 2 - DMH` of a tokenised corpus are the same atoms. Words that a corpus gives are cut where they are more
than one atom, and never joined.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain, islice

from spanwright.text import Document, Range, split

BLOCK = 1 << 16
"""Chunks of a document that are looked at together; it bounds the memory for a long one."""

_CHUNK = re.compile(r"\S+")
_ATOM = re.compile(r"[.,]|[^.,]+")
_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 100


def atoms_of_name(name: str, *, fold: bool) -> Iterator[str]:
    """The atoms of a name, with their case folded or as they are."""
    return chain.from_iterable(_cut_all(name.split(), fold))


def blocks(document: Document, *, fold: bool, reach: int) -> Iterator[Block]:
    """The chunks of a document, `BLOCK` at a time and each time with the next `reach` behind them.

    A chunk is a given word, or text without white space, which no word crosses. Each has an atom or more.
    """
    chunks = _given_words(document) if document.words is not None else _visible(document.text)
    held = list(islice(chunks, BLOCK + reach))
    while held:
        yield Block(document, held, fold)
        held = held[BLOCK:] + list(islice(chunks, BLOCK))


def _visible(text: str) -> Iterator[Range]:
    return (match.span() for match in _CHUNK.finditer(text))


def _given_words(document: Document) -> Iterator[Range]:
    return ((start, end) for start, end in document.words or () if not document.text[start:end].isspace())


class Block:
    """Chunks of a document in order, and the atoms of all of them in one row."""

    def __init__(self, document: Document, ranges: list[Range], fold: bool) -> None:
        text = document.text
        self._chunks = [text[start:end] for start, end in ranges]
        self._ranges = ranges
        self._given = document.words is not None
        pieces = _cut_all(self._chunks, fold)
        self._ends = list(accumulate(map(len, pieces)))
        """How many atoms there are up to the end of each chunk."""
        self.atoms = list(chain.from_iterable(pieces))
        self.limit = self._ends[min(BLOCK, len(ranges)) - 1]
        """Atoms before those of the next block."""

    def characters(self, first: int, end: int) -> Range | None:
        """Where the atoms from first to end stand in the text; None when they begin or end inside a word."""
        start_chunk, start_atom = self._locate(first)
        end_chunk, end_atom = self._locate(end - 1)
        start = self._borders(start_chunk)[start_atom][0]
        stop = self._borders(end_chunk)[end_atom][1]
        if start < 0 or stop < 0:
            return None
        return self._ranges[start_chunk][0] + start, self._ranges[end_chunk][0] + stop

    def _locate(self, atom: int) -> tuple[int, int]:
        """The chunk of an atom, and its place there."""
        chunk = bisect_right(self._ends, atom)
        return chunk, atom - (self._ends[chunk - 1] if chunk else 0)

    def _borders(self, chunk: int) -> tuple[Range, ...]:
        text = self._chunks[chunk]
        borders = _borders if len(text) <= _LONGEST_REMEMBERED else _borders.__wrapped__
        return borders(text, self._given)


@lru_cache(maxsize=_REMEMBERED)
def _borders(chunk: str, given: bool) -> tuple[Range, ...]:
    """For each atom of a chunk, the offsets in it where a match may begin and end; -1 where it may not."""
    words = ((0, len(chunk)),) if given else split(chunk)
    starts, ends = {start for start, _ in words}, {end for _, end in words}
    return tuple(
        (start if start in starts else -1, end if end in ends else -1) for start, end in _atom_ranges(chunk)
    )


def _atom_ranges(chunk: str) -> Iterator[Range]:
    for start, end in split(chunk):
        yield from (match.span() for match in _ATOM.finditer(chunk, start, end))


def _cut_all(chunks: list[str], fold: bool) -> list[tuple[str, ...]]:
    """The atoms of each chunk."""
    cut: Callable[[str], tuple[str, ...]] = _folded if fold else _cut
    # Texts repeat their words. A chunk without end, such as a coded picture, is not worth remembering.
    if max(map(len, chunks), default=0) > _LONGEST_REMEMBERED:
        cut = cut.__wrapped__  # type: ignore[attr-defined]
    return list(map(cut, chunks))


@lru_cache(maxsize=_REMEMBERED)
def _cut(chunk: str) -> tuple[str, ...]:
    return tuple(chunk[start:end] for start, end in _atom_ranges(chunk))


@lru_cache(maxsize=_REMEMBERED)
def _folded(chunk: str) -> tuple[str, ...]:
    return tuple(chunk[start:end].casefold() for start, end in _atom_ranges(chunk))
