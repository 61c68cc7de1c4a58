"""Plain text: one file is one document without entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.file_names import id_of_file_name
from spanwright.formats.io.lines import Undecodable, read_text
from spanwright.formats.io.opening import bare_path
from spanwright.formats.standoff import given_borders
from spanwright.formats.unwritable import Unwritable, shown_entity
from spanwright.text import Document


def recognises(path: Path, head: str) -> bool:
    """Whether the file calls itself a text; stricter formats are asked first."""
    return path.suffix.lower() == ".txt"


def read(path: Path, log: ReadingLog, *, folder: Path | None = None) -> Iterator[Document]:
    """Yield the one document of a file; its id is the name of the file without the ending.

    Where the file was found in a folder, its id is its path there, so that no two texts of it have the same.
    """
    text = read_text(path)
    if isinstance(text, Undecodable):
        log.reject_document(path, text.line, text.reason)
    else:
        yield Document(_id(bare_path(path), folder), text)


def _id(path: Path, folder: Path | None) -> str:
    if folder is None:
        return path.stem
    return id_of_file_name(path.relative_to(folder).with_suffix("").as_posix())


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the text of one document."""
    for position, document in enumerate(documents):
        if position > 0:
            raise InputError(
                f"document {document.id!r} is the second, but a text file holds one; choose another format"
            )
        # A reader takes the first byte order mark for no part of the text.
        yield ("\ufeff" if document.text.startswith("\ufeff") else "") + document.text


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each entity, and one for given words and sentences."""
    yield from given_borders(document)
    for entity in document.entities:
        yield Unwritable("entities", shown_entity(document, entity))


FORMAT = Format(
    name="text",
    description="plain text, one document in a file",
    suffixes=(".txt",),
    recognises=recognises,
    read=read,
    takes_folder=True,
    serialise=serialise,
    own_unwritable=unwritable,
)
