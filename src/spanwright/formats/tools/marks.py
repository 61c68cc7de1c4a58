"""What the formats of annotation tools share: marked ranges of a text, each in one piece, and pairs of them.

None of them has a place for a mention in several pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.standoff import given_borders
from spanwright.formats.token_texts import plain_pair
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_relation
from spanwright.text import Argument, Document, Entity, Relation

Key = TypeVar("Key", bound=Hashable)


def read_marks(
    values: Iterable[Any], parse: Callable[[Any], Entity], path: Path, line: int, log: ReadingLog, where: str
) -> list[Entity | None]:
    """The entity of each value; None, and a rejection, for those that `parse` refuses."""
    found: list[Entity | None] = []
    for number, value in enumerate(values):
        try:
            found.append(parse(value))
        except InputError as error:
            log.reject_entity(path, line, f"{where}: mark {number}: {error}")
            found.append(None)
    remark_odd_entities(filter(None, found), path, line, log, where=where)
    return found


def read_pairs(
    values: Iterable[Any],
    parse: Callable[[Any], Iterable[Relation]],
    path: Path,
    line: int,
    log: ReadingLog,
    where: str,
) -> tuple[Relation, ...]:
    """The relations of each value; a rejection for those that `parse` refuses."""
    found: list[Relation] = []
    for number, value in enumerate(values):
        try:
            found += parse(value)
        except InputError as error:
            log.reject_relation(path, line, f"{where}: relation {number}: {error}")
    return tuple(found)


def read_pair(type_: Any, ends: tuple[Key, Key], marks: Mapping[Key, Entity | None]) -> Relation:
    """The relation between two marks that are named by their keys; an `InputError` for anything else."""
    first, second = (marks.get(end) for end in ends)
    if first is None or second is None:
        raise InputError(f"it holds of {ends!r:.80}, one of which was rejected or is no mark")
    if not isinstance(type_, str):
        raise InputError(f"its type is {type_!r:.80}; expected a string")
    return Relation(type_, (Argument(first), Argument(second)))


def whole_entities(document: Document) -> list[Entity]:
    """The entities in one piece, which are those that are written."""
    return [entity for entity in document.entities if not entity.fragments]


def written_pairs(document: Document) -> Iterator[tuple[int, int, Relation]]:
    """The positions among the written entities of the two ends of each relation that can be written."""
    places = {entity: place for place, entity in reversed(list(enumerate(whole_entities(document))))}
    for relation in document.relations:
        pair = plain_pair(relation)
        if pair and all(entity in places for entity in pair):
            yield places[pair[0]], places[pair[1]], relation


def unwritable_marks(document: Document, *, pairs: bool, borders: bool = True) -> Iterator[Unwritable]:
    """A line for each entity in several pieces, and for relations that are no plain pairs of written ones.

    Without `pairs`, relations are not looked at. With `borders`, there is a line for given words and
    sentences, too.
    """
    for entity in document.entities:
        if entity.fragments:
            yield Unwritable("entities", f"the discontinuous entity {shown_entity(document, entity)}")
    if pairs:
        written = [relation for _, _, relation in written_pairs(document)]
        for relation in document.relations:
            if relation in written:
                written.remove(relation)
            else:
                yield unwritable_relation(document, relation)
    if borders:
        yield from given_borders(document)
