"""The annotations of BioC, in the form that its JSON has, to and from entities.

    {"id": "1", "infons": {"type": "Disease", "identifier": "D003693"},
     "locations": [{"offset": 22, "length": 8}], "text": "delirium"}

Several locations are the fragments of an entity; an infon that names an ontology gives its concepts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.bioc.passages import number, objects
from spanwright.formats.json.records import Record, other_keys
from spanwright.formats.offsets import Offsets
from spanwright.formats.pubtator.annotations import join_concepts, split_concepts
from spanwright.text import Document, Entity, Range

_KEYS = frozenset(("line", "locations", "text"))
_CONCEPT_KEYS = frozenset(
    ("identifier", "identifiers", "mesh", "omim", "medic", "chebi", "umls", "cui", "tmvar", "ncbi gene")
) | {"ncbi gene identifier", "ncbi species", "ncbi taxonomy"}
"""Names of infons with concepts, in small letters; the first of an annotation counts."""


def infons_of(record: Record) -> Record:
    """The infons of a record; a list stands for several of one name."""
    infons = record.get("infons")
    if infons is not None and not isinstance(infons, dict):
        raise InputError(f"'infons' is {infons!r:.80}; expected an object")
    return infons or {}


def infon_texts(value: Any) -> list[str]:
    """The texts of the infons that a value of JSON stands for: none for null, several for a list."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in infon_texts(each)]
    return [] if value is None else [json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)]


def is_individual_mention(annotation: Record) -> bool:
    """Whether an annotation is a part of a composite mention, which has an annotation of its own."""
    return infons_of(annotation).get("CompositeRole") == "IndividualMention"


def entity_of(annotation: Record, offsets: Offsets, shift: int) -> tuple[Entity, list[Range]]:
    """The entity that an annotation marks, and its ranges as the file orders them.

    An `InputError` says why it marks none.
    """
    infons = infons_of(annotation)
    type_ = infons.get("type")
    if not isinstance(type_, str) or not type_.strip():
        raise InputError(f"the type is {type_!r:.80}; expected one infon 'type' that is not empty")
    given = [_range(location, offsets, shift) for location in objects(annotation, "locations")]
    if not given:
        raise InputError("there is no location; expected one or more, with offset and length")
    ranges = _united(given)
    fragments = ranges if len(ranges) > 1 else ()
    return Entity(ranges[0][0], ranges[-1][1], type_, fragments, concepts_of(infons)), given


def _range(location: Record, offsets: Offsets, shift: int) -> Range:
    offset, length = number(location.get("offset")), number(location.get("length"))
    found = None
    if offset is not None and length is not None:
        found = offsets.range(offset + shift, offset + shift + length)
    if found is None:
        given = {name: location.get(name) for name in ("offset", "length")}
        raise InputError(
            f"the location is {given!r:.80}; expected whole numbers, a length of at least 1 and an end of "
            f"at most {offsets.end - shift}"
        )
    return found


def _united(given: list[Range]) -> tuple[Range, ...]:
    """Ranges in order, with those that overlap made one."""
    ranges: list[Range] = []
    for start, end in sorted(given):
        if ranges and start < ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return tuple(ranges)


def concepts_of(infons: Record) -> tuple[str, ...]:
    """The concepts of an annotation: the parts of one infon, or several infons of one name."""
    for name, value in infons.items():
        if str(name).lower() in _CONCEPT_KEYS:
            values = infon_texts(value)
            if len(values) == 1:
                return split_concepts(values[0])
            return tuple(each for each in values if split_concepts(each))
    return ()


def kept(annotation: Record) -> Record:
    """What an entity has no place for, for the metadata."""
    return other_keys(annotation, _KEYS)


def new_infons(entity: Entity) -> Record:
    """The infons of an entity that was not read from BioC."""
    if not entity.concepts:
        return {"type": entity.type}
    joined = join_concepts(entity.concepts)
    return {"type": entity.type, "identifier": list(entity.concepts) if joined is None else joined}


def annotations_of(
    document: Document, known: Mapping[str, list[Record]], taken: Iterable[str]
) -> Iterator[tuple[Entity, Record]]:
    """Each entity that has a type, and its annotation.

    An entity that was read has what is `known` of it by its key, but for another type or other concepts that
    it got; any other one gets a number that is not in `taken` as its id.
    """
    used = {str(each.get("id")) for group in known.values() for each in group}.union(taken)
    fresh = (str(number) for number in count() if str(number) not in used)
    waiting = {name: iter(group) for name, group in known.items()}
    for entity in document.entities:
        if entity.type.strip():
            own = next(waiting.get(entity.note_key, iter(())), {})
            if not own:
                own = {"id": next(fresh)}
            elif not _tells(own, entity):
                own = own | {"infons": _other_infons(own) | new_infons(entity)}
            yield entity, _annotation(document, entity, own)


def _tells(known: Record, entity: Entity) -> bool:
    """Whether what was kept is of an annotation that is read as this entity."""
    infons = known.get("infons")
    if not isinstance(infons, dict) or infons.get("type") != entity.type:
        return False
    return concepts_of(infons) == entity.concepts


def _other_infons(known: Record) -> Record:
    """The infons of an annotation that say neither its type nor its concepts."""
    infons = known.get("infons")
    pairs = infons.items() if isinstance(infons, dict) else ()
    return {name: value for name, value in pairs if name != "type" and name.lower() not in _CONCEPT_KEYS}


def _annotation(document: Document, entity: Entity, known: Record) -> Record:
    locations = [{"offset": start, "length": end - start} for start, end in entity.ranges]
    own = {"infons": new_infons(entity)} | other_keys(known, _KEYS)
    return own | {"locations": locations, "text": document.mention(entity)}
