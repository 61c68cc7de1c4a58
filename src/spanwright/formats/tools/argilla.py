"""Records of Argilla, as its `records.to_json` writes them: a JSON list.

    [{"id": "17", "fields": {"text": "Famotidine helps"}, "metadata": {}, "responses": {}, "suggestions":
     {"spans": {"value": [{"start": 0, "end": 10, "label": "Chemical"}], "score": [0.9], "agent": "biomed"}}}]

Where a record has responses, the first is read; else its suggestion, whose scores are the confidences. The
options `field` and `question` name what to read where there are several. Entities are written as
suggestions, since a response belongs to a user of the server that it goes to. There is no place for concepts
and relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.lists import read_items, written_list
from spanwright.formats.json.records import Record, first_keys, given_id, list_length, write_record
from spanwright.formats.json.values import checked, checked_object, finite_number, range_in
from spanwright.formats.offsets import Offsets, Unit, offsets_in, unit_named
from spanwright.formats.tools.marks import read_marks, unwritable_marks, whole_entities
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document, Entity

_FIELD, _QUESTION, _AGENT = "text", "spans", "spanwright"


def recognises(path: Path, head: str) -> bool:
    """Whether the file is a list whose first item has fields, and responses or suggestions."""
    start = head.lstrip()
    keys = first_keys(start[1:]) if start.startswith("[") else frozenset()
    return "fields" in keys and not keys.isdisjoint(("responses", "suggestions"))


def read(
    path: Path,
    log: ReadingLog,
    *,
    field: str = "",
    question: str = "",
    offsets: Unit = "characters",
) -> Iterator[Document]:
    """Yield the documents of a file, one for each record; a wrong span is rejected alone."""
    ids = Ids(path, log)

    def parse(record: Record, line: int) -> Document:
        text = _field(checked(record, "fields", dict, "an object"), field)
        value, scores = _answer(record, question, path, line, log)
        id, generated = ids.take(given_id(record, "id"), line)
        metadata = checked(record, "metadata", dict, "an object", {})
        document = Document(id, text, generated_id=generated, metadata=metadata)
        return _marked(document, value, scores, offsets_in(text, offsets), path, line, log)

    return read_items(path, log, _count, parse)


def _field(fields: Record, name: str) -> str:
    """The text of a record: the named field, else the one called `text`, else the only one."""
    chosen = name or (_FIELD if _FIELD in fields or len(fields) != 1 else next(iter(fields)))
    if not isinstance(fields.get(chosen), str):
        raise InputError(
            f"no text in the field {chosen!r}; name a field with the option field: "
            f"{', '.join(fields) or 'none'}"
        )
    return str(fields[chosen])


def _answer(record: Record, question: str, path: Path, line: int, log: ReadingLog) -> tuple[list[Any], Any]:
    """The spans of a record and their scores, if any."""
    responses = checked(record, "responses", dict, "an object", {})
    answers = responses.get(_question(responses, question)) or []
    if isinstance(answers, list) and answers:
        if others := answers[1:]:
            log.remark(path, line, f"{len(answers)} responses; the first is read")
            log.entities_rejected += sum(map(_spans, others))
        return checked(checked_object(answers[0]), "value", list, "a list of spans", []), None
    suggestions = checked(record, "suggestions", dict, "an object", {})
    suggestion = suggestions.get(_question(suggestions, question))
    if suggestion is None:
        return [], None
    return checked(checked_object(suggestion), "value", list, "a list of spans", []), suggestion.get("score")


def _question(answers: Record, name: str) -> str:
    """The question to read: the named one, else the first whose answer may be spans."""
    first = (
        key
        for key, each in answers.items()
        if _is_spans(each[0] if each and isinstance(each, list) else each)
    )
    return name or next(first, "")


def _is_spans(answer: Any) -> bool:
    value = answer.get("value") if isinstance(answer, dict) else None
    return isinstance(value, list) and all(isinstance(each, dict) and "start" in each for each in value)


def _spans(answer: Any) -> int:
    return list_length(answer.get("value")) if isinstance(answer, dict) else 0


def _count(item: Any) -> int:
    """How many spans the suggestions and responses of an item hold, which may be anything."""
    record = item if isinstance(item, dict) else {}
    suggestions, responses = record.get("suggestions"), record.get("responses")
    answers = list(suggestions.values()) if isinstance(suggestions, dict) else []
    for each in responses.values() if isinstance(responses, dict) else ():
        answers += each if isinstance(each, list) else []
    return sum(map(_spans, answers))


def _marked(
    document: Document,
    values: list[Any],
    scores: Any,
    offsets: Offsets,
    path: Path,
    line: int,
    log: ReadingLog,
) -> Document:
    each = scores if isinstance(scores, list) and len(scores) == len(values) else [scores] * len(values)
    scored = [(value, {"score": score}) for value, score in zip(values, each, strict=True)]
    where = f"document {document.id!r}"
    found = read_marks(scored, lambda pair: _entity(pair[0], pair[1], offsets), path, line, log, where)
    return replace(document, entities=tuple(filter(None, found)))


def _entity(value: Any, score: Record, offsets: Offsets) -> Entity:
    span = checked_object(value)
    start, end = range_in(span, "start", "end", offsets)
    label = checked(span, "label", str, "a string")
    return Entity(start, end, label, confidence=finite_number(score, "score"))


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """A list with one record for each document, a record a line."""
    return written_list(write_record(_record(document), document.id) for document in documents)


def _record(document: Document) -> Record:
    entities = whole_entities(document)
    value = [{"start": each.start, "end": each.end, "label": each.type} for each in entities]
    confidences = [each.confidence for each in entities]
    scores = None if None in confidences or not entities else confidences
    return {
        "id": None if document.generated_id else document.id,
        "fields": {_FIELD: document.text},
        "metadata": dict(document.metadata),
        "suggestions": {_QUESTION: {"value": value, "score": scores, "agent": _AGENT}} if value else {},
        "responses": {},
        "vectors": {},
    }


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that records have no place for."""
    yield from unwritable_marks(document, pairs=False)
    scored = [entity.confidence is not None for entity in whole_entities(document)]
    if any(scored) and not all(scored):
        named = f"the confidences of {sum(scored)} entities of document {document.id!r}"
        line = f"{named}, whose other entities have none"
        yield Unwritable("confidences", line, sum(scored))


FORMAT = Format(
    name="argilla",
    description="a JSON list of Argilla's records, with spans as suggestions or responses",
    suffixes=(".argilla.json",),
    recognises=recognises,
    read=read,
    options={"field": str, "question": str, "offsets": unit_named},
    serialise=serialise,
    holds=frozenset(("confidences", "metadata")),
    own_unwritable=unwritable,
)
