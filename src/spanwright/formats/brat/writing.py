"""Writing BRAT standoff. For how documents look in it, see `documents`, which reads it.

A document that was read from BRAT is written with the ids and the other lines that it had there, as far as
its entities and relations are still the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import count

from spanwright.formats.brat.annotations import (
    ENTITY,
    OTHER_KINDS,
    concept_line,
    concepts_by_entity,
    entity_line,
    has_writable_type,
    joined_at_line_breaks,
    lines_that_hold,
    own_id,
    parse_concept,
)
from spanwright.formats.brat.relations import notes_of, parse_relation, relation_lines
from spanwright.formats.io.file_names import file_name, id_of_file_name
from spanwright.formats.standoff import given_borders, is_column, kept_relations
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_concepts, unwritable_relation
from spanwright.text import Document, Entity, Relation

LINES, IDS = "brat_lines", "brat_ids"
"""Keys of the annotation notes: lines that are no entities, and the ids that they use for entities."""
_ENTITY_ID = re.compile(r"T\d+")


def serialise_folder(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the text and the annotations of a document. What `unwritable` names is left out."""
    name = file_name(document.id)
    # A reader takes the first byte order mark for no part of the text.
    mark = "\ufeff" if document.text.startswith("\ufeff") else ""
    yield f"{name}.txt", mark + document.text
    yield f"{name}.ann", "".join(f"{line}\n" for line in lines_of(document))


def lines_of(document: Document) -> list[str]:
    """The lines of the annotations of a document."""
    marks = _Marks.of(document)
    relations = _Relations.of(document, marks)
    entities = [
        entity_line(id, entity, document.text) for id, entity in zip(marks.ids, marks.entities, strict=True)
    ]
    return [*entities, *_concept_lines(document, marks), *relations.kept, *relations.fresh]


@dataclass(frozen=True, slots=True)
class _Marks:
    """The entities that can be written, and the other lines of the file that a document was read from."""

    entities: list[Entity]
    kept_ids: list[str | None]
    """The id that each entity had in the file; None for those that were not there."""
    renewed: Set[str]
    """Of these ids, those whose entities have other concepts now."""
    ids: list[str]
    """The id that each entity has."""
    others: list[str]
    taken: set[str]
    """Ids that lines of the file have, or may refer to."""

    @classmethod
    def of(cls, document: Document) -> _Marks:
        """The entities of a document and its kept lines."""
        listed = _listed(document.annotation_notes.get(LINES))
        others = [line for line in listed if line[:1] in OTHER_KINDS]
        entities = [entity for entity in document.entities if has_writable_type(entity)]
        kept = _kept_ids(entities, document)
        known, pairs = concepts_by_entity(others), zip(kept, entities, strict=True)
        renewed = {id for id, entity in pairs if id is not None and known.get(id, ()) != entity.concepts}
        others = [line for line in others if not _gives_concepts_to(line, renewed)]
        taken = {id for id in kept if id is not None}.union(map(own_id, others))
        fresh = _free_ids(ENTITY, taken)
        ids = [id if id is not None else next(fresh) for id in kept]
        return cls(entities, kept, renewed, ids, others, taken)

    def by_kept_id(self) -> dict[str, Entity]:
        """The entities that kept lines refer to; of several with one id, the first."""
        pairs = zip(self.kept_ids, self.entities, strict=True)
        return {id: entity for id, entity in reversed([*pairs]) if id is not None}

    def id_of(self) -> dict[Entity, str]:
        """The ids of the entities, in their order; of equal ones, that of the first."""
        ids: dict[Entity, str] = {}
        for entity, id in zip(self.entities, self.ids, strict=True):
            ids.setdefault(entity, id)
        return ids


def _concept_lines(document: Document, marks: _Marks) -> Iterator[str]:
    """The lines of concepts that no kept line has."""
    concept_ids = _free_ids("N", marks.taken)
    for id, entity, known in zip(marks.ids, marks.entities, marks.kept_ids, strict=True):
        is_fresh = known is None or known in marks.renewed
        for concept in filter(is_column, entity.concepts if is_fresh else ()):
            yield concept_line(next(concept_ids), id, concept, document.mention(entity))


@dataclass(frozen=True, slots=True)
class _Relations:
    """The lines of what is neither entity nor concept."""

    kept: list[str]
    """Lines of the file that was read, which also have concepts."""
    fresh: list[str]
    unwritable_lines: list[str]
    unwritable: list[Relation]

    @classmethod
    def of(cls, document: Document, marks: _Marks) -> _Relations:
        """The lines of a document's relations, and the kept lines that still hold."""
        entities = marks.by_kept_id()
        notes = notes_of(marks.others)
        lines, missing = kept_relations(
            marks.others, lambda line: parse_relation(line, entities, notes), document.relations
        )
        kept = lines_that_hold(lines, entities)
        # A line of concepts may be gone because the entity has others.
        unwritable_lines = [line for line in lines if line not in kept and not line.startswith("N")]
        fresh: list[str] = []
        unwritable: list[Relation] = []
        ids, note_ids, id_of = _free_ids("R", marks.taken), _free_ids("#", marks.taken), marks.id_of()
        for relation in missing:
            own = relation_lines(relation, next(ids), note_ids, id_of)
            fresh += own
            unwritable += [] if own else [relation]
        return cls(kept, fresh, unwritable_lines, unwritable)


def _free_ids(kind: str, taken: set[str]) -> Iterator[str]:
    """Ids of a kind that are not taken."""
    return (f"{kind}{number}" for number in count(1) if f"{kind}{number}" not in taken)


def _gives_concepts_to(line: str, ids: Set[str]) -> bool:
    parsed = parse_concept(line) if line.startswith("N") else None
    return parsed is not None and parsed[0] in ids


def _kept_ids(entities: list[Entity], document: Document) -> list[str | None]:
    """The id that each entity had in the file it was read from; None for those that were not there."""
    table = document.annotation_notes.get(IDS)
    given = {name: _listed(ids) for name, ids in table.items()} if isinstance(table, dict) else {}
    kept: list[str | None] = []
    for entity in entities:
        ids = given.get(entity.note_key, [])
        id = ids.pop(0) if ids else ""
        is_usable = _ENTITY_ID.fullmatch(id) and id not in kept
        kept.append(id if is_usable else None)
    return kept


def _listed(value: object) -> list[str]:
    """The lines or ids in a value of the notes, which need not come from this library."""
    values = value if isinstance(value, list) else []
    return [each for each in values if isinstance(each, str) and is_column(each.replace("\t", ""))]


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    if id_of_file_name(file_name(document.id)) != document.id:
        yield Unwritable("ids", f"the id {document.id!r} of a document as a file name")
    yield from given_borders(document)
    for entity in document.entities:
        if not has_writable_type(entity):
            yield Unwritable("entities", f"the type of {shown_entity(document, entity)}")
        elif not all(map(is_column, entity.concepts)):
            yield unwritable_concepts(document, entity)
        if entity.fragments and joined_at_line_breaks(entity.ranges, document.text) != entity.ranges:
            line = f"the gap over a line break in {shown_entity(document, entity)}"
            yield Unwritable("borders", line, fate="marked as well")
    if document.relations or document.annotation_notes:
        relations = _Relations.of(document, _Marks.of(document))
        yield from (unwritable_relation(document, relation) for relation in relations.unwritable)
        for line in relations.unwritable_lines:
            yield Unwritable("notes", f"the line {line!r:.80} of document {document.id!r}")
