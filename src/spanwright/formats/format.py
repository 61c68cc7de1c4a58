"""What a corpus format is, and the log in which readers put what they could not use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spanwright.formats.offsets import MentionCounts
from spanwright.formats.unwritable import ContentKind, Unwritable, general_unwritable
from spanwright.text import Document


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a corpus file that could not be read as it stands."""

    path: str
    line: int
    """Counted from 1; 0 when the whole file is meant."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


@dataclass(slots=True)
class ReadingLog:
    """Counts and problems of a reading. Nothing is dropped without an entry here.

    `*_read` counts what came out in documents, `*_rejected` what the file holds and documents do not; their
    sum is what the file holds. A problem without a rejection is a remark: the data was kept.
    """

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was decided about a file as a whole, such as the tag scheme that was detected."""
    documents_read: int = 0
    documents_rejected: int = 0
    entities_read: int = 0
    entities_rejected: int = 0
    mentions: MentionCounts = field(default_factory=MentionCounts)
    """Of the file that was read last, or is being read."""
    misplaced: list[str] = field(default_factory=list)
    """Files most of whose mentions are not at their offsets, in the words of a note."""
    relations_read: int = 0
    relations_rejected: int = 0

    def remark(self, path: Path, line: int, reason: str) -> None:
        """Note a peculiarity of data that is kept."""
        self.problems.append(Problem(str(path), line, reason))

    def reject_entity(self, path: Path, line: int, reason: str) -> None:
        """Note an annotation that is left out."""
        self.entities_rejected += 1
        self.remark(path, line, reason)

    def reject_relation(self, path: Path, line: int, reason: str) -> None:
        """Note a relation that is left out."""
        self.relations_rejected += 1
        self.remark(path, line, reason)

    def reject_document(self, path: Path, line: int, reason: str, *, entities: int = 0) -> None:
        """Note a document that is left out, with the number of annotations lost with it."""
        self.documents_rejected += 1
        self.entities_rejected += entities
        self.remark(path, line, reason)

    def accept(self, document: Document) -> Document:
        """Count a document that is handed on."""
        self.documents_read += 1
        self.entities_read += len(document.entities)
        self.relations_read += len(document.relations)
        return document

    def conclude(self, path: Path) -> None:
        """Judge the offsets of a file that has been read."""
        if verdict := self.mentions.verdict():
            self.notes.append(f"{path}: {verdict}")
            self.misplaced += self.notes[-1:] if self.mentions.most_are_displaced else []


Reader = Callable[..., Iterator[Document]]
"""Called with a path, a log and the options of its format by name."""
Serialiser = Callable[..., Iterator[str]]
"""Called with an iterable of documents and the writing options of its format by name."""
FolderSerialiser = Callable[[Document], Iterator[tuple[str, str]]]
Writer = Callable[[Iterable[Document], Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One corpus format: how to recognise, read and write it, and what it cannot express."""

    name: str
    description: str
    suffixes: tuple[str, ...]
    """File endings, lower case with the dot, by which an output path chooses this format."""
    recognises: Callable[[Path, str], bool]
    """Given the path and the beginning of the text ('' for a folder): is it this format?"""
    read: Reader
    """Yields the documents of one file (or folder) as a stream, problems into the log."""
    takes_folder: bool = False
    """Whether `read` also takes the `folder` in which a file was found, where ids are names of files."""
    options: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """Choices that a reader leaves to the user: name, and how to read a value (ValueError if it is wrong)."""
    serialise: Serialiser | None = None
    """Chunks of the text of one output file; None when the format cannot be written as one file."""
    serialise_folder: FolderSerialiser | None = None
    """(file name, text) of the files of one document; None when the format is one file."""
    write: Writer | None = None
    """Writes a path by itself, where a format is no stream of text: binary files, and several in one."""
    writes_folder: bool = False
    """Whether `write` makes a folder."""
    compressible: bool = True
    """Whether it can be read compressed: not where files are read in jumps, or several belong together."""
    is_whole: Callable[[Path], bool] = lambda folder: False
    """Is a folder a corpus of this format whose files cannot be read one by one?"""
    writing_options: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """Choices that `serialise` and `own_unwritable` leave to the user, like `options`."""
    holds: frozenset[ContentKind] = frozenset()
    """What it has a place for: of concepts, relations, confidences, corpora, metadata and notes."""
    keys: frozenset[str] = frozenset()
    """Keys of the metadata and the annotation notes that it writes and reads again, if not all of them."""
    own_unwritable: Callable[..., Iterator[Unwritable]] = lambda document: iter(())
    """One line for each thing of a document that it has a place for in general, but cannot express.

    Called with a document and the writing options by name.
    """

    @property
    def is_folder(self) -> bool:
        """Whether it is written as a folder of files."""
        return self.writes_folder or self.serialise_folder is not None

    def unwritable(self, document: Document) -> Iterator[Unwritable]:
        """One line for each thing of a document that the format cannot express, naming the entity."""
        yield from self.own_unwritable(document)
        yield from general_unwritable(document, self.holds, self.keys)


def yes_or_no(text: str) -> bool:
    """The value of an option that is on or off; ValueError for anything else."""
    if text not in ("yes", "no"):
        raise ValueError("expected yes or no")
    return text == "yes"
