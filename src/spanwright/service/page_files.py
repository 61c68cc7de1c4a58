"""The files of the page, held in memory: a path can name one of them and nothing else."""

from __future__ import annotations

from importlib.resources import files

HTML = "text/html; charset=utf-8"
_MEDIA_TYPES = {
    ".html": HTML,
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"


def page_files() -> dict[str, tuple[bytes, str]]:
    """Content and media type of each file of the page, by the path it is served at."""
    folder = files("spanwright.service") / "page"
    if not folder.is_dir():
        return {}
    found: dict[str, tuple[bytes, str]] = {}
    for file in folder.iterdir():
        suffix = f".{file.name.rpartition('.')[2]}"
        if suffix in _MEDIA_TYPES:
            path = "/" if file.name == _INDEX else f"/page/{file.name}"
            found[path] = (file.read_bytes(), _MEDIA_TYPES[suffix])
    return found
