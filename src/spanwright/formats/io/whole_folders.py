"""Folders that appear under their name only when they are complete."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spanwright.errors import InputError, counted
from spanwright.formats.io.whole_files import sync


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` to write to, which takes its place when the block ends without an error.

    What has the name is on the disk, and a folder that had it before is gone only then.
    """
    folder = folder.resolve()  # so that it has a name, whichever way it was given
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        yield partial
        for path in partial.rglob("*"):
            sync(path)
        _replace(partial, folder)
    except OSError:
        restore_folder(folder)
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def filled_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` to write a corpus to; its files go there after a block without an error.

    Files of the same names are replaced. A folder that holds other files of the same endings is refused, as
    they would be read as a part of this corpus; it is left as it is.
    """
    folder = folder.resolve()
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        yield partial
        names = {path.name for path in partial.iterdir()}
        endings = {path.suffix for path in partial.iterdir()}
        there = sorted(folder.iterdir()) if folder.exists() else []
        if others := [path.name for path in there if path.suffix in endings and path.name not in names]:
            raise InputError(
                f"{folder}: {counted(len(others), 'file')} there, such as {others[0]}, would be read as a "
                f"part of what is written; expected a new folder, or one with the same documents"
            )
        folder.mkdir(parents=True, exist_ok=True)
        for path in partial.iterdir():
            path.replace(folder / path.name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Put back the old folder of a replacement that was cut off between its two renames."""
    if not folder.exists() and _retired(folder).is_dir():
        _retired(folder).rename(folder)


def _replace(new: Path, old: Path) -> None:
    """Put a complete folder in the place of another; at no moment is there a half-written one."""
    retired = _retired(old)
    shutil.rmtree(retired, ignore_errors=True)
    if old.exists():
        old.rename(retired)
    new.rename(old)
    sync(old.parent)
    shutil.rmtree(retired, ignore_errors=True)


def _retired(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.retired")
