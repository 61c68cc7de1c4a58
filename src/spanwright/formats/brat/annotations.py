"""The lines of a BRAT annotation file, to and from entities and their concepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from spanwright.formats.offsets import Offsets
from spanwright.formats.standoff import flat, is_column, whole_number
from spanwright.text import Entity, Range

ENTITY = "T"
OTHER_KINDS = frozenset("NREAM#*")
"""First characters of the lines that are no entities: concepts, relations, events, attributes, notes."""

# `Arg1:T1`, `Theme:E2` or a bare `T1`, after the name of what refers to it.
_REFERENCE = re.compile(r"(?<=[ :])[TREAMN]\d+(?![^ ])")
# Stands for the name of the ontology before a concept id that has none.
_NO_ONTOLOGY = "unknown:"
_LINE = re.compile(r"[^\r\n]+")


def parse_entity(line: str, text: str, offsets: Offsets) -> tuple[str, Entity, str] | str:
    """Id, entity and given mention of a `T` line, or the reason why it marks no entity."""
    columns = line.split("\t", 2)
    if len(columns) < 3:
        return (
            f"{len(columns)} tab-separated columns; expected the id, the type with offsets, and the mention"
        )
    id, head, mention = columns
    type_, _, borders = head.partition(" ")
    given = _ranges(borders)
    ranges = tuple(each for counted in given if (each := offsets.range(*counted)) is not None)
    if not type_ or not ranges or len(ranges) < len(given):
        return (
            f"type and offsets are {head!r}; expected a type and 'start end', or 'start end;start end' for "
            f"pieces that do not overlap, with whole numbers 0 <= start < end <= {offsets.end}"
        )
    ranges = joined_at_line_breaks(ranges, text)
    fragments = ranges if len(ranges) > 1 else ()
    return id, Entity(ranges[0][0], ranges[-1][1], type_, fragments=fragments), mention


def _ranges(offsets: str) -> tuple[Range, ...]:
    """The ranges of `0 5;10 16` in order; none when they are malformed or overlap."""
    ranges: list[Range] = []
    for borders in offsets.split(";"):
        numbers = [whole_number(number) for number in borders.split(" ")]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or numbers[0] >= numbers[1]:
            return ()
        ranges.append((numbers[0], numbers[1]))
    ranges.sort()
    overlap = any(left[1] > right[0] for left, right in pairwise(ranges))
    return () if overlap else tuple(ranges)


def joined_at_line_breaks(ranges: Sequence[Range], text: str) -> tuple[Range, ...]:
    """Ranges as they are meant: brat cuts a mention wherever its text has a line break."""
    joined = [ranges[0]]
    for start, end in ranges[1:]:
        gap = text[joined[-1][1] : start]
        if gap.isspace() and _LINE.fullmatch(gap) is None:
            start = joined.pop()[0]
        joined.append((start, end))
    return tuple(joined)


def cut_at_line_breaks(ranges: Sequence[Range], text: str) -> tuple[Range, ...]:
    """Ranges as brat writes them; one that begins or ends with a line break stays whole."""
    return tuple(each for range_ in ranges for each in _lines_of(range_, text))


def _lines_of(range_: Range, text: str) -> list[Range]:
    lines = [each.span() for each in _LINE.finditer(text, *range_)]
    return lines if lines and (lines[0][0], lines[-1][1]) == range_ else [range_]


def mention_of(entity: Entity, text: str) -> str:
    """The mention of an entity as brat shows it: its lines with blanks between them."""
    return flat(" ".join(text[start:end] for start, end in cut_at_line_breaks(entity.ranges, text)))


def parse_concept(line: str) -> tuple[str, str] | None:
    """The id of the entity and the concept of an `N` line; None when it is malformed."""
    columns = line.split("\t")
    parts = columns[1].split(" ", 2) if len(columns) > 1 else []
    concept = parts[2].removeprefix(_NO_ONTOLOGY) if len(parts) > 2 else ""
    return (parts[1], concept) if concept else None


def concepts_by_entity(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The concepts that the `N` lines among some lines give, by the id of the entity."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.startswith("N") and (parsed := parse_concept(line)) is not None:
            id, concept = parsed
            found[id] = (*found.get(id, ()), concept)
    return found


def entity_line(id: str, entity: Entity, text: str) -> str:
    """The `T` line of an entity."""
    offsets = ";".join(f"{start} {end}" for start, end in cut_at_line_breaks(entity.ranges, text))
    return f"{id}\t{entity.type} {offsets}\t{mention_of(entity, text)}"


def concept_line(id: str, entity_id: str, concept: str, mention: str) -> str:
    """The `N` line of a concept of an entity."""
    has_ontology = ":" in concept and not concept.startswith(_NO_ONTOLOGY)
    return f"{id}\tReference {entity_id} {'' if has_ontology else _NO_ONTOLOGY}{concept}\t{flat(mention)}"


def own_id(line: str) -> str:
    """The id that a line defines."""
    return line.partition("\t")[0]


def lines_that_hold(lines: list[str], entity_ids: Iterable[str]) -> list[str]:
    """The lines that refer only to these entities and to each other."""
    entity_ids = set(entity_ids)
    while True:
        defined = entity_ids.union(map(own_id, lines))
        hold = [line for line in lines if defined.issuperset(_REFERENCE.findall(_second_column(line)))]
        if len(hold) == len(lines):
            return hold
        lines = hold


def _second_column(line: str) -> str:
    return line.split("\t", 2)[1] if "\t" in line else ""


def has_writable_type(entity: Entity) -> bool:
    """Whether the type of an entity can stand before its offsets."""
    return is_column(entity.type) and " " not in entity.type
