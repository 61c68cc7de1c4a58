"""The files of folders without those that are hidden, such as `.git` and `.ipynb_checkpoints`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def visible(paths: Iterable[Path]) -> list[Path]:
    """The files and folders whose name begins with no dot, in their order."""
    # Links to folders may lead round in a circle.
    return sorted(
        path
        for path in paths
        if not path.name.startswith(".") and (path.is_file() or (path.is_dir() and not path.is_symlink()))
    )


def visible_files(folder: Path) -> list[Path]:
    """All files in a folder and in the folders in it, in their order."""
    files: list[Path] = []
    for path in visible(folder.iterdir()):
        files += visible_files(path) if path.is_dir() else [path]
    return files
