"""Label Studio's JSON: a list of tasks, each with its data, annotations and predictions.

    [{"data": {"id": "17", "text": "Famotidine helps"}, "annotations": [{"result": [{"id": "0",
     "type": "labels", "from_name": "label", "to_name": "text",
     "value": {"start": 0, "end": 10, "text": "Famotidine", "labels": ["Chemical"]}}]}]}]

The text is what `data` has under `text` (or the option `text`); other data are the metadata. Of several
annotations the ground truth is read, or else the first; where a task has none, its last prediction is, whose
scores are confidences. A region with several labels is as many entities. Concepts are those of a `TextArea`
for each region that is called `concepts`. Offsets count characters; in exports of versions before 1.5 they
count UTF-16 units (the option `offsets=utf-16`). `label_studio_results` says what it looks like.
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
from spanwright.formats.json.records import (
    Record,
    first_keys,
    given_id,
    list_length,
    other_keys,
    unwritable_metadata,
    write_record,
)
from spanwright.formats.json.values import checked
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.offsets import Unit, offsets_in, unit_named
from spanwright.formats.tools.label_studio_results import Results, results_of
from spanwright.formats.tools.marks import unwritable_marks, whole_entities
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document

_ID, _TEXT = "id", "text"
_KEYS = frozenset((_ID, _TEXT))
_LISTS = ("annotations", "predictions")


def recognises(path: Path, head: str) -> bool:
    """Whether the file is a list whose first item has data, and no keys of other formats."""
    start = head.lstrip()
    keys = first_keys(start[1:]) if start.startswith("[") else frozenset()
    return "data" in keys and keys.isdisjoint(("fields", "tokens", "passages"))


def read(
    path: Path, log: ReadingLog, *, text: str = _TEXT, offsets: Unit = "characters"
) -> Iterator[Document]:
    """Yield the documents of a file, one for each task; a wrong region is rejected alone."""
    ids = Ids(path, log)
    unread: set[str] = set()

    def parse(task: Record, line: int) -> Document:
        data = checked(task, "data", dict, "an object")
        content = _content(data, text)
        result, skipped = _result(task)
        id, generated = ids.take(given_id(data, _ID) or given_id(task, _ID), line)
        metadata = other_keys(data, frozenset((_ID, text)))
        document = Document(id, content, generated_id=generated, metadata=metadata)
        where = f"document {id!r}"
        if skipped:
            log.remark(path, line, f"{where}: other annotations or predictions are left out; one is read")
            log.entities_rejected += skipped
        found = Results(offsets_in(content, offsets), content, path, line, log, where)
        entities, relations = found.read(result)
        unread.update(found.unread)
        remark_odd_entities(entities, path, line, log, where=where)
        return replace(document, entities=entities, relations=relations)

    yield from read_items(path, log, _count, parse)
    if unread:
        log.notes.append(f"{path}: results that are not read: {', '.join(sorted(unread))}")


def _content(data: Record, key: str) -> str:
    """The text of a task."""
    if not isinstance(data.get(key), str):
        raise InputError(
            f"'data' has no text under {key!r}; name one of its keys with the option text: "
            f"{', '.join(data) or 'none'}"
        )
    return str(data[key])


def _result(task: Record) -> tuple[list[Any], int]:
    """The results to read, and how many regions of other annotations or predictions are left out."""
    annotations, predictions = (_objects(task.get(key)) for key in _LISTS)
    done = [each for each in annotations if not each.get("was_cancelled")]
    truths = [each for each in done if each.get("ground_truth")]
    chosen = (truths or done or predictions[-1:] or [{}])[0]
    others = [each for each in (done if done else predictions) if each is not chosen]
    result = checked(chosen, "result", list, "a list", [])
    return result, sum(_regions(each) for each in others)


def _objects(values: Any) -> list[Record]:
    """The objects in a list; exports may have ids in their place."""
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _regions(annotation: Record) -> int:
    return sum(list_length(_labels(each)) for each in _objects(annotation.get("result")))


def _labels(result: Record) -> Any:
    value = result.get("value")
    return value.get("labels") if isinstance(value, dict) else None


def _count(item: Any) -> int:
    """How many labels the annotations (or else the predictions) of an item hold, which may be anything."""
    task = item if isinstance(item, dict) else {}
    annotations, predictions = (_objects(task.get(key)) for key in _LISTS)
    return sum(map(_regions, annotations or predictions))


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """A list with one task for each document, a task a line."""
    return written_list(write_record(task_of(document), document.id) for document in documents)


def task_of(document: Document) -> Record:
    """The task of a document; entities are a prediction where one has a confidence, else an annotation."""
    data: Record = {} if document.generated_id else {_ID: document.id}
    task: Record = {"data": data | {_TEXT: document.text} | other_keys(document.metadata, _KEYS)}
    entities = whole_entities(document)
    confidences = [each.confidence for each in entities if each.confidence is not None]
    result = {"result": results_of(document)}
    if confidences:
        score = sum(confidences) / len(confidences)
        task["predictions"] = [result | {"model_version": "spanwright", "score": score}]
    elif entities:
        task["annotations"] = [result]
    return task


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that tasks have no place for."""
    yield from unwritable_marks(document, pairs=True)
    yield from unwritable_metadata(document, _KEYS)


FORMAT = Format(
    name="label-studio",
    description="a JSON list of Label Studio's tasks, with regions of annotations or predictions",
    suffixes=(".label-studio.json",),
    recognises=recognises,
    read=read,
    options={"text": str, "offsets": unit_named},
    serialise=serialise,
    holds=frozenset(("concepts", "confidences", "metadata", "relations")),
    own_unwritable=unwritable,
)
