"""The relations of BioC, in the form that its JSON has, to and from relations of a document.

    {"id": "R0", "infons": {"type": "Cause"}, "nodes": [{"refid": "3", "role": "Agent"}, {"refid": "4"}]}
    {"id": "R1", "infons": {"type": "Association", "entity1": "D001919", "entity2": "6331", "novel": "No"}}
    {"id": "R2", "infons": {"relation": "CID", "Chemical": "D008750", "Disease": "D007022"}}

Nodes refer to annotations. Relations between concepts have these as infons: BioRED by number, which is how
they are written, BC5CDR by type. A concept among nodes has the place that its number says. Relations of
relations, and those without a type, are no relations of a document: they are kept and written again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any

from spanwright.formats.json.records import Record
from spanwright.text import Argument, Entity, Relation

_TYPES = ("type", "relation")
_NOTES = ("note", "novel")
_NUMBERED = re.compile(r"entity([1-9]\d{0,2})")
_ROLE = " role"
"""After the name of the infon of a concept: its role, if it has one."""


def relation_of(record: Record, entities: Mapping[str, Entity], types: Set[str]) -> Relation | None:
    """The relation of a record, given the entities by their ids and all types of them; None if it is none."""
    given, nodes = record.get("infons"), record.get("nodes") or []
    infons = given if isinstance(given, dict) else {}
    type_ = next((infons[name] for name in _TYPES if infons.get(name)), None)
    mentions = [_mention(node, entities) for node in (nodes if isinstance(nodes, list) else [nodes])]
    arguments = _merged(mentions, _concepts(infons, types if not mentions else frozenset()))
    if not isinstance(type_, str) or not arguments:
        return None
    note = next((infons[name] for name in _NOTES if isinstance(infons.get(name), str)), "")
    return Relation(type_, arguments, note)


def _merged(mentions: list[Argument | None], concepts: dict[int, Argument | None]) -> tuple[Argument, ...]:
    """The arguments, concepts at their places and mentions at the others; none if one cannot be read."""
    waiting = iter(mentions)
    places = range(1, len(mentions) + len(concepts) + 1)
    merged = [concepts[place] if place in concepts else next(waiting, None) for place in places]
    found = tuple(each for each in merged if each is not None)
    return found if len(found) == len(merged) else ()


def _mention(node: Any, entities: Mapping[str, Entity]) -> Argument | None:
    refid, role = (node.get("refid"), node.get("role")) if isinstance(node, dict) else (None, None)
    entity = entities.get(str(refid))
    return None if entity is None else Argument(entity, role if isinstance(role, str) else "")


def _concepts(infons: Record, types: Set[str]) -> dict[int, Argument | None]:
    """The arguments that are concepts, by place; None for one that is no string."""
    found = {int(match[1]): name for name in infons if (match := _NUMBERED.fullmatch(str(name)))}
    if not found:
        named = [name for name in infons if name in types and name not in (*_TYPES, *_NOTES)]
        found = dict(enumerate(named, start=1)) if len(named) > 1 else {}
    return {place: _concept(infons[name], infons.get(f"{name}{_ROLE}", "")) for place, name in found.items()}


def _concept(concept: Any, role: Any) -> Argument | None:
    return Argument(concept, role) if isinstance(concept, str) and isinstance(role, str) else None


def record_of(relation: Relation, id: str, annotation_ids: Mapping[Entity, str], types: Set[str]) -> Record:
    """The record that is read as a relation; an empty one when there is none."""
    infons: Record = {"type": relation.type} | ({"note": relation.note} if relation.note else {})
    nodes: list[Record] = []
    for place, argument in enumerate(relation.arguments, start=1):
        if isinstance(argument.target, Entity):
            nodes.append({"refid": annotation_ids.get(argument.target), "role": argument.role})
        else:
            infons[f"entity{place}"] = argument.target
            infons |= {f"entity{place}{_ROLE}": argument.role} if argument.role else {}
    record = {"id": id, "infons": infons, "nodes": nodes}
    entities = {id: entity for entity, id in annotation_ids.items()}
    return record if relation_of(record, entities, types) == relation else {}
