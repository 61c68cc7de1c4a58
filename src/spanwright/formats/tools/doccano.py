"""JSON lines of doccano, in the forms of its two kinds of projects.

    {"id": 1, "text": "Famotidine helps", "label": [[0, 10, "Chemical"]]}
    {"id": 1, "text": "Famotidine helps", "entities": [{"id": 0, "label": "Chemical", "start_offset": 0,
     "end_offset": 10}], "relations": [{"id": 0, "from_id": 0, "to_id": 1, "type": "treats"}]}

Both are read. The first, of sequence labelling, is written; with the writing option `form=entities` it is the
second, of relation extraction. Offsets count characters; the option `offsets` tells what else. Other keys are
the metadata of the text. `Comments` are kept in the annotation notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import (
    Record,
    first_keys,
    given_id,
    json_lines,
    list_length,
    other_keys,
    unwritable_metadata,
    write_record,
)
from spanwright.formats.json.values import checked, checked_object, range_in
from spanwright.formats.offsets import Offsets, Unit, offsets_in, unit_named
from spanwright.formats.tools.marks import (
    read_marks,
    read_pair,
    read_pairs,
    unwritable_marks,
    whole_entities,
    written_pairs,
)
from spanwright.formats.unwritable import Unwritable, unwritable_relation
from spanwright.text import Document, Entity, Relation

Form = Literal["label", "entities"]
FORMS: tuple[Form, ...] = ("label", "entities")
_COMMENTS = "Comments"
_LABELS = ("label", "labels")
_KEYS = frozenset((*_LABELS, "id", "text", "entities", "relations", _COMMENTS))


def form_named(name: str) -> Form:
    """The form that an option names; ValueError for another."""
    for form in FORMS:
        if form == name:
            return form
    raise ValueError(f"expected one of {', '.join(FORMS)}")


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with a text and labels, or with what else doccano alone has.

    Its entities do not tell, where the first document has none.
    """
    keys = first_keys(head)
    if "text" not in keys:
        return False
    is_doccano = _COMMENTS in keys or '"start_offset"' in head
    return not keys.isdisjoint(_LABELS) or ("entities" in keys and is_doccano)


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a file, one a line; a wrong mark is rejected alone, a wrong document whole."""
    ids = Ids(path, log)
    for line, record in json_lines(path, log, count=_count):
        try:
            document = _document(record, ids, line)
            marks = _marks(record)
            pairs = checked(record, "relations", list, "a list", [])
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(record))
            continue
        yield _marked(document, marks, pairs, offsets_in(document.text, offsets), path, line, log)


def _count(record: Record) -> int:
    return sum(list_length(record.get(key)) for key in (*_LABELS, "entities"))


def _document(record: Record, ids: Ids, line: int) -> Document:
    text = checked(record, "text", str, "a string")
    id, generated = ids.take(given_id(record, "id"), line)
    comments = {_COMMENTS: record[_COMMENTS]} if record.get(_COMMENTS) else {}
    metadata = other_keys(record, _KEYS)
    return Document(id, text, generated_id=generated, metadata=metadata, annotation_notes=comments)


def _marks(record: Record) -> list[Any]:
    """The marks of a record of either form, as objects where they are lists of three."""
    triples = [each for key in _LABELS for each in checked(record, key, list, "a list", [])]
    named = ("start_offset", "end_offset", "label")
    objects = [
        dict(zip(named, each, strict=True)) if isinstance(each, list) and len(each) == len(named) else each
        for each in triples
    ]
    return objects + list(checked(record, "entities", list, "a list", []))


def _entity(value: Any, offsets: Offsets) -> Entity:
    mark = checked_object(value)
    start, end = range_in(mark, "start_offset", "end_offset", offsets)
    return Entity(start, end, checked(mark, "label", str, "a string"))


def _marked(
    document: Document,
    marks: list[Any],
    pairs: list[Any],
    offsets: Offsets,
    path: Path,
    line: int,
    log: ReadingLog,
) -> Document:
    where = f"document {document.id!r}"
    found = read_marks(marks, lambda value: _entity(value, offsets), path, line, log, where)
    by_id = {_id_of(value): entity for value, entity in zip(marks, found, strict=True)}

    def parse(value: Any) -> list[Relation]:
        pair = checked_object(value)
        return [read_pair(pair.get("type"), (_key(pair.get("from_id")), _key(pair.get("to_id"))), by_id)]

    relations = read_pairs(pairs, parse, path, line, log, where)
    return replace(document, entities=tuple(filter(None, found)), relations=relations)


def _id_of(mark: Any) -> int | str | None:
    return _key(mark.get("id")) if isinstance(mark, dict) else None


def _key(value: Any) -> int | str | None:
    """The id of a mark, which is a number in exports; None for what cannot be one."""
    return value if isinstance(value, (int, str)) else None


def serialise(documents: Iterable[Document], *, form: Form = "label") -> Iterator[str]:
    """One line for each document."""
    for document in documents:
        record: Record = {} if document.generated_id else {"id": document.id}
        record |= {"text": document.text} | (_triples if form == "label" else _objects)(document)
        record |= other_keys(document.metadata, _KEYS)
        if comments := document.annotation_notes.get(_COMMENTS):
            record[_COMMENTS] = comments
        yield write_record(record, document.id) + "\n"


def _triples(document: Document) -> Record:
    return {"label": [[each.start, each.end, each.type] for each in whole_entities(document)]}


def _objects(document: Document) -> Record:
    entities = [
        {"id": number, "label": each.type, "start_offset": each.start, "end_offset": each.end}
        for number, each in enumerate(whole_entities(document))
    ]
    relations = [
        {"id": number, "from_id": first, "to_id": second, "type": relation.type}
        for number, (first, second, relation) in enumerate(written_pairs(document))
    ]
    return {"entities": entities, "relations": relations}


def unwritable(document: Document, *, form: Form = "label") -> Iterator[Unwritable]:
    """A line for each thing of a document that doccano has no place for, in one of its forms."""
    yield from unwritable_marks(document, pairs=form == "entities")
    if form == "label":
        yield from (unwritable_relation(document, relation) for relation in document.relations)
    yield from unwritable_metadata(document, _KEYS)


FORMAT = Format(
    name="doccano",
    description="JSON lines of doccano: a text with labels, or with entities and relations",
    suffixes=(".doccano.jsonl",),
    recognises=recognises,
    read=read,
    options={"offsets": unit_named},
    serialise=serialise,
    writing_options={"form": form_named},
    holds=frozenset(("metadata", "relations")),
    keys=frozenset((_COMMENTS,)),
    own_unwritable=unwritable,
)
