"""Passages for the error browser: sentences with their marks, as compact JSON of a limited size.

A passage is a sentence, or several that an entity holds together. Those with a mistake of any system come
first, then some of those that every system has right. The page says how many are left out.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from spanwright.reporting.content import Content
from spanwright.reporting.marks import GoldMark, MarkedDocument, PredictedMark, marked_documents
from spanwright.text import Range
from spanwright.text.sentences import sentences

MOST_BYTES = 15_000_000
"""Of JSON for all passages together."""
MOST_RIGHT = 300
"""Passages without a mistake that are shown."""
_CONTEXT = 90
"""Characters of the document shown before and after a passage."""


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A range of a document with the marks that lie in it."""

    marked: MarkedDocument
    number: int
    """Which passage of its document it is, counted from 1."""
    start: int
    end: int
    golds: tuple[int, ...]
    """Positions of gold marks."""
    predictions: tuple[tuple[int, ...], ...]
    """Positions of the predictions of each system."""

    @property
    def has_mistake(self) -> bool:
        """Whether any system is wrong here."""
        return any(any(self.marked.golds[position].kinds) for position in self.golds) or any(
            own[position].kind
            for own, positions in zip(self.marked.predictions, self.predictions, strict=True)
            for position in positions
        )

    @property
    def is_bare(self) -> bool:
        """Whether there is no entity, neither gold nor predicted."""
        return not self.golds and not any(self.predictions)


@dataclass(frozen=True, slots=True)
class Selection:
    """The passages that go into the page, as JSON, and how many there are of each sort."""

    records: tuple[str, ...]
    """One JSON array per passage, in the order of documents; see `record` for its parts."""
    wrong: int
    wrong_shown: int
    right: int
    right_shown: int
    bare: int
    """Passages without any entity, which are never shown."""


def select_passages(
    content: Content, *, most_bytes: int = MOST_BYTES, most_right: int = MOST_RIGHT
) -> Selection:
    """Choose passages by chance (always the same), all wrong ones if they fit."""
    passages = [passage for marked in marked_documents(content.systems) for passage in passages_of(marked)]
    wrong = [position for position, passage in enumerate(passages) if passage.has_mistake]
    right = [
        position
        for position, passage in enumerate(passages)
        if not passage.has_mistake and not passage.is_bare
    ]
    types = {name: number for number, name in enumerate(content.types)}
    records = _fitting(passages, wrong, types, most_bytes)
    room = most_bytes - sum(map(_size, records.values()))
    chosen = random.Random(0).sample(right, min(len(right), most_right))
    right_records = _fitting(passages, chosen, types, room)
    both = records | right_records
    return Selection(
        records=tuple(both[position] for position in sorted(both)),
        wrong=len(wrong),
        wrong_shown=len(records),
        right=len(right),
        right_shown=len(right_records),
        bare=len(passages) - len(wrong) - len(right),
    )


def _fitting(
    passages: Sequence[MarkedPassage], positions: Sequence[int], types: dict[str, int], most_bytes: int
) -> dict[int, str]:
    """The records of passages by position: all, or as many as fit, drawn by chance."""
    records: dict[int, str] = {}
    room = most_bytes
    for position in random.Random(0).sample(positions, len(positions)):
        text = to_json(record(passages[position], types))
        if (size := _size(text)) <= room:
            records[position] = text
            room -= size
        elif room < most_bytes / 100:
            # A huge passage must not keep out the small ones after it, but the last gap may stay open.
            break
    return records


def _size(record: str) -> int:
    """Bytes of a record in the page, with the comma after it."""
    return len(record.encode("utf-8", "backslashreplace")) + 1


def passages_of(marked: MarkedDocument) -> Iterator[MarkedPassage]:
    """Cut a document into passages so that every mark lies in one."""
    marks: list[GoldMark | PredictedMark] = [
        *marked.golds,
        *(mark for own in marked.predictions for mark in own),
    ]
    borders = _joined([*sentences(marked.document), *(_bounds(mark) for mark in marks)])
    starts = [start for start, _ in borders]

    def by_passage(own: Iterable[GoldMark | PredictedMark]) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in borders]
        for position, mark in enumerate(own):
            found[bisect_right(starts, mark.ranges[0][0]) - 1].append(position)
        return found

    golds = by_passage(marked.golds)
    predictions = [by_passage(own) for own in marked.predictions]
    for number, (start, end) in enumerate(borders):
        own = tuple(tuple(positions[number]) for positions in predictions)
        yield MarkedPassage(marked, number + 1, start, end, tuple(golds[number]), own)


def record(passage: MarkedPassage, types: dict[str, int]) -> list[Any]:
    """A passage for the script of the page, with offsets in UTF-16 units, as JavaScript counts.

    `[id, number, note, before, text, after, golds, predictions of each system]`, where a gold is `[type,
    kinds, offsets]` and a prediction `[type, kind, confidence, nearest gold, offsets]`; offsets are starts
    and ends in turn, and kinds are numbers of `KINDS`.
    """
    marked, text = passage.marked, passage.marked.document.text
    own = text[passage.start : passage.end]
    units = _units(own)

    def offsets(ranges: Sequence[Range]) -> list[int]:
        return [units[offset - passage.start] for bounds in ranges for offset in bounds]

    place = {position: index for index, position in enumerate(passage.golds)}
    golds = [marked.golds[position] for position in passage.golds]
    return [
        marked.document.id,
        passage.number,
        marked.note,
        _before(text, passage.start),
        own,
        _after(text, passage.end),
        [[types[mark.type], mark.kinds, offsets(mark.ranges)] for mark in golds],
        [
            [
                [
                    types[mark.type],
                    mark.kind,
                    _rounded(mark.confidence),
                    place.get(mark.nearest, -1),
                    offsets(mark.ranges),
                ]
                for mark in (predictions[position] for position in positions)
            ]
            for predictions, positions in zip(marked.predictions, passage.predictions, strict=True)
        ],
    ]


def to_json(value: Any) -> str:
    """Compact JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(confidence: float | None) -> float | None:
    """A confidence as JSON can hold it, which knows no infinity."""
    return None if confidence is None or not isfinite(confidence) else round(confidence, 4)


def _bounds(mark: GoldMark | PredictedMark) -> Range:
    return mark.ranges[0][0], mark.ranges[-1][1]


def _joined(ranges: list[Range]) -> list[Range]:
    """Ranges that do not overlap, in order; those that did are one."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _units(text: str) -> Sequence[int]:
    """The UTF-16 offset of each character, and of the end of the text."""
    if text.isascii() or max(text) < "\U00010000":
        return range(len(text) + 1)
    units = [0]
    for character in text:
        units.append(units[-1] + (2 if character > "\uffff" else 1))
    return units


def _before(text: str, start: int) -> str:
    """The end of what stands before an offset, from the beginning of a word."""
    if start <= _CONTEXT:
        return text[:start]
    return "… " + text[start - _CONTEXT : start].partition(" ")[2]


def _after(text: str, end: int) -> str:
    """The beginning of what stands after an offset, to the end of a word."""
    if len(text) - end <= _CONTEXT:
        return text[end:]
    return text[end : end + _CONTEXT].rpartition(" ")[0] + " …"
