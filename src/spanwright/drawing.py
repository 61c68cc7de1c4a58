"""Documents as HTML: nested entities as brackets below the text, in the colours of the service's page.

A text is cut wherever a word or an entity begins or ends. Each cut is a box that wraps as words do, with a
line for each entity that covers it; the lines of one entity, side by side, are its bracket.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from pathlib import Path

from spanwright.palette import TYPE_COLOURS, colour_numbers
from spanwright.text import Document, Entity, words

_STYLE = """<style>
.sw-text { background: #fff; color: #1f2328; padding: .6em 1em; margin: .4em 0; border-radius: 6px;
  border: 1px solid #d8dee4; font: 15px/1.3 system-ui, sans-serif; }
.sw-text p { margin: 0; white-space: pre-wrap; }
.sw-cut { position: relative; display: inline-block; vertical-align: top; white-space: pre; }
.sw-line { position: absolute; left: 0; right: 0; height: .35em; border-bottom: 2px solid var(--own); }
.sw-first { border-left: 2px solid var(--own); }
.sw-last { border-right: 2px solid var(--own); }
.sw-label { position: absolute; left: 0; top: .8em; font-size: .72em; line-height: 1; color: var(--own);
  white-space: nowrap; }
</style>"""
_ROW = 1.35
"""Height of a bracket with its label, in em."""
_LABEL = 0.75
"""Width of a letter of a label beside one of the text."""


def display(documents: Document | Iterable[Document], out: str | Path | None = None) -> str:
    """HTML that draws documents with their entities; with `out`, it is written there as a page of its own.

    In a notebook, a document as the last line of a cell draws itself.
    """
    chosen = [documents] if isinstance(documents, Document) else list(documents)
    types = {entity.type for document in chosen for entity in document.entities}
    colours = {name: TYPE_COLOURS[number][0] for name, number in colour_numbers(types).items()}
    drawn = "\n".join([_STYLE, *(_drawn(document, colours) for document in chosen)])
    html = f'<div class="sw-documents">{drawn}</div>'
    if out is not None:
        head = f'<!doctype html><meta charset="utf-8"><title>{escape(chosen[0].id if chosen else "")}</title>'
        Path(out).write_text(head + html, encoding="utf-8")
    return html


def _drawn(document: Document, colours: dict[str, str]) -> str:
    rows = rows_of(document.entities)
    inside = "".join(
        _cut(document.text[start:end], start, end, rows, colours) for start, end in _cuts(document)
    )
    return f'<div class="sw-text"><p>{inside}</p></div>'


def rows_of(entities: Iterable[Entity]) -> dict[Entity, int]:
    """The row of each entity below the text: short ones first, so that what holds others is further down.

    Entities of a row neither overlap nor have labels that would run into each other.
    """
    rows: dict[Entity, int] = {}
    for entity in sorted(entities, key=lambda each: (each.end - each.start, each.start, each.type)):
        begin, end = _taken(entity)
        inner = [row for other, row in rows.items() if other.start < entity.end and entity.start < other.end]
        row = max(inner, default=-1) + 1
        while any(
            row == other_row and _meet((begin, end), _taken(other)) for other, other_row in rows.items()
        ):
            row += 1
        rows[entity] = row
    return rows


def _taken(entity: Entity) -> tuple[int, int]:
    """The characters that an entity takes up in its row, with its label."""
    return entity.start, max(entity.end, entity.start + round(len(entity.type) * _LABEL) + 1)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _cuts(document: Document) -> Iterable[tuple[int, int]]:
    """The places between borders of words and of entities."""
    borders = {0, len(document.text)}
    borders.update(border for word in words(document) for border in word)
    borders.update(border for entity in document.entities for part in entity.ranges for border in part)
    return pairwise(sorted(borders))


def _cut(text: str, start: int, end: int, rows: dict[Entity, int], colours: dict[str, str]) -> str:
    """A piece of text with the lines of the entities that cover it."""
    covering = [
        (entity, row, part)
        for entity, row in rows.items()
        for part in entity.ranges
        if part[0] <= start and end <= part[1]
    ]
    if not covering or "\n" in text:
        return escape(text)
    height = max(row for _, row, _ in covering) + 1
    lines = "".join(_line(entity, row, part, start, end, colours) for entity, row, part in covering)
    return f'<span class="sw-cut" style="padding-bottom:{height * _ROW:.2f}em">{escape(text)}{lines}</span>'


def _line(
    entity: Entity, row: int, part: tuple[int, int], start: int, end: int, colours: dict[str, str]
) -> str:
    ends = (" sw-first" if part[0] == start else "") + (" sw-last" if part[1] == end else "")
    label = f'<span class="sw-label">{escape(entity.type)}</span>' if entity.start == start else ""
    place = f"top:{1.35 + row * _ROW:.2f}em;--own:{colours[entity.type]}"
    return f'<span class="sw-line{ends}" style="{place}">{label}</span>'
