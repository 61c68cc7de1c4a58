"""The relation lines of BRAT and the notes that belong to them, to and from relations.

    R1	CID Arg1:T1 Arg2:T4
    #1	Concept1 R1	D008750
    #2	Concept2 R1	D007022
    #3	AnnotatorNotes R1	Novel

BRAT relates mentions. A relation between concepts is written between the first mention of each, and notes say
that concepts are meant. `Arg1` and `Arg2` are the places of arguments, not their roles. Lines with a star
(`*	Equiv T1 T4`) are relations, too; relations of events are none, since events are kept as lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from spanwright.formats.standoff import is_column
from spanwright.text import Argument, Entity, Relation

_NOTE = "AnnotatorNotes"
_CONCEPT = "Concept"

Notes = dict[str, dict[str, str]]
"""By the id that they are about and by their kind."""


def is_relation_line(line: str) -> bool:
    """Whether a line relates something, if perhaps events."""
    return line[:1] in ("R", "*")


def notes_of(lines: Iterable[str]) -> Notes:
    """The notes among some lines; the first of a kind counts."""
    found: Notes = {}
    for line in lines:
        columns = line.split("\t", 2)
        kind, _, target = columns[1].partition(" ") if len(columns) > 2 else ("", "", "")
        if line.startswith("#") and target:
            found.setdefault(target, {}).setdefault(kind, columns[2])
    return found


def parse_relation(line: str, entities: Mapping[str, Entity], notes: Notes) -> Relation | None:
    """The relation of a line between entities, which are given by id; None when it relates something else."""
    if not is_relation_line(line):
        return None
    id, _, head = line.partition("\t")
    type_, *values = head.partition("\t")[0].split(" ")
    own = notes.get(id, {})
    arguments: list[Argument] = []
    for place, value in enumerate(values, start=1):
        role, colon, target = value.rpartition(":")
        entity = entities.get(target)
        if entity is None or bool(colon) == line.startswith("*"):
            return None
        concept = own.get(f"{_CONCEPT}{place}")
        arguments.append(
            Argument(entity if concept is None else concept, "" if role == f"Arg{place}" else role)
        )
    return Relation(type_, tuple(arguments), own.get(_NOTE, "")) if type_ and arguments else None


def relation_lines(
    relation: Relation, id: str, note_ids: Iterator[str], entity_ids: Mapping[Entity, str]
) -> list[str]:
    """The lines of a relation; none when there are no lines that are read as this relation."""
    values: list[str] = []
    notes: list[tuple[str, str]] = [(_NOTE, relation.note)] if relation.note else []
    for place, argument in enumerate(relation.arguments, start=1):
        if isinstance(argument.target, str):
            notes.append((f"{_CONCEPT}{place}", argument.target))
        values.append(f"{argument.role or f'Arg{place}'}:{_entity_id(argument, entity_ids)}")
    lines = [f"{id}\t{relation.type} {' '.join(values)}"]
    lines += [f"{next(note_ids)}\t{kind} {id}\t{text}" for kind, text in notes]
    return lines if _is_read_as(relation, lines, entity_ids) else []


def _entity_id(argument: Argument, entity_ids: Mapping[Entity, str]) -> str:
    """The id of the mention that stands for an argument; '' when there is none."""
    if isinstance(argument.target, Entity):
        return entity_ids.get(argument.target, "")
    return next((id for entity, id in entity_ids.items() if argument.target in entity.concepts), "")


def _is_read_as(relation: Relation, lines: list[str], entity_ids: Mapping[Entity, str]) -> bool:
    """Whether lines can stand in a file and are read as a relation."""
    entities = {id: entity for entity, id in entity_ids.items()}
    can_stand = all(is_column(column) for line in lines for column in line.split("\t"))
    return can_stand and parse_relation(lines[0], entities, notes_of(lines)) == relation
