"""What the inputs of `spanwright tag` stand for: files, folders, globs."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path

from spanwright.errors import InputError

STANDARD_STREAM = "-"


def expand(inputs: list[str]) -> list[Path]:
    """Input paths with globs expanded; a folder that is no corpus itself stands for its files."""
    return [file for item in inputs for match in _matches(Path(item)) for file in _files(match)]


def _matches(path: Path) -> list[Path]:
    """The path itself, or what it matches when it is a pattern that the shell has left alone."""
    if path.exists() or str(path) == STANDARD_STREAM:
        return [path]
    if not has_magic(str(path)):
        raise InputError(f"{path}: no such file or folder")
    matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not matches:
        raise InputError(f"{path}: no file matches")
    return matches


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or any(path.rglob("*.ann")):
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError(f"{path}: the folder has no file")
    return files
