"""The files of the page, held in memory: a path can name one of them and nothing else."""

from __future__ import annotations

from importlib.resources import files

from spanwright.palette import style_sheet

HTML = "text/html; charset=utf-8"
_MEDIA_TYPES = {
    ".html": HTML,
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PATHS = {"index.html": "/", "annotate.html": "/annotate"}
"""Of files that have an address of their own."""


def page_files(*, annotate: bool = False) -> dict[str, tuple[bytes, str]]:
    """Content and media type of each file of the page, by the path it is served at.

    The page to annotate on is among them only where there is something to annotate.
    """
    folder = files("spanwright.service") / "page"
    if not folder.is_dir():
        return {}
    found: dict[str, tuple[bytes, str]] = {}
    for file in folder.iterdir():
        suffix = f".{file.name.rpartition('.')[2]}"
        if suffix in _MEDIA_TYPES:
            path = _PATHS.get(file.name, f"/page/{file.name}")
            found[path] = (file.read_bytes(), _MEDIA_TYPES[suffix])
    if not annotate:
        found.pop(_PATHS["annotate.html"], None)
    found["/page/palette.css"] = (style_sheet().encode(), _MEDIA_TYPES[".css"])
    return found
