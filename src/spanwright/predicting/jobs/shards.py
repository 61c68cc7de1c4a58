"""How the inputs of a job are cut into shards: always alike, whoever does the work, however often it stops.

Consecutive small files make a group, a large file is one of its own. The documents of a group come as a
stream that is cut into shards of some documents or characters. Groups and shards are numbered: `00003-00012`
is shard 12 of group 3. A group can be read without the others, and a shard tagged without the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.files import stream
from spanwright.formats.format import Problem, ReadingLog
from spanwright.formats.io.file_names import FoundFile, found_file, visible_files
from spanwright.formats.io.opening import bytes_read
from spanwright.text import Document

SHARD_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Input:
    """A file of a job, or a folder that is a corpus."""

    path: str
    bytes: int
    folder: str | None = None
    """In which it was found; the ids of texts are their paths there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How inputs are read and cut."""

    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Choices of the format."""
    shard_documents: int = SHARD_DOCUMENTS
    shard_characters: int = 240_000
    group_bytes: int = 1 << 22

    def __post_init__(self) -> None:
        for name in ("shard_documents", "shard_characters", "group_bytes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: found {getattr(self, name)}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Group:
    """Inputs that are read together."""

    name: str
    inputs: tuple[Input, ...]

    @property
    def bytes(self) -> int:
        """The size of its inputs."""
        return sum(item.bytes for item in self.inputs)


@dataclass(frozen=True, slots=True)
class Shard:
    """Documents that are tagged together, and what was found wrong while they were read."""

    name: str
    documents: tuple[Document, ...]
    paths: tuple[str, ...]
    """The input of each document."""
    problems: tuple[Problem, ...]
    rejected: int
    """Documents that could not be read."""
    unreadable: int
    """Inputs that could not be read, or not to their end."""
    position: int
    """Bytes of the group that were read when it was cut, as far as is known."""

    @property
    def group(self) -> str:
        """The name of its group."""
        return self.name.partition("-")[0]


@dataclass(frozen=True, slots=True)
class GroupEnd:
    """A group has been read."""

    group: str
    sizes: tuple[int, ...]
    """The documents of each of its shards."""
    notes: tuple[str, ...]
    """What was decided about its files, such as the tag scheme that was detected."""


def list_inputs(paths: Iterable[Path | FoundFile]) -> tuple[Input, ...]:
    """The paths with their sizes; that of a folder is the sum of its files."""
    return tuple(
        Input(str(path), _size(path), None if folder is None else str(folder))
        for path, folder in map(found_file, paths)
    )


def _size(path: Path) -> int:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    files = visible_files(path) if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def plan_groups(inputs: Sequence[Input], group_bytes: int) -> list[Group]:
    """Bundle consecutive inputs until they have so many bytes; one that has them is alone."""
    bundles: list[list[Input]] = []
    room = 0
    for item in inputs:
        # An empty file takes room, too: there may be very many of them.
        room -= item.bytes + 1
        if room < 0 or not bundles:
            bundles.append([])
            room = group_bytes - item.bytes - 1
        bundles[-1].append(item)
    digits = max(5, len(str(len(bundles) - 1)))
    return [Group(f"{number:0{digits}}", tuple(bundle)) for number, bundle in enumerate(bundles)]


def unfinished(
    groups: Iterable[Group], reading: Reading, finished: AbstractSet[str]
) -> Iterator[Shard | GroupEnd]:
    """Read groups one after another; shards that are finished are left out."""
    for group in groups:
        for item in read_group(group, reading):
            if isinstance(item, GroupEnd) or item.name not in finished:
                yield item


def read_group(group: Group, reading: Reading) -> Iterator[Shard | GroupEnd]:
    """Yield the shards of a group as its inputs are read, and its end.

    An input that cannot be read is a problem of the shard that its documents would be in; the others go on.
    """
    cutter = _Cutter(group.name, reading)
    before = 0
    for item in group.inputs:
        for document in _documents(item, reading, cutter):
            cutter.add(document, item.path)
            if cutter.is_full:
                yield cutter.cut(before + min(bytes_read(Path(item.path)), item.bytes))
        before += item.bytes
    if cutter.holds_anything:
        yield cutter.cut(before)
    yield GroupEnd(group.name, tuple(cutter.sizes), tuple(cutter.log.notes))


def _documents(item: Input, reading: Reading, cutter: _Cutter) -> Iterator[Document]:
    try:
        file = FoundFile(Path(item.path), None if item.folder is None else Path(item.folder))
        yield from stream(file, cutter.log, format=reading.format, options=reading.options)
    except (OSError, MemoryError, MissingExtraError):
        # Not the fault of the input: the job stops, and goes on when this is mended.
        raise
    except (
        Exception
    ) as error:  # a reader that stumbles over one file must not keep the others from being read
        reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        cutter.unreadable += 1
        cutter.log.remark(Path(item.path), 0, f"not read, or not to its end: {reason}")


class _Cutter:
    """Gathers the documents of a group until they fill a shard."""

    def __init__(self, group: str, reading: Reading) -> None:
        self._group = group
        self._reading = reading
        self._documents: list[Document] = []
        self._paths: list[str] = []
        self._characters = 0
        self.log = ReadingLog()
        self.unreadable = 0
        self.sizes: list[int] = []

    def add(self, document: Document, path: str) -> None:
        """Put a document into the shard."""
        self._documents.append(document)
        self._paths.append(path)
        self._characters += len(document.text)

    @property
    def is_full(self) -> bool:
        """Whether the shard has enough documents or characters."""
        return (
            len(self._documents) >= self._reading.shard_documents
            or self._characters >= self._reading.shard_characters
        )

    @property
    def holds_anything(self) -> bool:
        """Whether there are documents, or problems of documents that are none."""
        return bool(self._documents or self.log.problems)

    def cut(self, position: int) -> Shard:
        """The shard of all that was gathered since the last one."""
        shard = Shard(
            f"{self._group}-{len(self.sizes):05}",
            tuple(self._documents),
            tuple(self._paths),
            tuple(self.log.problems),
            self.log.documents_rejected,
            self.unreadable,
            position,
        )
        self.sizes.append(len(self._documents))
        self._documents, self._paths, self._characters = [], [], 0
        self.log.problems.clear()
        self.log.documents_rejected = self.unreadable = 0
        return shard
