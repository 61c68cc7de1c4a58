"""Prepared documents in a file: a training reads the few that a batch needs, and memory holds no others."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, overload

import numpy as np

from spanwright.arrays import Integers
from spanwright.batches.prepare import PreparedDocument
from spanwright.text import Document


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the arrays of a document stand, and how long they are."""

    start: int
    words: int
    pieces: int
    shortened: int
    corpus: int


class PreparedStore(Sequence[PreparedDocument]):
    """Prepared documents whose arrays are in a temporary file, beside the documents themselves."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this lives
        weakref.finalize(self, self._file.close)
        self._places: list[_Place] = []

    def append(self, prepared: PreparedDocument) -> None:
        """Write the next document, the one at that position of the documents."""
        self._file.seek(0, 2)
        words, pieces = len(prepared.words), len(prepared.piece_ids)
        self._places.append(_Place(self._file.tell(), words, pieces, prepared.shortened, prepared.corpus))
        for array in (prepared.words, prepared.piece_ids, prepared.piece_starts):
            self._file.write(np.ascontiguousarray(array, dtype=np.int64).tobytes())

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, position: int) -> PreparedDocument: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[PreparedDocument]: ...

    def __getitem__(self, position: int | slice) -> PreparedDocument | Sequence[PreparedDocument]:
        if isinstance(position, slice):
            return [self[each] for each in range(len(self))[position]]
        place = self._places[position]
        counts = (2 * place.words, place.pieces, place.words + 1)
        self._file.seek(place.start)
        numbers: Integers = np.frombuffer(self._file.read(8 * sum(counts)), dtype=np.int64)
        words, piece_ids, piece_starts = np.split(numbers, np.cumsum(counts[:2]))
        document = self._documents[position]
        return PreparedDocument(
            document, words.reshape(-1, 2), piece_ids, piece_starts, place.shortened, place.corpus
        )

    def __iter__(self) -> Iterator[PreparedDocument]:
        return (self[position] for position in range(len(self)))
