"""Documents that are read from a file when they are asked for, so that many of them take no memory.

A training on several corpora goes through its documents a few times, one after another. Kept as objects they
take many times the room of their texts.
"""

from __future__ import annotations

import json
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, overload

from spanwright.formats.json.documents import document_of, serialise
from spanwright.text import Document


class StoredDocuments(Sequence[Document]):
    """Documents in a temporary file, which is gone when nobody holds this any more."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this lives
        weakref.finalize(self, self._file.close)
        self._borders = [0]

    def extend(self, documents: Iterable[Document]) -> None:
        """Write documents after those that are there."""
        self._file.seek(self._borders[-1])
        for line in serialise(documents):
            self._borders.append(self._borders[-1] + self._file.write(line.encode()))

    def __len__(self) -> int:
        return len(self._borders) - 1

    @overload
    def __getitem__(self, position: int) -> Document: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Document]: ...

    def __getitem__(self, position: int | slice) -> Document | Sequence[Document]:
        if isinstance(position, slice):
            return DocumentView(self, range(len(self))[position])
        place = range(len(self))[position]
        start, end = self._borders[place : place + 2]
        self._file.seek(start)
        return document_of(json.loads(self._file.read(end - start)))

    def __iter__(self) -> Iterator[Document]:
        return (self[position] for position in range(len(self)))


class DocumentView(Sequence[Document]):
    """Some of the documents of another sequence, each perhaps changed; nothing is copied."""

    def __init__(
        self,
        documents: Sequence[Document],
        positions: Sequence[int] | None = None,
        change: Callable[[Document], Document] | None = None,
    ) -> None:
        self._documents = documents
        self._positions = range(len(documents)) if positions is None else positions
        self._change = change

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, position: int) -> Document: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Document]: ...

    def __getitem__(self, position: int | slice) -> Document | Sequence[Document]:
        if isinstance(position, slice):
            return DocumentView(self._documents, self._positions[position], self._change)
        document = self._documents[self._positions[position]]
        return document if self._change is None else self._change(document)

    def __iter__(self) -> Iterator[Document]:
        return (self[position] for position in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has the same documents."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def without(documents: Sequence[Document], positions: Iterable[int]) -> Sequence[Document]:
    """All documents but those at some positions."""
    left_out = set(positions)
    return DocumentView(documents, [place for place in range(len(documents)) if place not in left_out])


def view(documents: Sequence[Document], keep: Callable[[Document], bool]) -> Sequence[Document]:
    """The documents that are to be kept."""
    return DocumentView(documents, [number for number, document in enumerate(documents) if keep(document)])
