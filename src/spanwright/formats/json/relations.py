"""Relations as JSON objects, as our own formats have them.

    {"type": "CID", "arguments": [{"concept": "D008750"}, {"entity": 3, "role": "Effect"}], "note": "Novel"}

An argument is a concept, or the position of an entity in the list of those of the document. Roles and notes
that are empty are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.json.records import Record
from spanwright.text import Argument, Entity, Relation


def relation_records(relations: Iterable[Relation], entities: Sequence[Entity]) -> list[Record]:
    """The records of relations between these entities; of equal entities, the first is meant."""
    places: dict[Entity, int] = {}
    for place, entity in enumerate(entities):
        places.setdefault(entity, place)
    return [_record(relation, places) for relation in relations]


def _record(relation: Relation, places: dict[Entity, int]) -> Record:
    arguments = []
    for argument in relation.arguments:
        target = argument.target
        named = {"entity": places[target]} if isinstance(target, Entity) else {"concept": target}
        arguments.append(named | ({"role": argument.role} if argument.role else {}))
    note = {"note": relation.note} if relation.note else {}
    return {"type": relation.type, "arguments": arguments} | note


def read_relations(
    values: Iterable[Any], entities: Sequence[Entity | None], path: Path, line: int, log: ReadingLog
) -> Iterator[Relation]:
    """The relations of records; wrong ones, and those of entities that were rejected (None), are rejected."""
    for number, value in enumerate(values):
        try:
            yield relation_of(value, entities)
        except InputError as error:
            log.reject_relation(path, line, f"relation {number}: {error}")


def relation_of(value: Any, entities: Sequence[Entity | None]) -> Relation:
    """The relation of a record; anything else is an `InputError` that says what was found."""
    arguments = value.get("arguments") if isinstance(value, dict) else None
    if not isinstance(arguments, list):
        raise InputError(f"{value!r:.80} was found; expected an object with a type and a list of arguments")
    found = tuple(_argument(each, entities) for each in arguments)
    return Relation(_text(value, "type", needed=True), found, _text(value, "note"))


def _argument(value: Any, entities: Sequence[Entity | None]) -> Argument:
    if not isinstance(value, dict) or (value.get("entity") is None) == (value.get("concept") is None):
        raise InputError(f"the argument is {value!r:.80}; expected an object with an entity or a concept")
    place = value.get("entity")
    if place is None:
        return Argument(_text(value, "concept"), _text(value, "role"))
    entity = entities[place] if type(place) is int and 0 <= place < len(entities) else None
    if entity is None:
        raise InputError(
            f"an argument is entity {place!r:.80}, which was rejected or is none of {len(entities)}"
        )
    return Argument(entity, _text(value, "role"))


def _text(value: Record, key: str, *, needed: bool = False) -> str:
    text = value.get(key)
    if text is None and not needed:
        return ""
    if not isinstance(text, str):
        raise InputError(f"{key!r} is {text!r:.80}; expected a string")
    return text
