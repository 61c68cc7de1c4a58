"""The annotations of BioC, in the form that its JSON has, to and from entities.

{"id": "1", "infons": {"type": "Disease", "identifier": "D003693"},
 "locations": [{"offset": 22, "length": 8}], "text": "delirium"}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from spanwright.corpora.bioc_passages import Unit, number, objects
from spanwright.corpora.pubtator_annotations import join_concepts, split_concepts
from spanwright.corpora.records import Record, other_keys
from spanwright.corpora.standoff import key
from spanwright.errors import InputError
from spanwright.text import Document, Entity, Range

_KEYS = frozenset(("line", "locations", "text"))
_CONCEPT_KEYS = frozenset(
    """identifier identifiers mesh omim medic chebi umls cui tmvar ncbi_gene ncbi_gene_identifier
    ncbi_species ncbi_taxonomy""".split()
)
"""Names of infons with concepts, in small letters and with underscores; the first of an annotation counts."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets of a file as positions in the text of a document."""

    end: int
    """The offset of the end of the text."""
    positions: dict[int, int] | None
    """By offset; None where offsets count characters."""

    @classmethod
    def of(cls, text: str, unit: Unit) -> Offsets:
        """The offsets of a text that count characters, or bytes of UTF-8."""
        if unit == "characters" or text.isascii():
            return cls(len(text), None)
        positions, offset = {0: 0}, 0
        for position, character in enumerate(text, start=1):
            offset += len(character.encode())
            positions[offset] = position
        return cls(offset, positions)

    def range(self, offset: int, end: int) -> Range | None:
        """The characters between two offsets; None if there are none, or if an offset is inside of one."""
        if not 0 <= offset < end <= self.end:
            return None
        if self.positions is None:
            return offset, end
        first, last = self.positions.get(offset), self.positions.get(end)
        return None if first is None or last is None else (first, last)


def infons_of(record: Record) -> Record:
    """The infons of a record; a list stands for several of one name."""
    infons = record.get("infons")
    if infons is not None and not isinstance(infons, dict):
        raise InputError(f"'infons' is {infons!r:.80}; legal is an object")
    return infons or {}


def is_individual_mention(annotation: Record) -> bool:
    """Whether an annotation is a part of a composite mention, which has an annotation of its own."""
    return infons_of(annotation).get("CompositeRole") == "IndividualMention"


def entity_of(annotation: Record, offsets: Offsets, shift: int) -> tuple[Entity, list[Range]]:
    """The entity that an annotation marks, and its pieces as the file orders them.

    An `InputError` tells why it marks none.
    """
    infons = infons_of(annotation)
    type_ = infons.get("type")
    if not isinstance(type_, str) or not type_:
        raise InputError(f"the type is {type_!r:.80}; legal is one infon 'type' that is not empty")
    given = [_range(location, offsets, shift) for location in objects(annotation, "locations")]
    if not given:
        raise InputError("there is no location; legal are one or more, with offset and length")
    pieces = _united(given)
    fragments = pieces if len(pieces) > 1 else ()
    return Entity(pieces[0][0], pieces[-1][1], type_, fragments, concepts_of(infons)), given


def _range(location: Record, offsets: Offsets, shift: int) -> Range:
    offset, length = number(location.get("offset")), number(location.get("length"))
    found = None
    if offset is not None and length is not None:
        found = offsets.range(offset + shift, offset + shift + length)
    if found is None:
        raise InputError(
            f"the location has offset {location.get('offset')!r:.80} and length {location.get('length')!r:.80}; "
            f"legal are whole numbers, a length of at least 1 and an end of at most {offsets.end - shift}"
        )
    return found


def _united(given: list[Range]) -> tuple[Range, ...]:
    """Ranges in order, with those that overlap made one."""
    pieces: list[Range] = []
    for start, end in sorted(given):
        if pieces and start < pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
        else:
            pieces.append((start, end))
    return tuple(pieces)


def concepts_of(infons: Record) -> tuple[str, ...]:
    """The concepts of an annotation: the parts of one infon, or several infons of one name."""
    for name, value in infons.items():
        if str(name).lower().replace(" ", "_") in _CONCEPT_KEYS:
            values = [
                str(each) for each in (value if isinstance(value, list) else [value]) if each is not None
            ]
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


def annotations_of(document: Document, kept: Any, taken: Iterable[str]) -> Iterator[tuple[Entity, Record]]:
    """Each entity that has a type, and its annotation.

    An entity that is as it was read has what `kept` (annotations by key) tells of it; another one gets a
    number that is not in `taken` as its id.
    """
    table = (
        {name: list(each) for name, each in kept.items() if isinstance(each, list)}
        if isinstance(kept, dict)
        else {}
    )
    used = {str(each.get("id")) for group in table.values() for each in group if isinstance(each, dict)}
    used.update(taken)
    fresh = (str(number) for number in count() if str(number) not in used)
    for entity in document.entities:
        if entity.type:
            group = table.get(key(entity))
            known = group.pop(0) if group else None
            yield (
                entity,
                _annotation(document, entity, known if _tells(known, entity) else {"id": next(fresh)}),
            )


def _tells(known: Any, entity: Entity) -> bool:
    """Whether what was kept, if anything, is of an annotation that is read as this entity."""
    infons = known.get("infons") if isinstance(known, dict) else None
    is_same = isinstance(infons, dict) and infons.get("type") == entity.type
    return is_same and concepts_of(infons) == entity.concepts


def _annotation(document: Document, entity: Entity, known: Record) -> Record:
    locations = [{"offset": start, "length": end - start} for start, end in entity.pieces]
    own = {"infons": new_infons(entity)} | other_keys(known, _KEYS)
    return own | {"locations": locations, "text": document.mention(entity)}
