"""BRAT standoff: a folder with a text (`.txt`) and its annotations (`.ann`) for each document.

    T1	Disease 0 7;19 25	ovarian cancer
    N1	Reference T1 MESH:D010051	ovarian neoplasms

`T` lines are the entities, in one or several pieces, and `N` lines give them concepts. The text is read with
its line ends as they are, because offsets count them; the option `offsets` tells what else they count where
that is not characters: `utf-16` or `bytes`. All lines that are no entities are kept in
`metadata["brat_lines"]`, and the ids that they use for entities in `metadata["brat_ids"]`, so that they can
be written again.

Confidences of predicted entities have no place in the format and are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from spanwright.corpora.brat_annotations import (
    ENTITY,
    OTHER_KINDS,
    concept_line,
    concepts_by_entity,
    entity_line,
    has_writable_type,
    lines_that_hold,
    own_id,
    parse_concept,
    parse_entity,
)
from spanwright.corpora.file_names import file_name, id_of_file_name
from spanwright.corpora.format import Format, ReadingLog
from spanwright.corpora.lines import Undecodable, read_lines, read_text
from spanwright.corpora.offsets import Unit, offsets_in, unit_named
from spanwright.corpora.standoff import given_borders, is_column, key, named, remark_other_mention
from spanwright.corpora.visible_files import visible_files
from spanwright.errors import InputError
from spanwright.text import Document, Entity

_LEGAL_KINDS = ", ".join(sorted({ENTITY, *OTHER_KINDS}))
_ENTITY_ID = re.compile(r"T\d+")


def recognises(path: Path, head: str) -> bool:
    """A folder with texts or annotations, or one file of a pair."""
    if path.is_dir():
        return bool(_stems(path))
    return path.suffix == ".ann" or (path.suffix == ".txt" and path.with_suffix(".ann").exists())


def has_annotations(folder: Path) -> bool:
    """Whether texts of a folder belong to annotations."""
    return any(file.suffix == ".ann" for file in visible_files(folder))


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a folder and the folders in it in the order of their names, or of one pair."""
    if not path.is_dir() and path.suffix not in (".txt", ".ann"):
        raise InputError(f"{path}: legal for BRAT are a folder, a .txt file or an .ann file")
    folder = path if path.is_dir() else path.parent
    stems = sorted(_stems(path)) if path.is_dir() else [path.stem]
    if not stems:
        log.remark(path, 0, "no .txt or .ann file in this folder")
    for stem in stems:
        paths = folder / f"{stem}.txt", folder / f"{stem}.ann"
        document = _document(id_of_file_name(stem), *paths, offsets, log)
        if document is not None:
            yield document


def _stems(folder: Path) -> set[str]:
    """Paths of texts and annotations, relative to a folder and without their ending."""
    return {
        file.relative_to(folder).as_posix().removesuffix(file.suffix)
        for file in visible_files(folder)
        if file.suffix in (".txt", ".ann")
    }


def _document(
    id: str, text_path: Path, annotation_path: Path, unit: Unit, log: ReadingLog
) -> Document | None:
    text = read_text(text_path) if text_path.is_file() else None
    rows = list(read_lines(annotation_path)) if annotation_path.is_file() else []
    if isinstance(text, str):
        return _annotated(Document(id, text), rows, unit, annotation_path, log)
    lost = sum(_shown(line).startswith(ENTITY) for _, line in rows)
    if text is None:
        log.reject_document(annotation_path, 0, f"there is no text {text_path.name} to it", entities=lost)
    else:
        log.reject_document(text_path, text.line, text.reason, entities=lost)
    return None


def _shown(line: str | Undecodable) -> str:
    return line if isinstance(line, str) else line.replaced


def _annotated(
    document: Document, rows: list[tuple[int, str | Undecodable]], unit: Unit, path: Path, log: ReadingLog
) -> Document:
    """The document with the annotations of a file."""
    entities: dict[int, tuple[str, Entity]] = {}
    others: dict[int, str] = {}
    for number, line in rows:
        kind = _shown(line)[:1]
        if isinstance(line, Undecodable):
            note = log.remark if kind in OTHER_KINDS else log.reject_entity
            note(path, number, line.reason)
        elif kind in OTHER_KINDS:
            others[number] = line
        elif kind == ENTITY:
            entities |= _entity(line, number, document, unit, path, log)
        elif line and not line.isspace():
            log.reject_entity(path, number, f"a line that begins with {kind!r}; legal are {_LEGAL_KINDS}")
    _remark_strays(entities, others, path, log)
    return _with_annotations(document, list(entities.values()), list(others.values()))


def _entity(
    line: str, number: int, document: Document, unit: Unit, path: Path, log: ReadingLog
) -> dict[int, tuple[str, Entity]]:
    """The id and the entity of a `T` line under its number, or nothing and a rejection."""
    parsed = parse_entity(line, offsets_in(document.text, unit))
    if isinstance(parsed, str):
        log.reject_entity(path, number, parsed)
        return {}
    id, entity, given = parsed
    remark_other_mention(entity, document.mention(entity), given, path, number, log, text=document.text)
    return {number: (id, entity)}


def _remark_strays(
    entities: dict[int, tuple[str, Entity]], others: dict[int, str], path: Path, log: ReadingLog
) -> None:
    """Note ids that repeat, and concepts that belong to no entity."""
    ids: set[str] = set()
    for number, (id, _) in entities.items():
        if id in ids:
            log.remark(path, number, f"the id {id} stands in the file before; what refers to it means both")
        ids.add(id)
    for number, line in others.items():
        parsed = parse_concept(line) if line.startswith("N") else ("", "")
        if parsed is None:
            log.remark(path, number, "no concept; legal is 'Reference T1 ontology:id' in the second column")
        elif parsed[0] and parsed[0] not in ids:
            log.remark(path, number, f"a concept of {parsed[0]}, which is no entity of the document")


def _with_annotations(document: Document, entities: list[tuple[str, Entity]], others: list[str]) -> Document:
    concepts = concepts_by_entity(others)
    complete = [(id, replace(entity, concepts=concepts.get(id, ()))) for id, entity in entities]
    ids: dict[str, list[str]] = {}
    for id, entity in complete:
        ids.setdefault(key(entity), []).append(id)
    metadata: dict[str, Any] = {"brat_lines": others, "brat_ids": ids} if others else {}
    return replace(document, entities=tuple(entity for _, entity in complete), metadata=metadata)


def serialise_folder(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the text and the annotations of a document. What `losses` names is left out."""
    name = file_name(document.id)
    # A reader takes the first byte order mark for no part of the text.
    mark = "\ufeff" if document.text.startswith("\ufeff") else ""
    yield f"{name}.txt", mark + document.text
    yield f"{name}.ann", "".join(f"{line}\n" for line in _lines(document))


def _lines(document: Document) -> Iterator[str]:
    others = [line for line in _listed(document.metadata.get("brat_lines")) if line[:1] in OTHER_KINDS]
    entities = [entity for entity in document.entities if has_writable_type(entity)]
    kept = _kept_ids(entities, document, concepts_by_entity(others))
    taken = {id for id in kept if id is not None}.union(map(own_id, others))
    fresh = _free_ids(ENTITY, taken)
    ids = [id if id is not None else next(fresh) for id in kept]
    for id, entity in zip(ids, entities, strict=True):
        yield entity_line(id, entity, document)
    concept_ids = _free_ids("N", taken)
    for id, entity, known in zip(ids, entities, kept, strict=True):
        for concept in filter(is_column, entity.concepts if known is None else ()):
            yield concept_line(next(concept_ids), id, concept, document.mention(entity))
    yield from lines_that_hold(others, (id for id in kept if id is not None))


def _free_ids(kind: str, taken: set[str]) -> Iterator[str]:
    return (f"{kind}{number}" for number in count(1) if f"{kind}{number}" not in taken)


def _kept_ids(
    entities: list[Entity], document: Document, concepts: dict[str, tuple[str, ...]]
) -> list[str | None]:
    """The id that each entity had in the file it was read from; None for those that were not there."""
    table = document.metadata.get("brat_ids")
    given = {name: _listed(ids) for name, ids in table.items()} if isinstance(table, dict) else {}
    kept: list[str | None] = []
    for entity in entities:
        ids = given.get(key(entity), [])
        id = ids.pop(0) if ids else ""
        is_usable = _ENTITY_ID.fullmatch(id) and concepts.pop(id, ()) == entity.concepts
        kept.append(id if is_usable else None)
    return kept


def _listed(value: object) -> list[str]:
    """The lines or ids in a value of the metadata, which need not come from this module."""
    values = value if isinstance(value, list) else []
    return [each for each in values if isinstance(each, str) and is_column(each.replace("\t", ""))]


def losses(document: Document) -> Iterator[str]:
    """One line for each thing of a document that a reader would not get back."""
    if id_of_file_name(file_name(document.id)) != document.id:
        yield f"the id {document.id!r} of a document as a file name"
    yield from given_borders(document)
    for entity in document.entities:
        if not has_writable_type(entity):
            yield f"the type of {named(document, entity)}"
        elif not all(map(is_column, entity.concepts)):
            yield f"the concepts {list(entity.concepts)} of {named(document, entity)}"


FORMAT = Format(
    name="brat",
    description="a folder with a .txt and an .ann file for each document",
    suffixes=(".brat",),
    recognises=recognises,
    read=read,
    options={"offsets": unit_named},
    serialise_folder=serialise_folder,
    compressible=False,
    is_whole=has_annotations,
    losses=losses,
)
