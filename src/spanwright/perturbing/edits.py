"""Edits of a document: the text changes, and everything that points into it moves along.

Every perturbation is a list of edits, so offsets are kept right in this one place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from spanwright.text import Document, Entity, Range


@dataclass(frozen=True, slots=True)
class Edit:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str
    words: tuple[Range, ...] | None = None
    """The words of `new`, which replace the given words of the document there; None when `new` has none of
    its own, because it is a part of a word or stands between words."""


class OffsetMap:
    """Where the borders of ranges lie after edits, which are sorted and disjoint.

    A range keeps to what it covered: text inserted at its border stays outside, and where an edit
    replaces its border together with text outside, the range loses what the edit replaces.
    """

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        self._ends = [edit.end for edit in edits]
        growth = (len(edit.new) - (edit.end - edit.start) for edit in edits)
        self._growth = [0, *accumulate(growth)]

    def start(self, position: int) -> int:
        """Where a range that began at a position begins."""
        before = bisect_right(self._ends, position)
        if before < len(self._edits) and self._starts[before] < position:
            return self._ends[before] + self._growth[before + 1]
        return position + self._growth[before]

    def end(self, position: int) -> int:
        """Where a range that ended at a position ends."""
        before = bisect_left(self._starts, position)
        if before and self._ends[before - 1] > position:
            return self._starts[before - 1] + self._growth[before - 1]
        return position + self._growth[before]

    def ranges(self, ranges: Iterable[Range]) -> list[Range]:
        """Ranges after the edits, without those of which nothing is left."""
        moved = ((self.start(start), self.end(end)) for start, end in ranges)
        return [(start, end) for start, end in moved if start < end]

    def kept_range(self, given: Range) -> Range:
        """The range of an entity, which no edit may cut or delete."""
        start, end = given
        moved = self.start(start), self.end(end)
        if self._inside(start) or self._inside(end) or moved[0] >= moved[1]:
            raise ValueError(f"an edit cuts or deletes the entity at [{start}, {end})")
        return moved

    def new_start(self, number: int) -> int:
        """Where the new text of an edit, given by its position in the list, begins."""
        return self._starts[number] + self._growth[number]

    def _inside(self, position: int) -> bool:
        before = bisect_right(self._ends, position)
        return before < len(self._edits) and self._starts[before] < position


def edited(document: Document, edits: Iterable[Edit]) -> Document:
    """The document after disjoint edits of its text; itself when they change nothing.

    Entities, given words and given sentences move with the text. Edits that cut an entity at its border or
    delete it are a ValueError. An entity that is replaced by other words loses its concepts. Annotation
    notes, whose offsets hold no more, are gone.
    """
    text = document.text
    changes = [edit for edit in edits if text[edit.start : edit.end] != edit.new]
    if not changes:
        return document
    changes.sort(key=lambda edit: (edit.start, edit.end))
    for left, right in pairwise(changes):
        if right.start < left.end:
            raise ValueError(f"edits overlap: {left} and {right}")
    offsets = OffsetMap(changes)
    replaced = {(edit.start, edit.end) for edit in changes if edit.words is not None}
    moved = {entity: _entity(entity, offsets, replaced) for entity in document.entities}
    return replace(
        document,
        text=_text(text, changes),
        entities=tuple(moved[entity] for entity in document.entities),
        relations=tuple(relation.with_changed_entities(moved) for relation in document.relations),
        annotation_notes={},
        words=None if document.words is None else _words(document.words, changes, offsets),
        sentences=None if document.sentences is None else tuple(offsets.ranges(document.sentences)),
    )


def _text(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (text[done : edit.start], edit.new)
        done = edit.end
    return "".join((*parts, text[done:]))


def _entity(entity: Entity, offsets: OffsetMap, replaced: set[Range]) -> Entity:
    ranges = [offsets.kept_range(each) for each in entity.ranges]
    return replace(
        entity,
        start=ranges[0][0],
        end=ranges[-1][1],
        fragments=tuple(ranges) if entity.fragments else (),
        concepts=() if set(entity.ranges) <= replaced else entity.concepts,
    )


def _words(given: tuple[Range, ...], edits: Sequence[Edit], offsets: OffsetMap) -> tuple[Range, ...]:
    """The given words after edits: moved, or replaced by the words of an edit."""
    starts = [start for start, _ in given]
    gone: set[int] = set()
    new: list[Range] = []
    for number, edit in enumerate(edits):
        if edit.words is None or _within_a_word(edit, given, starts):
            continue
        first = bisect_left(starts, edit.start)
        while first < len(given) and given[first][1] <= edit.end:
            gone.add(first)
            first += 1
        shift = offsets.new_start(number)
        new += [(start + shift, end + shift) for start, end in edit.words]
    kept = (word for number, word in enumerate(given) if number not in gone)
    return tuple(sorted([*offsets.ranges(kept), *new]))


def _within_a_word(edit: Edit, given: tuple[Range, ...], starts: list[int]) -> bool:
    """Whether an edit changes a part of one given word."""
    word = bisect_right(starts, edit.start) - 1
    if word < 0 or given[word] == (edit.start, edit.end):
        return False
    start, end = given[word]
    return edit.end <= end and (start < edit.start < end or edit.end > edit.start)
