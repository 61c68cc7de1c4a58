"""PubTator: blocks of a title line, an abstract line and tab-separated annotation lines.

    8701013|t|Famotidine and confusion
    8701013|a|A report.
    8701013	0	10	Famotidine	Chemical	D015738

The text of a document is the title, a line break and the abstract, so that the offsets of the file hold as
they are; with an empty abstract it is the title alone. Line ends at the very end of a text are not written.
Relation lines (`CID` and those of BioRED) relate two
concepts. Columns that `Entity` has no place for are kept in `annotation_notes["pubtator_columns"]`, and the
id of a block that repeats an earlier one in `metadata["given_id"]`. The
option `offsets` says what offsets count where that is not characters: `utf-16` or `bytes`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.formats.offsets import Unit, offsets_in, unit_named
from spanwright.formats.pubtator.annotations import (
    columns_of,
    entity_of,
    is_relation,
    join_concepts,
    obstacle,
    other_columns,
    relation_columns,
    relation_of,
    with_whole_mention,
)
from spanwright.formats.standoff import given_borders, remark_other_mention
from spanwright.formats.unwritable import (
    BLANKS,
    Unwritable,
    shown_entity,
    unwritable_concepts,
    unwritable_relation,
)
from spanwright.text import Document, Entity, Relation

_TEXT_LINE = re.compile(r"([^|\t\n]+)\|([ta])\|")
_ILLEGAL_IN_ID = re.compile(r"[|\t\r\n\ufeff\ud800-\udfff]")
_ILLEGAL_BREAK = re.compile(r"[\n\r]")

_MOST_COLUMNS = 7
"""The last one has the parts of a composite mention. More are a sign of a lost line end."""

_Row = tuple[int, str | Undecodable]


class _TextLine(NamedTuple):
    number: int
    id: str
    section: str
    text: str | Undecodable


class _Block(NamedTuple):
    text_lines: list[_TextLine]
    rows: list[_Row]


def recognises(path: Path, head: str) -> bool:
    """Whether the first line that is not empty is a title or abstract line."""
    return _TEXT_LINE.match(head.lstrip("\n")) is not None


def read(path: Path, log: ReadingLog, *, offsets: Unit = "characters") -> Iterator[Document]:
    """Yield the documents of a file, one for each block."""
    ids = Ids(path, log)
    for text_lines, rows in _blocks(path):
        fault = _fault(text_lines) if text_lines else (rows[0][0], "annotations without an ID|t| line")
        if fault is not None:
            log.reject_document(path, *fault, entities=sum(map(_is_annotation, rows)))
            continue
        number, given = text_lines[0].number, text_lines[0].id
        text = _joined(*(str(line.text) for line in text_lines))
        bare = _annotated(Document(given, text), rows, offsets, path, log)
        id, _ = ids.take(given, number)
        yield bare if id == given else replace(bare, id=id, metadata={"given_id": given})


def _blocks(path: Path) -> Iterator[_Block]:
    """Lines up to the next empty line, or to the next title line where the empty line is missing."""
    text_lines, rows = block = _Block([], [])
    for number, line in read_lines(path):
        shown = line if isinstance(line, str) else line.replaced
        match = _TEXT_LINE.match(shown) if "|" in shown else None
        is_empty = not shown or shown.isspace()
        if (is_empty or (match and match[2] == "t")) and (text_lines or rows):
            yield block
            text_lines, rows = block = _Block([], [])
        if match:
            text = line[match.end() :] if isinstance(line, str) else line
            text_lines.append(_TextLine(number, match[1], match[2], text))
        elif not is_empty:
            rows.append((number, line))
    if text_lines or rows:
        yield block


def _fault(text_lines: list[_TextLine]) -> tuple[int, str] | None:
    """Line and reason when the text lines of a block do not make a text."""
    for line in text_lines:
        if isinstance(line.text, Undecodable):
            return line.number, line.text.reason
    found = " ".join(f"{line.id}|{line.section}|" for line in text_lines)
    if [line.section for line in text_lines] not in (["t"], ["t", "a"]):
        return text_lines[0].number, f"a block of {found}; expected one ID|t| and after it one ID|a| line"
    if len({line.id for line in text_lines}) > 1:
        return text_lines[1].number, f"a block of {found}; expected one id in a block"
    return None


def _is_annotation(row: _Row) -> bool:
    line = row[1] if isinstance(row[1], str) else row[1].replaced
    return not is_relation(line.split("\t"), "")


def _annotated(document: Document, rows: list[_Row], unit: Unit, path: Path, log: ReadingLog) -> Document:
    """The document of a block with its entities, its relations and what else it says of them."""
    given, text = document.id, document.text
    has_tabs = "\t" in text
    entities: list[Entity] = []
    relations: list[tuple[int, Relation]] = []
    extra: dict[str, str] = {}
    for number, line in rows:
        columns = (line if isinstance(line, str) else line.replaced).split("\t")
        if has_tabs:
            columns = with_whole_mention(columns, text, offsets_in(text, unit))
        if isinstance(line, Undecodable):
            note = log.reject_relation if is_relation(columns, text) else log.reject_entity
            note(path, number, line.reason)
        elif columns[0] == given and is_relation(columns, text):
            relations.append((number, relation_of(columns)))
        elif isinstance(entity := entity_of(columns, given, offsets_in(text, unit)), str):
            log.reject_entity(path, number, entity)
        else:
            entities.append(entity)
            if len(columns) > _MOST_COLUMNS:
                reason = (
                    f"{len(columns)} tab-separated columns; expected at most {_MOST_COLUMNS}; all are kept"
                )
                log.remark(path, number, reason)
            found = text[entity.start : entity.end]
            remark_other_mention(entity, found, columns[3], path, number, log, text=text)
            if columns[5:] != [*entity.concepts] and (other := other_columns(columns, entity)):
                extra[entity.note_key] = other
    _remark_unknown_concepts(relations, entities, path, log)
    notes = {"pubtator_columns": extra} if extra else {}
    related = tuple(relation for _, relation in relations)
    return replace(document, entities=tuple(entities), relations=related, annotation_notes=notes)


def _remark_unknown_concepts(
    relations: list[tuple[int, Relation]], entities: list[Entity], path: Path, log: ReadingLog
) -> None:
    """A relation between concepts that no entity has may be an annotation with broken offsets."""
    known = {concept for entity in entities for concept in entity.concepts}
    for number, relation in relations if known else ():
        concepts = [each.target for each in relation.arguments]
        if known.isdisjoint(concepts):
            log.remark(path, number, f"read as a relation, but no entity has a concept of {concepts}")


def _joined(title: str, abstract: str = "") -> str:
    """The text of a document."""
    return f"{title}\n{abstract}" if abstract else title


def _ended(document: Document) -> str:
    """The text without line ends at its very end, which count for nothing unless an entity has them."""
    ended = document.text.rstrip("\r\n")
    return document.text if any(entity.end > len(ended) for entity in document.entities) else ended


def _sections(text: str) -> tuple[str, str]:
    """Title and abstract of a text; a line break that the format cannot express becomes a blank."""
    title, _, abstract = text.partition("\n")
    if not abstract:
        title = text
    return _ILLEGAL_BREAK.sub(" ", title), _ILLEGAL_BREAK.sub(" ", abstract)


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the block of each document. What `unwritable` names is left out; all offsets hold."""
    uses: Counter[str] = Counter()
    for document in documents:
        # The id that the file gave is written again where a reader will number it again as before.
        given = str(document.metadata.get("given_id"))
        again = document.id == f"{given}#{uses[given] + 1}"
        id = _ILLEGAL_IN_ID.sub("_", given if again else document.id) or "_"
        uses[id] += 1
        yield "\n".join(_lines(document, id)) + "\n\n"


def _lines(document: Document, id: str) -> Iterator[str]:
    text = _ended(document)
    title, abstract = _sections(text)
    yield f"{id}|t|{title}"
    yield f"{id}|a|{abstract}"
    for entity in document.entities:
        if not obstacle(entity):
            yield "\t".join([id, *columns_of(entity, document)])
    for relation in document.relations:
        if columns := relation_columns(relation, text):
            yield "\t".join([id, *columns])


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    if not document.id or _ILLEGAL_IN_ID.search(document.id):
        yield Unwritable("ids", f"the id {document.id!r} of a document")
    text = _ended(document)
    if _joined(*_sections(text)) != text:
        line = f"the line breaks of document {document.id!r} but for one, which parts title and abstract"
        yield Unwritable("texts", line, fate=BLANKS)
    yield from given_borders(document)
    for entity in document.entities:
        if found := obstacle(entity):
            yield Unwritable("entities", f"{found} {shown_entity(document, entity)}")
        elif join_concepts(entity.concepts) is None:
            yield unwritable_concepts(document, entity)
    for relation in document.relations:
        if not relation_columns(relation, text):
            yield unwritable_relation(document, relation)


FORMAT = Format(
    name="pubtator",
    description="title and abstract lines, then tab-separated annotations",
    suffixes=(".pubtator", ".pubtator.txt"),
    recognises=recognises,
    read=read,
    options={"offsets": unit_named},
    serialise=serialise,
    holds=frozenset(("concepts", "relations")),
    keys=frozenset(("pubtator_columns", "given_id")),
    own_unwritable=unwritable,
)
