"""Parquet tables: the library's own documents, or tokens with tags as the Hugging Face library has them.

Own tables have a row for each document, with everything a `Document` holds: `id`, `text`, `entities` (a list
of start, end, type, fragments, concepts and confidence), `relations` (a list of type, arguments and note, see
`formats/json/relations.py`), `words` and `sentences` (lists of start and end), `corpus`, `generated_id`,
`metadata` and `annotation_notes` (JSON). Only `text` is needed. They are written in row groups, and read and
written without the whole table in memory.

Tables of tokens have a row for each sentence: `tokens`, and `ner_tags` in any tag scheme, as names or as
numbers whose names stand in the schema. The options `tokens` and `tags` give other names of these columns,
and `names` gives those of the numbers, separated by commas. They are read from Parquet and from Arrow files,
and from folders of them.

The line of a problem is the number of the row. Columns that are not read are named in a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.io.whole_files import whole_file
from spanwright.formats.json.records import Record, parse_record, write_record
from spanwright.formats.json.relations import read_relations, relation_records
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.tables.arrow import (
    ArrowTable,
    import_pyarrow,
    is_saved_data_set,
    label_names,
    looks_like_tables,
    open_arrow_table,
    table_files,
)
from spanwright.formats.tables.tagged_rows import TagColumns, read_tagged
from spanwright.formats.unwritable import EVERYTHING, Unwritable, shown_entity
from spanwright.text import Document, Entity, Range

_GROUP_DOCUMENTS = 1000
_GROUP_CHARACTERS = 1 << 24


def _schema() -> Any:
    """The `pyarrow.Schema` of own tables."""
    arrow = import_pyarrow()
    borders = [("start", arrow.int64()), ("end", arrow.int64())]
    ranges = arrow.list_(arrow.struct(borders))
    optional = [
        ("fragments", ranges),
        ("concepts", arrow.list_(arrow.string())),
        ("confidence", arrow.float64()),
    ]
    return arrow.schema(
        [
            ("id", arrow.string()),
            ("text", arrow.string()),
            ("entities", arrow.list_(arrow.struct([*borders, ("type", arrow.string()), *optional]))),
            ("words", ranges),
            ("sentences", ranges),
            ("corpus", arrow.string()),
            ("generated_id", arrow.bool_()),
            ("metadata", arrow.string()),
            ("relations", _relations(arrow)),
            ("annotation_notes", arrow.string()),
        ]
    )


def _relations(arrow: Any) -> Any:
    """The `pyarrow.DataType` of relations."""
    argument = [("entity", arrow.int64()), ("concept", arrow.string()), ("role", arrow.string())]
    arguments = arrow.list_(arrow.struct(argument))
    return arrow.list_(
        arrow.struct([("type", arrow.string()), ("arguments", arguments), ("note", arrow.string())])
    )


def read(
    path: Path, log: ReadingLog, *, tokens: str = "tokens", tags: str = "ner_tags", names: str = ""
) -> Iterator[Document]:
    """Yield the documents of a file or a folder, one for each row."""
    ids = Ids(path, log)
    for file in table_files(path):
        table = open_arrow_table(file)
        columns = table.schema.names
        if tokens in columns and tags in columns:
            labels = names.split(",") if names else label_names(table.schema, tags)
            used = TagColumns(tokens, tags, labels)
            yield from read_tagged(table, used, ids, log)
            _note_others(table, {"id", tokens, tags}, log)
        elif "text" in columns:
            yield from _read_own(table, ids, log)
            _note_others(table, set(_schema().names), log)
        else:
            raise InputError(
                f"{file}: the columns are {', '.join(columns)}; expected text, or {tokens} and {tags} "
                f"(the options tokens and tags give other names)"
            )


def _note_others(table: ArrowTable, known: set[str], log: ReadingLog) -> None:
    if others := [name for name in table.schema.names if name not in known]:
        log.notes.append(f"{table.path}: columns that are not read: {', '.join(others)}")


def _read_own(table: ArrowTable, ids: Ids, log: ReadingLog) -> Iterator[Document]:
    schema = _schema()
    columns = [name for name in schema.names if name in table.schema.names]
    row = 0
    for batch in table.batches(columns):
        for record in _typed(batch, schema, table.path).to_pylist():
            row += 1
            try:
                document = _document(record, ids, row)
            except InputError as error:
                lost = len(record.get("entities") or ())
                log.reject_document(table.path, row, str(error), entities=lost)
                continue
            yield _annotated(document, record, table.path, row, log)


def _typed(batch: Any, schema: Any, path: Path) -> Any:
    """A batch with the types of own tables."""
    arrow = import_pyarrow()
    columns = []
    for name in batch.schema.names:
        try:
            columns.append(batch[name].cast(schema.field(name).type))
        except arrow.ArrowException:
            found, expected = batch.schema.field(name).type, schema.field(name).type
            raise InputError(f"{path}: the column {name!r} is {found}; expected {expected}") from None
    return arrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _document(record: Record, ids: Ids, row: int) -> Document:
    """The document of a row without its entities."""
    if record["text"] is None:
        raise InputError("there is no text")
    metadata, notes = record.get("metadata"), record.get("annotation_notes")
    id, generated = ids.take(record.get("id"), row)
    return Document(
        id,
        record["text"],
        words=_ranges(record.get("words")),
        sentences=_ranges(record.get("sentences")),
        corpus=record.get("corpus"),
        generated_id=bool(record.get("generated_id")) or generated,
        metadata=parse_record(metadata) if metadata else {},
        annotation_notes=parse_record(notes) if notes else {},
    )


def _annotated(document: Document, record: Record, path: Path, row: int, log: ReadingLog) -> Document:
    """The document of a row with its entities and relations; a wrong one is rejected alone."""
    entities = list(_entities(document, record.get("entities") or (), path, row, log))
    relations = read_relations(record.get("relations") or (), entities, path, row, log)
    found = tuple(entity for entity in entities if entity is not None)
    remark_odd_entities(found, path, row, log)
    return replace(document, entities=found, relations=tuple(relations))


def _ranges(values: list[Record] | None) -> tuple[Range, ...] | None:
    if values is None:
        return None
    if any(value is None or None in value.values() for value in values):
        raise InputError("a range has no start or no end; expected both")
    return tuple((value["start"], value["end"]) for value in values)


def _entities(
    document: Document, values: Iterable[Record], path: Path, row: int, log: ReadingLog
) -> Iterator[Entity | None]:
    """The entities of a row, with None for a wrong one, which is rejected alone."""
    for number, value in enumerate(values):
        try:
            entity = _entity(value)
            Document(document.id, document.text, (entity,))
        except InputError as error:
            log.reject_entity(path, row, f"entity {number}: {error}")
            yield None
        else:
            yield entity


def _entity(value: Record | None) -> Entity:
    if value is None or None in (value["start"], value["end"], value["type"]):
        raise InputError("there is no start, no end or no type; expected all three")
    concepts, confidence = value["concepts"] or [], value["confidence"]
    if None in concepts or not isfinite(confidence or 0):
        raise InputError("a concept is missing, or the confidence is not a finite number")
    fragments = _ranges(value["fragments"]) or ()
    return Entity(value["start"], value["end"], value["type"], fragments, tuple(concepts), confidence)


def write(documents: Iterable[Document], path: Path) -> None:
    """Write a table, a row group for each thousand documents."""
    arrow, schema = import_pyarrow(), _schema()
    with whole_file(path) as partial, arrow.parquet.ParquetWriter(partial, schema) as writer:
        for group in _groups(documents):
            try:
                rows = arrow.Table.from_pylist([_row(document) for document in group], schema=schema)
            except (arrow.ArrowException, UnicodeError) as error:
                first, last = group[0].id, group[-1].id
                raise InputError(f"the documents {first!r} to {last!r} cannot be written: {error}") from None
            writer.write_table(rows)


def _groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """The documents in lists that fit into memory."""
    group: list[Document] = []
    characters = 0
    for document in documents:
        group.append(document)
        characters += len(document.text)
        if len(group) >= _GROUP_DOCUMENTS or characters >= _GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _row(document: Document) -> Record:
    return {
        "id": document.id,
        "text": document.text,
        "entities": [_entity_row(entity) for entity in document.entities],
        "words": _range_rows(document.words),
        "sentences": _range_rows(document.sentences),
        "corpus": document.corpus,
        "generated_id": document.generated_id,
        "metadata": _json(document.metadata, document.id),
        "relations": relation_records(document.relations, document.entities),
        "annotation_notes": _json(document.annotation_notes, document.id),
    }


def _json(values: Mapping[str, Any], document_id: str) -> str | None:
    return write_record(dict(values), document_id) if values else None


def _entity_row(entity: Entity) -> Record:
    confidence = entity.confidence
    return {
        "start": entity.start,
        "end": entity.end,
        "type": entity.type,
        "fragments": _range_rows(entity.fragments),
        "concepts": list(entity.concepts),
        "confidence": confidence if confidence is not None and isfinite(confidence) else None,
    }


def _range_rows(ranges: tuple[Range, ...] | None) -> list[Record] | None:
    return None if ranges is None else [{"start": start, "end": end} for start, end in ranges]


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each confidence that is no number."""
    for entity in document.entities:
        if entity.confidence is not None and not isfinite(entity.confidence):
            yield Unwritable(
                "confidences", f"the confidence {entity.confidence} of {shown_entity(document, entity)}"
            )


FORMAT = Format(
    name="parquet",
    description="a table of documents in Parquet, or of tokens and tags as `datasets` has them",
    suffixes=(".parquet",),
    recognises=looks_like_tables,
    read=read,
    options={"tokens": str, "tags": str, "names": str},
    write=write,
    compressible=False,
    is_whole=is_saved_data_set,
    holds=EVERYTHING,
    own_unwritable=unwritable,
)
