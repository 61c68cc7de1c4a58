"""What the formats share that mark entities by character offsets beside the text: PubTator and BRAT."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document, Entity, Relation

_LEGAL_COLUMN = re.compile(r"[^\t\r\n\ud800-\udfff]+")
_FLAT = str.maketrans("\t\n\r", "   ")
_MOST_DIGITS = 15

Kept = TypeVar("Kept")


def whole_number(digits: str) -> int | None:
    """The number written in ASCII digits; None for anything else, and for more digits than any file has."""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def is_column(text: str) -> bool:
    """Whether a text can stand in a column of a tab-separated line of UTF-8."""
    return _LEGAL_COLUMN.fullmatch(text) is not None


def flat(mention: str) -> str:
    """A mention as a column shows it: with blanks for tabs and line breaks."""
    return mention.translate(_FLAT)


def remark_other_mention(
    entity: Entity,
    found: str,
    given: Any,
    path: Path,
    line: int,
    log: ReadingLog,
    *,
    where: str = "",
    text: str | None = None,
    text_start: int = 0,
) -> None:
    """Note when the mention that a line gives is not what was found at its offsets.

    All mentions go through here, also those that are right, so that the log can judge the file as a whole.
    `where` names the document and the annotation in formats that may be all on one line. In formats whose
    offsets may count something else than characters, `text` is what they count in: the document, or a part of
    it that begins at `text_start`.
    """
    is_there = given in (found, flat(found))
    if isinstance(given, str) and given.strip():
        ranges = [(start - text_start, end - text_start) for start, end in entity.ranges]
        log.mentions.count(given, is_there, ranges, text)
    if not is_there:
        log.remark(
            path,
            line,
            f"{where}{': ' if where else ''}the mention is given as {given!r}, but "
            f"[{entity.start}, {entity.end}) is {found!r}; offsets are kept",
        )


def kept_relations(
    kept: Iterable[Kept], parse: Callable[[Kept], Relation | None], relations: Iterable[Relation]
) -> tuple[list[Kept], list[Relation]]:
    """What was kept of a file without relations that are gone, and the relations that it does not have.

    `parse` gives the relation of a kept line or record, if it is one.
    """
    missing = list(relations)
    found: list[Kept] = []
    for each in kept:
        relation = parse(each)
        if relation is None:
            found.append(each)
        elif relation in missing:
            missing.remove(relation)
            found.append(each)
    return found, missing


def given_borders(document: Document) -> Iterator[Unwritable]:
    """A line for formats that cannot express words and sentences, when a document has them given."""
    given = [name for name in ("words", "sentences") if getattr(document, name) is not None]
    if given:
        yield Unwritable(
            "borders", f"the given {' and '.join(given)} of document {document.id!r}", len(given)
        )
