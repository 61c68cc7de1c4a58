"""The library's own document form: one JSON object a line, which holds everything a `Document` does.

    {"id": "17", "text": "Famotidine helps", "entities": [{"start": 0, "end": 10, "type": "Chemical"}]}

Offsets count characters and are half open; the option `offsets` says what else they count in a file of
another tool: `utf-16` or `bytes`. Only `text` is needed. Entities may have `fragments`, `concepts`, a
`confidence` and their `text`, which is compared with what stands at their offsets; documents may have
`relations` (see `relations.py`), `words` and `sentences` (lists of [start, end]), `corpus`, `metadata`,
`annotation_notes` and `generated_id`. Other keys of a document are kept in its metadata. Written with the
option `mentions=yes`, entities have their `text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog, yes_or_no
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import (
    Record,
    first_keys,
    given_id,
    json_lines,
    list_length,
    other_keys,
    write_record,
)
from spanwright.formats.json.relations import read_relations, relation_of, relation_records
from spanwright.formats.json.values import (
    checked,
    checked_object,
    finite_number,
    placed,
    strings,
    whole_number,
)
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.offsets import Offsets, Unit, offsets_in, unit_named
from spanwright.formats.standoff import remark_other_mention
from spanwright.formats.unwritable import EVERYTHING
from spanwright.text import Document, Entity, Range

_SUFFIX = ".jsonl"
_KEYS = frozenset(
    ("id", "text", "entities", "relations", "words", "sentences", "corpus", "metadata", "annotation_notes")
) | {"generated_id"}
_ENTITY_KEYS = frozenset(("start", "end", "type", "fragments", "concepts", "confidence", "text"))
_TOKEN_KEYS = frozenset(("tokens", "entity_mentions", "ner"))
"""Keys of the JSON formats of tokens, some of which also have a text."""


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with a text and without tokens, or an empty file is named so."""
    if not head.strip():
        return path.name.lower().endswith(_SUFFIX) and not path.is_dir()
    keys = first_keys(head)
    return "text" in keys and keys.isdisjoint(_TOKEN_KEYS)


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a file, one a line; a wrong entity is rejected alone, a wrong document whole."""
    ids = Ids(path, log)
    extra: set[str] = set()
    for line, record in json_lines(path, log, count=_count):
        others = other_keys(record, _KEYS)
        extra.update(others)
        try:
            document = _document(record, *ids.take(given_id(record, "id"), line), offsets)
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(record))
            continue
        if twice := [key for key in others if document.metadata[key] is not others[key]]:
            log.remark(path, line, f"keys that are in 'metadata' too, which is kept: {', '.join(twice)}")
        marked = _with_entities(document, record.get("entities") or [], offsets, path, line, log)
        yield _with_relations(marked, record, offsets, path, line, log) if record.get("relations") else marked
    if extra:
        log.notes.append(f"{path}: keys that are not read but kept as metadata: {', '.join(sorted(extra))}")


def _count(record: Record) -> int:
    return list_length(record.get("entities"))


def _document(record: Record, id: str, generated: bool, unit: Unit = "characters") -> Document:
    """The document of a record without its entities."""
    text = checked(record, "text", str, "a string")
    offsets = offsets_in(text, unit)
    checked(record, "entities", list, "a list", [])
    checked(record, "relations", list, "a list", [])
    metadata = checked(record, "metadata", dict, "an object", {})
    return Document(
        id,
        text,
        words=_ranges(record, "words", offsets),
        sentences=_ranges(record, "sentences", offsets),
        corpus=checked(record, "corpus", str, "a string", None),
        generated_id=checked(record, "generated_id", bool, "true or false", False) or generated,
        metadata=other_keys(record, _KEYS) | metadata,
        annotation_notes=checked(record, "annotation_notes", dict, "an object", {}),
    )


def document_of(record: Record) -> Document:
    """The document of a record that `record_of` made."""
    document = _document(record, str(record["id"]), False)
    offsets = offsets_in(document.text, "characters")
    entities = tuple(_entity(each, offsets) for each in record["entities"])
    relations = (relation_of(value, entities) for value in record.get("relations", ()))
    return replace(document, entities=entities, relations=tuple(relations))


def _ranges(record: Record, key: str, offsets: Offsets) -> tuple[Range, ...] | None:
    value = record.get(key)
    if value is None:
        return None
    ranges = value if isinstance(value, list) else [value]
    for each in ranges:
        if not isinstance(each, list) or [type(border) for border in each] != [int, int]:
            raise InputError(f"{key!r} holds {each!r:.80}; expected lists [start, end] of whole numbers")
    return placed(tuple((start, end) for start, end in ranges), offsets)


def _with_entities(
    document: Document, values: list[Any], unit: Unit, path: Path, line: int, log: ReadingLog
) -> Document:
    """The document with those of its entities that are right."""
    found: list[tuple[Entity, Record]] = []
    offsets = offsets_in(document.text, unit)
    for number, value in enumerate(values):
        try:
            found.append((_entity(value, offsets), value))
        except InputError as error:
            log.reject_entity(path, line, f"entity {number}: {error}")
    try:
        marked = document.with_entities(tuple(entity for entity, _ in found))
    except InputError:
        # Seldom taken: one entity at a time, to find out which are outside the text.
        found = [each for each in found if _fits(each[0], document, path, line, log)]
        marked = document.with_entities(tuple(entity for entity, _ in found))
    remark_odd_entities(marked.entities, path, line, log)
    for entity, value in found:
        if "text" in value:
            remark_other_mention(
                entity, document.mention(entity), value["text"], path, line, log, text=document.text
            )
        if extra := other_keys(value, _ENTITY_KEYS):
            log.remark(path, line, f"an entity has keys that are not read: {', '.join(sorted(extra))}")
    return marked


def _with_relations(
    document: Document, record: Record, unit: Unit, path: Path, line: int, log: ReadingLog
) -> Document:
    """The document with those of its relations that are right."""
    known, offsets = set(document.entities), offsets_in(document.text, unit)
    given = (_entity_or_none(value, offsets) for value in record.get("entities") or ())
    entities = [entity if entity in known else None for entity in given]
    relations = read_relations(record["relations"], entities, path, line, log)
    return replace(document, relations=tuple(relations))


def _entity_or_none(value: Any, offsets: Offsets) -> Entity | None:
    try:
        return _entity(value, offsets)
    except InputError:
        return None


def _fits(entity: Entity, document: Document, path: Path, line: int, log: ReadingLog) -> bool:
    try:
        Document(document.id, document.text, (entity,))
    except InputError as error:
        log.reject_entity(path, line, str(error))
        return False
    return True


def _entity(value: Any, offsets: Offsets) -> Entity:
    value = checked_object(value)
    concepts = strings(value, "concepts")
    confidence = finite_number(value, "confidence")
    borders = whole_number(value, "start"), whole_number(value, "end")
    type_ = checked(value, "type", str, "a string")
    ((start, end),) = placed((borders,), offsets)
    return Entity(
        start,
        end,
        type_,
        fragments=_ranges(value, "fragments", offsets) or (),
        concepts=concepts,
        confidence=confidence,
    )


def serialise(documents: Iterable[Document], *, mentions: bool = False) -> Iterator[str]:
    """One line for each document; with `mentions`, entities have their text, for people to read."""
    for document in documents:
        yield write_record(record_of(document, mentions=mentions), document.id) + "\n"


def record_of(document: Document, *, mentions: bool = False) -> Record:
    """The JSON object of a document; what has its default is left out."""
    record: Record = {
        "id": document.id,
        "text": document.text,
        "entities": [
            _entity_record(entity) | ({"text": document.mention(entity)} if mentions else {})
            for entity in document.entities
        ],
    }
    optional = {
        "relations": relation_records(document.relations, document.entities) or None,
        "words": document.words,
        "sentences": document.sentences,
        "corpus": document.corpus,
        "metadata": dict(document.metadata) or None,
        "annotation_notes": dict(document.annotation_notes) or None,
        "generated_id": document.generated_id or None,
    }
    return record | {key: value for key, value in optional.items() if value is not None}


def _entity_record(entity: Entity) -> Record:
    record: Record = {"start": entity.start, "end": entity.end, "type": entity.type}
    optional = {"fragments": entity.fragments, "concepts": entity.concepts, "confidence": entity.confidence}
    return record | {key: value for key, value in optional.items() if value not in ((), None)}


FORMAT = Format(
    name="jsonl",
    description="one JSON document a line, with everything a document can hold",
    suffixes=(_SUFFIX,),
    recognises=recognises,
    read=read,
    options={"offsets": unit_named},
    serialise=serialise,
    writing_options={"mentions": yes_or_no},
    own_unwritable=lambda document, mentions=False: iter(()),
    holds=EVERYTHING,
)
