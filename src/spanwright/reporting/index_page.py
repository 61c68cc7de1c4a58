"""One page for a folder: the reports and comparisons in it and below it, to be opened from there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spanwright.errors import InputError
from spanwright.formats.io.file_names import visible
from spanwright.formats.io.whole_files import write_whole
from spanwright.reporting.markup import Element, Node, make, name_of, write

INDEX = "index.html"
_MARK = '<meta name="generator" content="spanwright index">'
"""Tells our page from one that somebody else wrote, which is left alone."""
_REPORT = re.compile(r"<title>(Spanwright report: [^<]*)</title>")
_HEAD = 4096
_COLUMNS = ("recipe", "P", "R", "F1", "95 % interval", "p")


def write_index(folder: Path) -> Path | None:
    """Write the page of a folder with several reports or a comparison; None where there is no need.

    A page of that name that is not ours is left alone.
    """
    reports, comparisons = list(_reports(folder)), list(_comparisons(folder))
    place = folder / INDEX
    foreign = place.exists() and _MARK not in _head(place)
    if foreign or (len(reports) < 2 and not comparisons):
        return None
    write_whole(place, _page(folder, reports, comparisons))
    return place


def _reports(folder: Path) -> Iterator[tuple[Path, str]]:
    """Our reports in a folder, with their titles, the newest first."""
    pages = [file for file in visible(folder.iterdir()) if file.suffix == ".html" and file.name != INDEX]
    for page in sorted(pages, key=lambda file: -file.stat().st_mtime):
        if found := _REPORT.search(_head(page)):
            yield page, unescape(found[1])


def _comparisons(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The folders of comparisons: this one and those directly below it, with their results."""
    below = sorted(child for child in visible(folder.iterdir()) if child.is_dir())
    for place in (folder, *below):
        file = place / "results.json"
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(values, dict) and "heat_map_split" in values and "corpora" in values:
            yield place, values


def _head(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(_HEAD)


def _page(
    folder: Path, reports: list[tuple[Path, str]], comparisons: list[tuple[Path, Mapping[str, Any]]]
) -> str:
    title = f"Spanwright: {folder.resolve().name}"
    parts: list[Node] = [make("h1", None, name_of(title))]
    if reports:
        parts.append(make("h2", None, "Reports"))
        parts.append(make("ul", None, (_report(folder, *each) for each in reports)))
    for place, values in comparisons:
        parts += _comparison(folder, place, values)
    body = write(make("main", None, parts))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{_MARK}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{write(title)}</title><style>{_STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def _report(folder: Path, page: Path, title: str) -> Element:
    made = datetime.fromtimestamp(page.stat().st_mtime).astimezone()
    words = title.removeprefix("Spanwright report: ")
    link = make("a", {"href": _address(folder, page)}, name_of(words))
    return make("li", None, link, make("span", {"class": "quiet"}, f" {page.name}, {made:%Y-%m-%d %H:%M}"))


def _comparison(folder: Path, place: Path, values: Mapping[str, Any]) -> Iterator[Node]:
    called = place.resolve().name
    yield make("h2", None, "Comparison ", name_of(called))
    try:
        for corpus, found in values["corpora"].items():
            yield make("h3", None, name_of(corpus))
            yield _table(found["recipes"])
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{place / 'results.json'}: not the results of a comparison: {error!r}") from None
    files = sorted(file for file in visible(place.iterdir()) if file.is_file())
    for file in files:
        if file.suffix == ".png":
            yield make("img", {"src": _address(folder, file), "alt": file.stem, "loading": "lazy"})
    others = [file for file in files if file.suffix in (".md", ".csv", ".json")]
    links = (make("li", None, make("a", {"href": _address(folder, file)}, file.name)) for file in others)
    yield make("ul", {"class": "files"}, links)


def _table(recipes: Mapping[str, Any]) -> Element:
    head = make("tr", None, (make("th", {"scope": "col"}, name) for name in _COLUMNS))
    rows = (
        make(
            "tr",
            None,
            make("th", {"scope": "row"}, name_of(name)),
            (make("td", None, cell) for cell in cells),
        )
        for name, cells in ((name, _cells(values)) for name, values in recipes.items())
    )
    return make(
        "div", {"class": "wide"}, make("table", None, make("thead", None, head), make("tbody", None, rows))
    )


def _cells(values: Mapping[str, Any]) -> list[str]:
    scores = [f"{100 * values[name]['mean']:.1f}" for name in ("precision", "recall", "f1")]
    ends = values.get("f1_interval")
    interval = "-" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"
    p_value = values["p_value"]
    return [*scores, interval, "base" if p_value is None else f"{p_value:.4f}"]


def _address(folder: Path, file: Path) -> str:
    return quote(file.relative_to(folder).as_posix())


_STYLE = (
    ":root{color-scheme:light dark;--quiet:#566273;--rule:#c9d1da}"
    "@media(prefers-color-scheme:dark){:root{--quiet:#9aa7b8;--rule:#3a4553}}"
    "body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:70rem;margin:auto;padding:1rem}"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}h3{font-size:1rem}.quiet{color:var(--quiet)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}th,td{padding:.25rem .75rem .25rem 0"
    ";text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child{text-align:left}"
    "img{max-width:100%;height:auto;display:block;margin:1rem 0;background:#fff}"
    ".files{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0}"
)
