"""BioC JSON: a collection of documents, a list of them, or one document a line.

    {"source": "PubTator", "date": "", "key": "", "documents": [{"id": "17", "passages": [{"offset": 0,
     "text": "Delirium", "annotations": [{"id": "0", "infons": {"type": "Disease", "identifier": "D003693"},
     "locations": [{"offset": 0, "length": 8}], "text": "Delirium"}]}]}]}

What becomes of passages, infons and relations stands in `documents`, and so do the options. A collection is
written.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.bioc import documents as bioc
from spanwright.formats.bioc.writing import METADATA, header_of, record_of, unwritable
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.lines import Undecodable, read_lines, read_text, with_line_feeds
from spanwright.formats.json.items import Item, enter, list_items, member, step, unexpected
from spanwright.formats.json.records import (
    DECODER,
    Record,
    RepeatedKeyError,
    checked_record,
    decode_item,
    first_keys,
    json_lines,
    skip_space,
    write_record,
)
from spanwright.text import Document

_DOCUMENT_KEY = "passages"
_COLLECTION_KEYS = frozenset(("documents", "PubTator3"))
"""Names of the list of documents in a collection."""
_HEAD = 65536
"""How much of a first line is looked at, which may be the whole of a large file."""


def recognises(path: Path, head: str) -> bool:
    """Whether the first object is a collection or a document."""
    keys = first_keys(head.lstrip().removeprefix("["))
    return _DOCUMENT_KEY in keys or not _COLLECTION_KEYS.isdisjoint(keys)


def read(path: Path, log: ReadingLog, **options: Any) -> Iterator[Document]:
    """Yield the documents of a file; a wrong annotation is rejected alone, a wrong document whole."""
    reader = bioc.RecordReader(path, log, **options)
    records = json_lines(path, log) if _is_lines(path) else _records(path, log, reader.header)
    for line, record in records:
        document = reader.document(record, line)
        if document is not None:
            yield document
    reader.finish()


def _is_lines(path: Path) -> bool:
    """Whether the first line that is not empty is a document of its own."""
    lines = (line for _, line in read_lines(path) if isinstance(line, str) and line.strip())
    return _DOCUMENT_KEY in first_keys(next(lines, "")[:_HEAD])


def _records(path: Path, log: ReadingLog, header: Record) -> Iterator[tuple[int, Record]]:
    """Yield (line, record) of the documents of a file that is one JSON value."""
    text = read_text(path)
    if isinstance(text, Undecodable):
        log.reject_document(path, text.line, f"{text.reason}; nothing of the file is read")
        return
    text = with_line_feeds(text)
    line, previous = 1, 0
    try:
        for start, end, value in _documents(text, header):
            line, previous = line + text.count("\n", previous, start), start
            try:
                yield line, checked_record(value, escaped=text.find("\\u", start, end) >= 0)
            except InputError as error:
                log.reject_document(path, line, str(error))
    except (ValueError, RecursionError) as error:
        at = getattr(error, "lineno", line)
        log.reject_document(path, at, f"not BioC JSON ({error}); the rest of the file is left out")


def _documents(text: str, header: Record) -> Iterator[Item]:
    """Yield the documents of a text that is one JSON value."""
    end = skip_space(text, (yield from _values(text, skip_space(text, 0), header)))
    if end < len(text):
        raise unexpected(text, end, "the end of the file")


def _values(text: str, position: int, header: Record) -> Generator[Item, None, int]:
    """Yield the documents of a collection, of a document or of a list of these; returns its end."""
    if not text.startswith("[", position):
        return (yield from _object_values(text, position, header))
    position, is_item = enter(text, position, "[")
    while is_item:
        position = yield from _values(text, position, header)
        position, is_item = step(text, position, "]")
    return position


def _object_values(text: str, start: int, header: Record) -> Generator[Item, None, int]:
    """Yield a document, or those of a collection, whose members before them become the header."""
    is_collection = False
    others: Record = {}
    position, is_member = enter(text, start, "{")
    while is_member:
        key, position = member(text, position)
        if key == _DOCUMENT_KEY:
            document, end = decode_item(text, start)
            yield start, end, document
            return end
        if key in _COLLECTION_KEYS:
            is_collection = True
            header.clear()
            header |= {name: value for name, value in others.items() if value}
            position = yield from list_items(text, position)
        elif key in others:
            raise RepeatedKeyError(key)
        else:
            others[key], position = DECODER.raw_decode(text, position)
        position, is_member = step(text, position, "}")
    if not is_collection:
        raise unexpected(text, start, f"a key of {_DOCUMENT_KEY}, {', '.join(sorted(_COLLECTION_KEYS))}")
    return position


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """A collection with a document a line."""
    separator = ""
    for document in documents:
        yield separator or _opening(header_of(document.metadata), document.id)
        yield write_record(record_of(document), document.id)
        separator = ",\n"
    yield "\n]}\n" if separator else f"{_opening(header_of({}), '')}]}}\n"


def _opening(header: Record, id: str) -> str:
    return write_record(header, id).removesuffix("}") + ', "documents": [\n'


FORMAT = Format(
    name="bioc-json",
    description="BioC collections in JSON",
    suffixes=(".bioc.json",),
    recognises=recognises,
    read=read,
    options=bioc.OPTIONS,
    serialise=serialise,
    holds=frozenset(("concepts", "relations")),
    keys=frozenset((METADATA,)),
    own_unwritable=unwritable,
)
