"""`Document` to BioC documents, in the form that its JSON has.

A document that was read from BioC is written as it was, as far as its text and its entities are still the
same; another one is written as one passage, or as passages with its given sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from spanwright.formats.bioc.annotations import annotations_of, concepts_of, new_infons
from spanwright.formats.bioc.passages import passages_of, place
from spanwright.formats.bioc.relations import record_of as relation_record
from spanwright.formats.bioc.relations import relation_of
from spanwright.formats.json.records import Record, other_keys
from spanwright.formats.standoff import given_borders, kept_relations
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_concepts, unwritable_relation
from spanwright.text import Document, Entity

METADATA = "bioc"
"""The key of the metadata and the notes under which a reader keeps what `Document` has no place for."""
_KEYS = frozenset(("id", "passages", "annotations", "relations", "collection"))


def header_of(metadata: Mapping[str, Any]) -> Record:
    """Source, date, key and infons of the collection that a document was read from."""
    header = _object(_object(metadata.get(METADATA)).get("collection"))
    return {"source": "", "date": "", "key": "", "infons": {}} | other_keys(header, frozenset(("documents",)))


def record_of(document: Document) -> Record:
    """The record of a document. What `unwritable` names is left out."""
    return _record_and_unwritable(document)[0]


def _record_and_unwritable(document: Document) -> tuple[Record, list[Unwritable]]:
    """The record of a document, and a line for each relation that is not in it."""
    known = _object(document.metadata.get(METADATA))
    notes = _object(document.annotation_notes.get(METADATA))
    passages = passages_of(document, known.get("passages"))
    record = {"id": document.id} | other_keys(known, _KEYS) | {"passages": passages}
    sections = [each for passage in passages for each in (passage, *passage.get("sentences", ()))]
    for holder in (record, *sections):
        holder |= {"infons": _object(holder.get("infons")), "relations": []}
    kept = [_Placed.of(each) for each in objects_in(notes.get("relations"))]
    taken = {str(each.record.get("id")) for each in kept}
    entities = _annotate(document, passages, notes.get("annotations"), taken)
    placed, unwritable = _relations(document, kept, entities)
    for each in placed:
        _holder_at(record, each.place)["relations"].append(each.record)
    return record, unwritable


def _annotate(document: Document, passages: list[Record], known: Any, taken: set[str]) -> dict[str, Entity]:
    """Put the annotations of a document into its passages; returns the entities by their ids."""
    table = {name: objects_in(group) for name, group in _object(known).items()}
    entities: dict[str, Entity] = {}
    for entity, annotation in annotations_of(document, table, taken):
        section = _section_at(passages, entity.start)
        section.setdefault("annotations", []).append(annotation)
        entities.setdefault(str(annotation.get("id")), entity)
    return entities


class _Placed(NamedTuple):
    """The record of a relation, and the section that it is in: no, one or two positions."""

    place: Sequence[Any]
    record: Record

    @classmethod
    def of(cls, kept: Record) -> _Placed:
        """A relation in notes that need not come from this library."""
        where = kept.get("place")
        return cls(where if isinstance(where, list) else [], dict(_object(kept.get("relation"))))


def _holder_at(record: Record, place: Sequence[Any]) -> Record:
    """The section at a place, or the document if there is none."""
    holder = record
    for key, position in zip(("passages", "sentences"), place, strict=False):
        inner = holder.get(key) or []
        if type(position) is not int or not 0 <= position < len(inner):
            return record
        holder = inner[position]
    return holder


def _relations(
    document: Document, kept: list[_Placed], entities: Mapping[str, Entity]
) -> tuple[list[_Placed], list[Unwritable]]:
    """The relations of a document: as the file had them, where they still hold, and the others."""
    types = {entity.type for entity in document.entities}
    written, missing = kept_relations(
        kept, lambda each: relation_of(each.record, entities, types), document.relations
    )
    holding = _holding(written, set(entities))
    unwritable = [
        Unwritable("notes", f"{each.record!r:.80} in document {document.id!r}")
        for each in written
        if each not in holding
    ]
    taken = {str(each.record.get("id")) for each in kept}.union(entities)
    fresh = (f"R{number}" for number in count() if f"R{number}" not in taken)
    ids: dict[Entity, str] = {}
    for id, entity in entities.items():
        ids.setdefault(entity, id)
    for relation in missing:
        own = relation_record(relation, next(fresh), ids, types)
        holding += [_Placed([], own)] if own else []
        unwritable += [] if own else [unwritable_relation(document, relation)]
    return holding, unwritable


def _object(value: Any) -> Record:
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[Record]:
    """The objects in a list of the metadata, which may be anything."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _section_at(passages: list[Record], start: int) -> Record:
    """The passage, or the sentence in one without a text, that an entity with this start belongs to."""
    passage = _last_before(passages, start)
    inner = passage.get("sentences")
    return _last_before(inner, start) if inner and not passage.get("text") else passage


def _last_before(sections: list[Record], start: int) -> Record:
    before = [each for each in sections if each["offset"] <= start]
    return before[-1] if before else sections[0]


def _holding(relations: list[_Placed], annotation_ids: set[str]) -> list[_Placed]:
    """The relations that refer only to these annotations and to each other."""
    while True:
        known = annotation_ids.union(str(each.record.get("id")) for each in relations)
        hold = [each for each in relations if known.issuperset(_references(each.record))]
        if len(hold) == len(relations):
            return hold
        relations = hold


def _references(relation: Record) -> Iterable[str]:
    return (str(node.get("refid")) for node in objects_in(relation.get("nodes")))


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    passages = passages_of(document, _object(document.metadata.get(METADATA)).get("passages"))
    has_sentences = place(passages).sentences == document.sentences
    yield from given_borders(replace(document, sentences=None) if has_sentences else document)
    for entity in document.entities:
        if not entity.type.strip():
            yield Unwritable("entities", f"the type of {shown_entity(document, entity)}")
        elif concepts_of(new_infons(entity)) != entity.concepts:
            yield unwritable_concepts(document, entity)
    if document.relations or document.annotation_notes:
        yield from _record_and_unwritable(document)[1]
