"""`Document` to BioC documents, in the form that its JSON has.

A document that was read from BioC is written as it was, as far as its text and its entities are still the
same; another one is written as one passage, or as passages with its given sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from spanwright.corpora.bioc_annotations import annotations_of, concepts_of, new_infons
from spanwright.corpora.bioc_passages import passages_of, place
from spanwright.corpora.records import Record, other_keys
from spanwright.corpora.standoff import given_borders, named
from spanwright.text import Document

METADATA = "bioc"
"""The key of the metadata under which a reader keeps what `Document` has no place for."""
_KEYS = frozenset(("id", "passages", "annotations", "collection"))


def header_of(metadata: Mapping[str, Any]) -> Record:
    """Source, date, key and infons of the collection that a document was read from."""
    header = _object(_object(metadata.get(METADATA)).get("collection"))
    return {"source": "", "date": "", "key": "", "infons": {}} | other_keys(header, frozenset(("documents",)))


def record_of(document: Document) -> Record:
    """The record of a document. What `losses` names is left out."""
    known = _object(document.metadata.get(METADATA))
    passages = passages_of(document, known.get("passages"))
    sections = [each for passage in passages for each in (passage, *passage.get("sentences", ()))]
    record = {"id": document.id} | other_keys(known, _KEYS) | {"passages": passages}
    relations = [each for holder in (record, *sections) for each in objects_in(holder.get("relations"))]
    annotation_ids = _annotate(document, passages, known.get("annotations"), relations)
    hold = _holding(relations, annotation_ids)
    for holder in (record, *sections):
        holder["infons"] = _object(holder.get("infons"))
        holder["relations"] = [each for each in objects_in(holder.get("relations")) if id(each) in hold]
    return record


def _annotate(document: Document, passages: list[Record], known: Any, relations: list[Record]) -> set[str]:
    """Put the annotations of a document into its passages; returns their ids."""
    table = {name: objects_in(group) for name, group in _object(known).items()}
    ids: set[str] = set()
    for entity, annotation in annotations_of(document, table, (str(each.get("id")) for each in relations)):
        section = _section_at(passages, entity.start)
        section.setdefault("annotations", []).append(annotation)
        ids.add(str(annotation.get("id")))
    return ids


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


def _holding(relations: list[Record], annotation_ids: set[str]) -> set[int]:
    """Identities of the relations that refer only to these annotations and to each other."""
    while True:
        known = annotation_ids.union(str(each.get("id")) for each in relations)
        hold = [each for each in relations if known.issuperset(_references(each))]
        if len(hold) == len(relations):
            return set(map(id, hold))
        relations = hold


def _references(relation: Record) -> Iterable[str]:
    return (str(node.get("refid")) for node in objects_in(relation.get("nodes")))


def losses(document: Document) -> Iterator[str]:
    """One line for each thing of a document that a reader would not get back."""
    passages = passages_of(document, _object(document.metadata.get(METADATA)).get("passages"))
    has_sentences = place(passages).sentences == document.sentences
    yield from given_borders(replace(document, sentences=None) if has_sentences else document)
    for entity in document.entities:
        if not entity.type.strip():
            yield f"the type of {named(document, entity)}"
        elif concepts_of(new_infons(entity)) != entity.concepts:
            yield f"the concepts {list(entity.concepts)} of {named(document, entity)}"
