"""The annotation and relation lines of PubTator, as columns, to and from entities.

An annotation has the columns id, start, end, mention, type, and perhaps concepts and the parts of a composite
mention; a relation has the columns id, name, two concepts, and perhaps a note.
"""

from __future__ import annotations

import re

from spanwright.formats.offsets import Offsets
from spanwright.formats.standoff import flat, is_column, whole_number
from spanwright.text import Argument, Document, Entity, Relation

_SEPARATORS = re.compile(r"[|,;+]")
# Sequence variants (`c|SUB|G|2633+1|C;Gene:6559`) have bars, commas and signs inside an identifier. Some have
# no level (`|DEL|46|S`), a place beside the kind (`c|DEL888|C`) or their source (`tmVar:p|SUB|V|600|E`).
_VARIANT = re.compile(r"(?:tmVar:)?[a-z]?\|[A-Za-z]+\d*\|")
_NO_CONCEPT = frozenset(("", "-", "-1"))


def entity_of(columns: list[str], id: str, offsets: Offsets) -> Entity | str:
    """The entity that an annotation of the block `id` marks, or the reason why it marks none."""
    if len(columns) < 5:
        return f"{len(columns)} tab-separated columns; expected id, start, end, mention, type and concepts"
    if columns[0] != id:
        return f"an annotation of {columns[0]!r} in the block of {id!r}"
    start, end = whole_number(columns[1]), whole_number(columns[2])
    range_ = None if start is None or end is None else offsets.range(start, end)
    if range_ is None:
        return (
            f"the offsets of {columns[3]!r} are {columns[1]!r} and {columns[2]!r}; "
            f"expected whole numbers 0 <= start < end <= {offsets.end}"
        )
    if not columns[4]:
        return f"{columns[3]!r} at [{start}, {end}) has no type"
    return Entity(*range_, columns[4], concepts=split_concepts(columns[5]) if len(columns) > 5 else ())


def with_whole_mention(columns: list[str], text: str, offsets: Offsets) -> list[str]:
    """The columns of an annotation; a mention that has tabs in the text is one column."""
    start, end = (whole_number(column) for column in columns[1:3]) if len(columns) > 5 else (None, None)
    range_ = None if start is None or end is None else offsets.range(start, end)
    mention = text[slice(*range_)] if range_ is not None else ""
    rest = 4 + mention.count("\t")
    is_torn = "\t" in mention and "\t".join(columns[3:rest]) == mention
    return [*columns[:3], flat(mention), *columns[rest:]] if is_torn else columns


def is_relation(columns: list[str], text: str) -> bool:
    """Whether a line is a relation.

    An annotation whose start is not a number looks alike, but its mention stands before its end.
    """
    if not (4 <= len(columns) <= 5 and columns[1][:1].isalpha()):
        return False
    end = whole_number(columns[2])
    return end is None or not text[:end].endswith(columns[3])


def relation_of(columns: list[str]) -> Relation:
    """The relation of a line that is one."""
    _, type_, first, second, *note = columns
    return Relation(type_, (Argument(first), Argument(second)), "".join(note))


def relation_columns(relation: Relation, text: str) -> list[str]:
    """The columns that are read as a relation, but for the id; none when there are no such columns."""
    targets = [each.target for each in relation.arguments]
    columns = ["", relation.type, *map(str, targets), *([relation.note] if relation.note else [])]
    is_readable = len(targets) == 2 and all(map(is_column, columns[1:])) and is_relation(columns, text)
    return columns[1:] if is_readable and relation_of(columns) == relation else []


def split_concepts(column: str) -> tuple[str, ...]:
    """The concept ids of the sixth column."""
    if column.isalnum():
        return (column,)
    column = column.strip()
    if column in _NO_CONCEPT:
        return ()
    parts = column.split(";") if _VARIANT.match(column) else _SEPARATORS.split(column)
    return tuple(stripped for part in parts if (stripped := part.strip()) not in _NO_CONCEPT)


def join_concepts(concepts: tuple[str, ...]) -> str | None:
    """The sixth column that is read as these concepts; None when there is none."""
    for separator in "|;":
        column = separator.join(concepts)
        if split_concepts(column) == concepts and (not concepts or is_column(column)):
            return column
    return None


def other_columns(columns: list[str], entity: Entity) -> str:
    """What stands after the type of an annotation, unless the concepts alone would give the same."""
    kept = "\t".join(columns[5:]).rstrip("\t")
    return kept if kept != "|".join(entity.concepts) else ""


def columns_of(entity: Entity, document: Document) -> list[str]:
    """The columns of an annotation, but for the id."""
    columns = [str(entity.start), str(entity.end), flat(document.mention(entity)), entity.type]
    more = _kept_columns(entity, document) or join_concepts(entity.concepts)
    return [*columns, more] if more else columns


def _kept_columns(entity: Entity, document: Document) -> str:
    """What stood after the type in the file that was read, if it still has the concepts of the entity."""
    kept = document.annotation_notes.get("pubtator_columns")
    found = kept.get(entity.note_key) if isinstance(kept, dict) else None
    if not isinstance(found, str):
        return ""
    is_readable = (
        is_column(found.replace("\t", " ")) and split_concepts(found.split("\t")[0]) == entity.concepts
    )
    return found if is_readable else ""


def obstacle(entity: Entity) -> str:
    """What keeps an entity from being written, in the words of `Unwritable`; '' when nothing does."""
    if len(entity.ranges) > 1:
        return "the fragments of"
    return "" if is_column(entity.type) else "the type of"
