"""JSON lines of Prodigy: a text, its spans, and tokens that the spans begin and end with.

    {"text": "Famotidine helps", "spans": [{"start": 0, "end": 10, "label": "Chemical", "token_start": 0,
     "token_end": 0}], "tokens": [{"text": "Famotidine", "start": 0, "end": 10, "id": 0, "ws": true}, ...],
     "meta": {"source": "made"}, "answer": "accept"}

A task whose answer is "reject" or "ignore" is no annotation of its text, and is left out with a reason. Spans
may have a `score`, which is the confidence, and `concepts` (or one `kb_id`); relations are between spans.
Tokens are the words of the document; without given words none are written, and Prodigy splits the text.
`meta` is the metadata; other keys are kept in the annotation notes and written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    write_record,
)
from spanwright.formats.json.values import checked, checked_object, finite_number, range_in, strings
from spanwright.formats.offsets import Offsets, Unit, offsets_in, unit_named
from spanwright.formats.tools.marks import (
    read_marks,
    read_pair,
    read_pairs,
    unwritable_marks,
    whole_entities,
    written_pairs,
)
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document, Entity, Range, Relation

_KEYS = frozenset(("id", "text", "spans", "tokens", "relations", "meta", "answer"))
_OWN_KEYS = frozenset(("answer", "_input_hash", "_task_hash"))
"""Keys that no other format has, beside a text."""


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with a text and spans, or with Prodigy's own keys."""
    keys = first_keys(head)
    return "text" in keys and ("spans" in keys or not keys.isdisjoint(_OWN_KEYS))


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a file, one a line; a wrong span is rejected alone, a wrong task whole."""
    ids = Ids(path, log)
    for line, record in json_lines(path, log, count=_count):
        try:
            document = _document(record, ids, offsets, line)
            spans = checked(record, "spans", list, "a list", [])
            pairs = checked(record, "relations", list, "a list", [])
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(record))
            continue
        yield _marked(document, spans, pairs, offsets_in(document.text, offsets), path, line, log)


def _count(record: Record) -> int:
    return list_length(record.get("spans"))


def _document(record: Record, ids: Ids, unit: Unit, line: int) -> Document:
    answer = checked(record, "answer", str, "'accept', 'reject' or 'ignore'", "accept")
    if answer != "accept":
        raise InputError(f"the answer is {answer!r:.80}; only accepted tasks are read")
    text = checked(record, "text", str, "a string")
    id, generated = ids.take(given_id(record, "id"), line)
    tokens = checked(record, "tokens", list, "a list", None)
    return Document(
        id,
        text,
        words=None if tokens is None else _words(tokens, text, offsets_in(text, unit)),
        generated_id=generated,
        metadata=checked(record, "meta", dict, "an object", {}),
        annotation_notes=other_keys(record, _KEYS),
    )


def _words(tokens: list[Any], text: str, offsets: Offsets) -> tuple[Range, ...]:
    """The tokens that are not white space."""
    ranges = [range_in(checked_object(token), "start", "end", offsets) for token in tokens]
    return tuple(each for each in ranges if not text[slice(*each)].isspace())


def _entity(value: Any, offsets: Offsets) -> Entity:
    span = checked_object(value)
    start, end = range_in(span, "start", "end", offsets)
    concept = checked(span, "kb_id", str, "a string", "")
    return Entity(
        start,
        end,
        checked(span, "label", str, "a string", ""),
        concepts=strings(span, "concepts") or ((concept,) if concept else ()),
        confidence=finite_number(span, "score"),
    )


def _marked(
    document: Document,
    spans: list[Any],
    pairs: list[Any],
    offsets: Offsets,
    path: Path,
    line: int,
    log: ReadingLog,
) -> Document:
    where = f"document {document.id!r}"
    found = read_marks(spans, lambda value: _entity(value, offsets), path, line, log, where)
    by_key = {(each.start, each.end, each.type): each for each in reversed(found) if each is not None}

    def parse(value: Any) -> list[Relation]:
        pair = checked_object(value)
        ends = _span_key(pair.get("head_span"), offsets), _span_key(pair.get("child_span"), offsets)
        return [read_pair(pair.get("label"), ends, by_key)]

    relations = read_pairs(pairs, parse, path, line, log, where)
    return replace(document, entities=tuple(filter(None, found)), relations=relations)


def _span_key(value: Any, offsets: Offsets) -> tuple[int, int, str]:
    entity = _entity(value, offsets)
    return entity.start, entity.end, entity.type


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """One line for each document."""
    for document in documents:
        numbered = list(enumerate(document.words or ()))
        # Of words that begin or end at one place, the first is meant.
        starts = {start: number for number, (start, _) in reversed(numbered)}
        ends = {end: number for number, (_, end) in reversed(numbered)}
        spans = [
            _span(entity, starts.get(entity.start), ends.get(entity.end))
            for entity in whole_entities(document)
        ]
        record: Record = {} if document.generated_id else {"id": document.id}
        record |= {"text": document.text, "spans": spans}
        if document.words is not None:
            record["tokens"] = _tokens(document.text, document.words)
        if document.relations:
            record["relations"] = [_relation(*each, spans) for each in written_pairs(document)]
        record |= {"meta": dict(document.metadata)} if document.metadata else {}
        record |= other_keys(document.annotation_notes, _KEYS)
        yield write_record(record, document.id) + "\n"


def _tokens(text: str, words: tuple[Range, ...]) -> list[Record]:
    return [
        {"text": text[start:end], "start": start, "end": end, "id": number, "ws": text[end : end + 1] == " "}
        for number, (start, end) in enumerate(words)
    ]


def _span(entity: Entity, first: int | None, last: int | None) -> Record:
    """The record of an entity; with the numbers of its first and last token where it has both."""
    record: Record = {"start": entity.start, "end": entity.end, "label": entity.type}
    if first is not None and last is not None:
        record |= {"token_start": first, "token_end": last}
    record |= {"concepts": list(entity.concepts)} if entity.concepts else {}
    record |= {"score": entity.confidence} if entity.confidence is not None else {}
    return record


def _relation(first: int, second: int, relation: Relation, spans: list[Record]) -> Record:
    """The record of a relation; `head` and `child` are last tokens, as Prodigy has them."""
    record: Record = {"label": relation.type, "head_span": spans[first], "child_span": spans[second]}
    ends = {"head": spans[first].get("token_end"), "child": spans[second].get("token_end")}
    return record | {key: token for key, token in ends.items() if token is not None}


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that Prodigy has no place for."""
    yield from unwritable_marks(document, pairs=True, borders=False)
    if document.sentences is not None:
        yield Unwritable("borders", f"the given sentences of document {document.id!r}")
    if any(document.text[start:end].isspace() for start, end in document.words or ()):
        yield Unwritable("borders", f"given words of document {document.id!r} that are white space")
    for key in document.annotation_notes:
        if key in _KEYS:
            yield Unwritable("notes", f"the annotation notes {key!r} of document {document.id!r}")


FORMAT = Format(
    name="prodigy",
    description="JSON lines of Prodigy: a text with spans, and tokens where words are given",
    suffixes=(".prodigy.jsonl",),
    recognises=recognises,
    read=read,
    options={"offsets": unit_named},
    serialise=serialise,
    holds=frozenset(("concepts", "confidences", "metadata", "notes", "relations")),
    own_unwritable=unwritable,
)
