"""Opening files for reading, compressed or not: every reader of text and XML opens its files here.

What ends with `.gz`, `.bz2`, `.xz` or `.zst` is decompressed as it is read, and is otherwise like the file
without that ending: `docs.jsonl.gz` has the format and the ids of `docs.jsonl`.

A small file that would unfold into an endless text is refused: beyond the first 64 MB, no more than 250 times
the bytes that were read so far may come out. Running text shrinks to a third or a tenth.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from spanwright.errors import InputError
from spanwright.formats.tables.arrow import import_pyarrow

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_BUFFER_BYTES = 1 << 20
_FREE_BYTES = 1 << 26
_LARGEST_EXPANSION = 250

_being_read: dict[Path, BinaryIO] = {}
"""The files that are open now, and no others. Of the process, because whoever shows how far a reading has
come has only a stream of documents in hand: between it and the open file stand the generators of a format,
which would all have to pass a count on."""


def is_compressed(path: Path) -> bool:
    """Whether a path has the ending of a compressed file."""
    return path.suffix.lower() in COMPRESSED


def bare_path(path: Path) -> Path:
    """The path without the ending of its compression: it decides the format and the ids of a file."""
    return path.with_suffix("") if is_compressed(path) else path


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The content of a file as a buffered stream of bytes, decompressed where the ending says so."""
    with path.open("rb", buffering=_BUFFER_BYTES) as stored:
        _being_read[path] = stored
        try:
            if is_compressed(path):
                with io.BufferedReader(_Expanded(path, stored), _BUFFER_BYTES) as expanded:
                    yield expanded
            else:
                yield stored
        finally:
            _being_read.pop(path, None)


def bytes_read(path: Path) -> int:
    """How many bytes have been read of a file that is open now, as it is on disk; 0 if it is not open."""
    stored = _being_read.get(path)
    return 0 if stored is None or stored.closed else stored.tell()


class _Expanded(io.RawIOBase):
    """What is in a compressed file."""

    def __init__(self, path: Path, stored: BinaryIO) -> None:
        self._path = path
        self._stored = stored
        self._content: Any = _decompressor(path, stored)
        self._bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One read at a time, so that all that is good comes out before an error does.
        try:
            chunk: bytes = self._content.read1(len(buffer))
        except OSError as error:
            if error.errno is not None:  # of the disk, not of what is on it
                raise
            raise self._not_whole(error) from None
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise self._not_whole(error) from None
        buffer[: len(chunk)] = chunk
        self._bytes += len(chunk)
        if self._bytes > max(_FREE_BYTES, _LARGEST_EXPANSION * self._stored.tell()):
            raise InputError(
                f"{self._path}: expands to more than {_LARGEST_EXPANSION} times its size, as no text does; "
                f"if it is meant to, decompress it and read the file that comes out"
            )
        return len(chunk)

    def _not_whole(self, error: Exception) -> InputError:
        reason = " ".join(str(error).split())
        return InputError(
            f"{self._path}: not a whole {self._path.suffix} file ({reason:.200}); expected one as its "
            f"ending says"
        )


def _decompressor(path: Path, stored: BinaryIO) -> Any:
    match path.suffix.lower():
        case ".gz":
            return gzip.GzipFile(fileobj=stored)
        case ".bz2":
            return bz2.BZ2File(stored)
        case ".xz":
            return lzma.LZMAFile(stored)
        case _:
            # The standard library of our oldest Python has no Zstandard, but pyarrow has.
            pyarrow = import_pyarrow(f"{path}: reading .zst files")
            return pyarrow.CompressedInputStream(stored, "zstd")
