"""What the inputs of `spanwright tag` and `spanwright job` stand for: files, folders, globs."""

from __future__ import annotations

from glob import glob, has_magic
from pathlib import Path

from spanwright.errors import InputError
from spanwright.formats.files import FORMATS
from spanwright.formats.io.visible_files import visible

STANDARD_STREAM = "-"


def expand(inputs: list[str]) -> list[Path]:
    """Input paths with globs expanded; a folder that is no corpus itself stands for its files."""
    return [file for item in inputs for match in _matches(Path(item)) for file in _found(match)]


def _matches(path: Path) -> list[Path]:
    """The path itself, or what it matches when it is a pattern that the shell has left alone."""
    if path.exists() or str(path) == STANDARD_STREAM:
        return [path]
    if not has_magic(str(path)):
        raise InputError(f"{path}: no such file or folder")
    found = glob(str(path), recursive=True)  # noqa: PTH207 - leaves out what is hidden, as shells do
    matches = sorted(map(Path, found))
    if not matches:
        raise InputError(f"{path}: no file matches")
    return matches


def _found(path: Path) -> list[Path]:
    files = _files(path)
    if not files:
        raise InputError(f"{path}: the folder has no file")
    return files


def _files(path: Path) -> list[Path]:
    """The path if it is a file or a corpus as a whole, else what is in the folder, without what is hidden."""
    if not path.is_dir() or any(format.is_whole(path) for format in FORMATS.values()):
        return [path]
    return [file for child in visible(path.iterdir()) for file in _files(child)]
