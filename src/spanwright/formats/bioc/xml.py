"""BioC XML: collections of documents with passages, annotations and relations.

    <collection><source>PubTator</source><date/><key/><document><id>17</id><passage>
    <infon key="type">title</infon><offset>0</offset><text>Delirium</text>
    <annotation id="0"><infon key="type">Disease</infon><infon key="MESH">D003693</infon>
    <location offset="0" length="8"/><text>Delirium</text></annotation></passage></document></collection>

What becomes of passages, infons and relations stands in `documents`, and so do the options. XML cannot hold
control characters: they are unwritable, and U+FFFD is written for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.formats.bioc import documents as bioc
from spanwright.formats.bioc.annotations import infon_texts
from spanwright.formats.bioc.writing import METADATA, header_of, objects_in, record_of
from spanwright.formats.bioc.writing import unwritable as document_unwritable
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.safe_xml import (
    XmlElement,
    escape,
    escape_attribute,
    is_legal,
    root_children,
    root_name,
)
from spanwright.formats.json.records import Record
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_relation
from spanwright.text import Document

_ROOT = "collection"
_HEADER = ("source", "date", "key")
_LISTS = {
    "passage": "passages",
    "sentence": "sentences",
    "annotation": "annotations",
    "location": "locations",
    "node": "nodes",
    "relation": "relations",
}
"""Elements that may stand several times in another, and the key of their list."""
_CHILDREN = {
    "document": ("id", "infon", "passage", "annotation", "relation"),
    "passage": ("infon", "offset", "text", "sentence", "annotation", "relation"),
    "sentence": ("infon", "offset", "text", "annotation", "relation"),
    "annotation": ("infon", "location", "text"),
    "relation": ("infon", "node"),
    "location": (),
    "node": (),
}
"""What may stand in an element, in the order of the DTD."""
_ATTRIBUTES = {
    "annotation": ("id",),
    "relation": ("id",),
    "location": ("offset", "length"),
    "node": ("refid", "role"),
}


def recognises(path: Path, head: str) -> bool:
    """Whether the root element, or the DOCTYPE, is a collection."""
    return root_name(head) == _ROOT


def read(path: Path, log: ReadingLog, **options: Any) -> Iterator[Document]:
    """Yield the documents of a file; a wrong annotation is rejected alone, a wrong document whole."""
    reader = bioc.RecordReader(path, log, **options)
    strays: set[str] = set()
    for element in root_children(path, log, root=_ROOT, entity="annotation"):
        if element.tag == "document":
            document = reader.document(_record(element, strays), element.line)
            if document is not None:
                yield document
        elif element.tag == "infon":
            _add_infon(element, reader.header)
        elif element.tag not in _HEADER:
            log.remark(
                path, element.line, f"<{element.tag}> is not an element of a collection and is not read"
            )
        elif text := element.text().strip():
            reader.header[element.tag] = text
    if strays:
        log.notes.append(f"{path}: elements that are not read: {', '.join(sorted(strays))}")
    reader.finish()


def _record(element: XmlElement, strays: set[str]) -> Record:
    """The record of an element; what has no place there goes into `strays`."""
    known = _ATTRIBUTES.get(element.tag, ())
    record: Record = {name: value for name, value in element.attributes.items() if name in known}
    if element.tag in ("passage", "sentence", "annotation"):
        record["line"] = element.line
    for child in element.content:
        if isinstance(child, str):
            continue
        if child.tag not in _CHILDREN[element.tag]:
            strays.add(f"<{child.tag}> in <{element.tag}>")
        elif child.tag == "infon":
            _add_infon(child, record)
        elif child.tag in _LISTS:
            record.setdefault(_LISTS[child.tag], []).append(_record(child, strays))
        elif child.tag == "text":
            record["text"] = child.text()
        elif text := child.text().strip():
            record[child.tag] = text
    return record


def _add_infon(element: XmlElement, record: Record) -> None:
    """Add an infon to a record; several of one name become a list."""
    infons = record.setdefault("infons", {})
    name, value = element.attributes.get("key", ""), element.text()
    if name not in infons:
        infons[name] = value
    elif isinstance(infons[name], list):
        infons[name].append(value)
    else:
        infons[name] = [infons[name], value]


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """A collection with an element a line. What `unwritable` names is left out; all offsets hold."""
    is_open = False
    for document in documents:
        if not is_open:
            yield _opening(header_of(document.metadata))
            is_open = True
        yield from _element("document", record_of(document))
    if not is_open:
        yield _opening(header_of({}))
    yield f"</{_ROOT}>\n"


def _opening(header: Record) -> str:
    lines = [_leaf(tag, header[tag]) for tag in _HEADER]
    return (
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        f'<!DOCTYPE {_ROOT} SYSTEM "BioC.dtd">\n<{_ROOT}>\n{"".join(lines)}{"".join(_infons(header))}'
    )


def _element(tag: str, record: Record) -> Iterator[str]:
    """The lines of an element and what is in it."""
    opening = tag + "".join(
        f' {name}="{escape_attribute(_shown(record[name]))}"'
        for name in _ATTRIBUTES.get(tag, ())
        if record.get(name) is not None
    )
    if not _CHILDREN[tag]:
        yield f"<{opening}/>\n"
        return
    yield f"<{opening}>\n"
    for child in _CHILDREN[tag]:
        if child == "infon":
            yield from _infons(record)
        elif child in _LISTS:
            for each in objects_in(record.get(_LISTS[child])):
                yield from _element(child, each)
        elif child != "text" or record.get("text") or not record.get("sentences"):
            yield _leaf(child, record.get(child, ""))
    yield f"</{tag}>\n"


def _leaf(tag: str, value: Any) -> str:
    return f"<{tag}>{escape(_shown(value))}</{tag}>\n"


def _shown(value: Any) -> str:
    return "".join(infon_texts(value))


def _infons(record: Record) -> Iterator[str]:
    infons = record.get("infons")
    for name, value in infons.items() if isinstance(infons, dict) else ():
        for text in infon_texts(value):
            yield f'<infon key="{escape_attribute(str(name))}">{escape(text)}</infon>\n'


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    if not document.id or document.id != document.id.strip() or not is_legal(document.id):
        yield Unwritable("ids", f"the id {document.id!r} of a document")
    if not is_legal(document.text):
        yield Unwritable(
            "texts", f"the control characters of document {document.id!r}, which XML cannot hold"
        )
    infons = [values.get(METADATA) for values in (document.metadata, document.annotation_notes)]
    if not all(map(is_legal, _strings(infons))):
        line = f"the control characters in the infons of document {document.id!r}, which XML cannot hold"
        yield Unwritable("notes", line)
    yield from document_unwritable(document)
    for entity in document.entities:
        if not all(map(is_legal, (entity.type, *entity.concepts))):
            line = f"the control characters in the type or the concepts of {shown_entity(document, entity)}"
            yield Unwritable("types", line)
    for relation in document.relations:
        texts = (text for each in relation.arguments for text in (each.role, each.target))
        if not all(
            is_legal(text) for text in (relation.type, relation.note, *texts) if isinstance(text, str)
        ):
            yield unwritable_relation(document, relation)


def _strings(value: Any) -> Iterator[str]:
    """All strings in a value of JSON, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (str(key), *_strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


FORMAT = Format(
    name="bioc-xml",
    description="BioC collections in XML",
    suffixes=(".bioc.xml",),
    recognises=recognises,
    read=read,
    options=bioc.OPTIONS,
    serialise=serialise,
    holds=frozenset(("concepts", "relations")),
    keys=frozenset((METADATA,)),
    own_unwritable=unwritable,
)
