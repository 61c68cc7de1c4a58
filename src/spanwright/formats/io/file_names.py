"""Names of files: ids of documents as safe names and back, those found in a folder, and those hidden."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

_SAFE = "#+,=@"
_LONGEST = 200


class FoundFile(NamedTuple):
    """A file, and the folder that was given for it: the ids of texts are their paths in that folder."""

    path: Path
    folder: Path | None = None


def found_file(path: str | Path | FoundFile) -> FoundFile:
    """A path as a found file; one that was given by itself has no folder."""
    return path if isinstance(path, FoundFile) else FoundFile(Path(path))


def file_name(id: str) -> str:
    """A file name, without an ending, that no other id has and that stays in its folder.

    Everything but letters, digits and harmless signs of ASCII becomes `%` and its bytes; so does a dot at
    the beginning, which would hide the file or lead out of the folder. A long name is cut and gets a digest.
    """
    name = quote(id, safe=_SAFE, errors="surrogatepass")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name) > _LONGEST:
        digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        name = f"{name[:_LONGEST]}~{digest}"
    return name or "%"


def id_of_file_name(name: str) -> str:
    """The id that `file_name` made a name of; any other name is an id as it is."""
    try:
        id = unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        return name
    return id if file_name(id) == name else name


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
