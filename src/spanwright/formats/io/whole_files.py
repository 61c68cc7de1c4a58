"""Files that appear under their name only when they are complete, what has reached the disk, and digests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A path beside `path` to write to, which takes its name when the block ends without an error.

    What has the name is on the disk: no loss of power leaves a part of it there, or takes it away. Without
    `durable` that is left to the system, which is much faster where thousands of small files are written.
    Where a path is a link, the file that it leads to is replaced; a device or a pipe is written to as it is.
    """
    if is_device(path):
        yield path
        return
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        if durable:
            sync(partial)
        partial.replace(path)
        if durable:
            sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Whether a path is a device, a pipe or a socket, and neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file as a whole, or not at all."""
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def digest_of_files(files: Iterable[Path]) -> str:
    """What identifies files: a digest of their names and contents, in order."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode())
        with file.open("rb") as opened:
            found.update(hashlib.file_digest(opened, "sha256").digest())
    return found.hexdigest()


def sync(path: Path) -> None:
    """Make sure that a file or folder has reached the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
