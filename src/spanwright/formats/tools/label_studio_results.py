"""Results of Label Studio: the regions of one annotation or prediction, their concepts, and their relations.

{"id": "0", "from_name": "label", "to_name": "text", "type": "labels", "score": 0.9,
 "value": {"start": 0, "end": 10, "text": "Famotidine", "labels": ["Chemical"]}}
{"id": "0", "from_name": "concepts", "to_name": "text", "type": "textarea",
 "value": {"start": 0, "end": 10, "text": ["D015738"]}}
{"from_id": "0", "to_id": "1", "type": "relation", "direction": "right", "labels": ["treats"]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.json.records import Record
from spanwright.formats.json.values import checked, checked_object, finite_number, range_in, strings
from spanwright.formats.offsets import Offsets
from spanwright.formats.standoff import remark_other_mention
from spanwright.formats.tools.marks import read_pair, read_pairs, whole_entities, written_pairs
from spanwright.text import Document, Entity, Relation

CONCEPTS = "concepts"
"""The name of the `TextArea` with the concepts of a region."""
_LABELS = "labels"
_REGION, _CONCEPTS, _RELATION = _LABELS, "concepts of a region", "relation"


@dataclass(slots=True)
class Results:
    """Reads the results of one task."""

    offsets: Offsets
    text: str
    path: Path
    line: int
    log: ReadingLog
    where: str
    unread: set[str] = field(default_factory=set)
    """Types of results that are neither regions with labels nor relations, such as choices."""

    def read(self, results: list[Any]) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
        """The entities and relations; wrong ones are rejected."""
        concepts = {each.get("id"): each for each in results if _kind(each) == _CONCEPTS}
        entities: list[Entity] = []
        by_id: dict[str, Entity | None] = {}
        for number, result in enumerate(results):
            kind = _kind(result)
            if kind == _REGION:
                found = list(self._region(result, concepts, number))
                entities += found
                if isinstance(result, dict) and isinstance(result.get("id"), str):
                    by_id[result["id"]] = found[0] if found else None
            elif kind not in (_CONCEPTS, _RELATION):
                self.unread.add(kind)
        pairs = [each for each in results if _kind(each) == _RELATION]
        parse = partial(_relations, marks=by_id)
        return tuple(entities), read_pairs(pairs, parse, self.path, self.line, self.log, self.where)

    def _region(self, value: Any, concepts: dict[Any, Record], number: int) -> Iterator[Entity]:
        try:
            result = checked_object(value)
            region = checked(result, "value", dict, "an object")
            if "start" not in region:
                raise InputError(f"the type {result.get('type')!r:.80} is of no text; expected 'labels'")
            start, end = range_in(region, "start", "end", self.offsets)
            labels = strings(region, _LABELS)
            known = strings(_value(concepts.get(result.get("id"))), "text")
            score = finite_number(result, "score")
            if not labels:
                raise InputError("it has no label; expected one at least")
        except InputError as error:
            self.log.reject_entity(self.path, self.line, f"{self.where}: region {number}: {error}")
            return
        for label in labels:
            entity = Entity(start, end, label, concepts=known, confidence=score)
            if "text" in region:
                self._compare(entity, region["text"])
            yield entity

    def _compare(self, entity: Entity, given: Any) -> None:
        found = self.text[entity.start : entity.end]
        # The editor shows a line break as these two characters, and so it writes them.
        shown = given.replace("\\n", "\n") if isinstance(given, str) and given != found else given
        remark_other_mention(
            entity, found, shown, self.path, self.line, self.log, where=self.where, text=self.text
        )


def _kind(result: Any) -> str:
    """What a result is: a region, its concepts, a relation, or the name of something that is not read.

    What is no object passes for a region, as which it is rejected.
    """
    if not isinstance(result, dict):
        return _REGION
    type_ = str(result.get("type"))
    if type_ == "textarea" and result.get("from_name") == CONCEPTS:
        return _CONCEPTS
    return _REGION if "labels" in type_ else type_


def _relations(result: Record, marks: dict[str, Entity | None]) -> list[Relation]:
    """A relation for each label of a result; one without a type where it has none."""
    ends = str(result.get("from_id")), str(result.get("to_id"))
    if result.get("direction") == "left":
        ends = ends[1], ends[0]
    return [read_pair(label, ends, marks) for label in strings(result, _LABELS) or ("",)]


def _value(result: Record | None) -> Record:
    value = (result or {}).get("value")
    return value if isinstance(value, dict) else {}


def region_of(
    entity: Entity, mention: str, id: str, *, from_name: str = "label", to_name: str = "text"
) -> Record:
    """The region of an entity, for a tag of labels and a tag of texts of these names."""
    value = {"start": entity.start, "end": entity.end, "text": mention, _LABELS: [entity.type]}
    names = {"id": id, "from_name": from_name, "to_name": to_name, "type": _LABELS}
    score = {} if entity.confidence is None else {"score": entity.confidence}
    return names | {"value": value} | score


def results_of(document: Document) -> list[Record]:
    """The results of a document: each region with its concepts, then the relations."""
    results: list[Record] = []
    for number, entity in enumerate(whole_entities(document)):
        region = region_of(entity, document.mention(entity), str(number))
        results.append(region)
        if entity.concepts:
            value = {"start": entity.start, "end": entity.end, "text": list(entity.concepts)}
            results.append({**region, "from_name": CONCEPTS, "type": "textarea", "value": value})
    for first, second, relation in written_pairs(document):
        ends = {"from_id": str(first), "to_id": str(second)}
        labels = [relation.type] if relation.type else []
        results.append(ends | {"type": "relation", "direction": "right", _LABELS: labels})
    return results
