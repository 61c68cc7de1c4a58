"""BRAT standoff: a folder with a text (`.txt`) and its annotations (`.ann`) for each document.

    T1	Disease 0 7;19 25	ovarian cancer
    N1	Reference T1 MESH:D010051	ovarian neoplasms

`T` lines are the entities, of one or several ranges (a mention over a line break, which brat cuts there, is
one), `N` lines give them concepts, and `R` lines relate them
(see `relations`). The text is read with its line ends as they are, because offsets count them; the
option `offsets` says what else they count where that is not characters: `utf-16` or `bytes`. Where a
document has more than that, such as events and attributes, all lines that are no entities are kept in
`annotation_notes["brat_lines"]`, and the ids that they use for entities in `annotation_notes["brat_ids"]`, so
that they can be written again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from spanwright.errors import InputError, counted
from spanwright.formats.brat.annotations import (
    ENTITY,
    OTHER_KINDS,
    concepts_by_entity,
    mention_of,
    parse_concept,
    parse_entity,
)
from spanwright.formats.brat.relations import is_relation_line, notes_of, parse_relation
from spanwright.formats.brat.writing import IDS, LINES, lines_of, serialise_folder, unwritable
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.file_names import id_of_file_name, visible_files
from spanwright.formats.io.lines import Undecodable, read_lines, read_text
from spanwright.formats.offsets import Unit, offsets_in, unit_named
from spanwright.formats.standoff import remark_other_mention
from spanwright.text import Document, Entity

_KINDS = ", ".join(sorted({ENTITY, *OTHER_KINDS}))


def recognises(path: Path, head: str) -> bool:
    """A folder with annotations, or with texts alone, or one file of a pair."""
    if path.is_dir():
        return has_annotations(path) or (bool(_stems(path)) and not _others(path))
    return path.suffix == ".ann" or (path.suffix == ".txt" and path.with_suffix(".ann").exists())


def has_annotations(folder: Path) -> bool:
    """Whether texts of a folder belong to annotations."""
    return any(file.suffix == ".ann" for file in visible_files(folder))


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a folder and the folders in it in the order of their names, or of one pair."""
    if not path.is_dir() and path.suffix not in (".txt", ".ann"):
        raise InputError(f"{path}: expected a folder, a .txt file or an .ann file for BRAT")
    folder = path if path.is_dir() else path.parent
    stems = sorted(_stems(path)) if path.is_dir() else [path.stem]
    if not stems:
        log.remark(path, 0, "no .txt or .ann file in this folder")
    bare = []
    for stem in stems:
        paths = folder / f"{stem}.txt", folder / f"{stem}.ann"
        document = _document(id_of_file_name(stem), *paths, offsets, log)
        if document is not None:
            bare += [] if paths[1].is_file() else [paths[0].name]
            yield document
    if path.is_dir() and (others := _others(path)):
        log.notes.append(
            f"{path}: not read, as the name ends in neither .txt nor .ann: {counted(len(others), 'file')}, "
            f"such as {others[0]}"
        )
    if bare:
        log.notes.append(
            f"{path}: without an .ann file, and so without entities: {len(bare)} of {len(stems)} texts, such "
            f"as {bare[0]}"
        )


def _others(folder: Path) -> list[str]:
    """Paths of files that are neither texts nor annotations, but for those that brat keeps beside them."""
    return [
        file.relative_to(folder).as_posix()
        for file in visible_files(folder)
        if file.suffix not in (".txt", ".ann") and file.suffix != ".conf"
    ]


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
        log.reject_document(annotation_path, 0, f"its text {text_path.name} is missing", entities=lost)
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
            note = log.reject_entity if kind not in OTHER_KINDS else log.remark
            (log.reject_relation if is_relation_line(kind) else note)(path, number, line.reason)
        elif kind in OTHER_KINDS:
            others[number] = line
        elif kind == ENTITY:
            entities |= _entity(line, number, document, unit, path, log)
        elif line and not line.isspace():
            log.reject_entity(path, number, f"a line that begins with {kind!r}; expected {_KINDS}")
    _remark_strays(entities, others, path, log)
    return _with_annotations(document, list(entities.values()), list(others.values()))


def _entity(
    line: str, number: int, document: Document, unit: Unit, path: Path, log: ReadingLog
) -> dict[int, tuple[str, Entity]]:
    """The id and the entity of a `T` line under its number, or nothing and a rejection."""
    text = document.text
    parsed = parse_entity(line, text, offsets_in(text, unit))
    if isinstance(parsed, str):
        log.reject_entity(path, number, parsed)
        return {}
    id, entity, given = parsed
    remark_other_mention(entity, mention_of(entity, text), given, path, number, log, text=text)
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
            log.remark(path, number, "no concept; expected 'Reference T1 ontology:id' in the second column")
        elif parsed[0] and parsed[0] not in ids:
            log.remark(path, number, f"a concept of {parsed[0]}, which is not an entity of the document")


def _with_annotations(document: Document, entities: list[tuple[str, Entity]], others: list[str]) -> Document:
    concepts = concepts_by_entity(others)
    complete = [(id, replace(entity, concepts=concepts.get(id, ()))) for id, entity in entities]
    ids: dict[str, list[str]] = {}
    for id, entity in complete:
        ids.setdefault(entity.note_key, []).append(id)
    by_id = dict(reversed(complete))
    notes = notes_of(others)
    relations = (parse_relation(line, by_id, notes) for line in others)
    bare = replace(
        document,
        entities=tuple(entity for _, entity in complete),
        relations=tuple(relation for relation in relations if relation is not None),
    )
    if not others:
        return bare
    full = replace(bare, annotation_notes={LINES: others, IDS: ids})
    return bare if lines_of(bare) == lines_of(full) else full


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
    holds=frozenset(("concepts", "relations")),
    keys=frozenset((LINES, IDS)),
    own_unwritable=unwritable,
)
