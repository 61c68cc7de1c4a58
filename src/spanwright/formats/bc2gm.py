"""BioCreative II gene mentions: sentences in an `.in` file, and the offsets of genes in files beside it.

    train.in        S1 the IL-2 gene works
    GENE.eval       S1|3 6|IL-2
    ALTGENE.eval    S1|3 10|IL-2 gene

Offsets count the characters that are not white space, and the last one is included. Each sentence is a
document, each line of `GENE.eval` an entity of the type GENE. The lines of `ALTGENE.eval` are other ranges
that the official scorer accepts; they are kept as `annotation_notes["alternatives"]`, a list of [start, end]
that count characters of the text and are half open, like those of entities.

The path is the `.in` file, or a folder with one of them; the options `eval` and `alternatives` name the other
files where they are called otherwise. A folder is written. Words and the borders of several sentences have no
place in it, and neither have types other than GENE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.file_names import visible
from spanwright.formats.io.ids import Ids
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.formats.io.whole_files import whole_file
from spanwright.formats.standoff import flat, given_borders, remark_other_mention, whole_number
from spanwright.formats.token_texts import unwritable_borders
from spanwright.formats.unwritable import BLANKS, Unwritable, shown_entity
from spanwright.text import Document, Entity

_TYPE = "GENE"
_SUFFIX = ".in"
_GENES = "GENE.eval"
_ALTERNATIVES = "ALTGENE.eval"
_NOTES = "alternatives"
_FIRST_LINE = re.compile(r"\S+ \S")
_ILLEGAL_IN_ID = re.compile(r"[\s|\ufeff]")
_LINE_BREAK = re.compile(r"[\n\r]")

Note = Callable[[Path, int, str], None]


class _Row(NamedTuple):
    """A line of an `.eval` file."""

    line: int
    first: int
    last: int
    mention: str


_Rows = dict[str, list[_Row]]


def recognises(path: Path, head: str) -> bool:
    """An `.in` file whose first line has an id and a text, or a folder with one and its offsets."""
    if path.is_dir():
        return (path / _GENES).is_file() and bool(visible(path.glob(f"*{_SUFFIX}")))
    return path.suffix.lower() == _SUFFIX and _FIRST_LINE.match(head) is not None


def read(
    path: Path, log: ReadingLog, *, eval: Path | None = None, alternatives: Path | None = None
) -> Iterator[Document]:
    """Yield the documents of an `.in` file, one for each line, with the genes of the file beside it."""
    path = _sentence_file(path)
    gene_path, other_path = _beside(path, eval, _GENES), _beside(path, alternatives, _ALTERNATIVES)
    if not gene_path.is_file():
        log.remark(path, 0, f"there is no {gene_path.name} beside it: the sentences are read without genes")
    genes = _rows(gene_path, log.reject_entity)
    others = _rows(other_path, log.remark)
    ids = Ids(path, log)
    for number, line in read_lines(path):
        given, _, text = (line if isinstance(line, str) else line.replaced).partition(" ")
        found = genes.pop(given, []), others.pop(given, [])
        if isinstance(line, Undecodable):
            log.reject_document(path, number, line.reason, entities=len(found[0]))
        elif given:
            id, _ = ids.take(given, number)
            yield _document(id, text, *found, gene_path, other_path, log)
        elif text:
            log.reject_document(path, number, "a line that begins with a blank; expected an id and a text")
    _note_strays(genes, gene_path, log.reject_entity)
    _note_strays(others, other_path, log.remark)


def _sentence_file(path: Path) -> Path:
    """The `.in` file that a path means."""
    if not path.is_dir():
        return path
    found = visible(path.glob(f"*{_SUFFIX}"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise InputError(f"{path}: expected one {_SUFFIX} file in a folder, found {names}; name the file")
    return found[0]


def _beside(path: Path, given: Path | None, usual: str) -> Path:
    """The file of a name beside a file; one that the user gave must exist."""
    beside = path.parent / (given or usual)
    if given is not None and not beside.is_file():
        raise InputError(f"{beside}: no such file; expected one beside {path.name}, or a whole path")
    return beside


def _rows(path: Path, note: Note) -> _Rows:
    """The lines of an `.eval` file by their id; what cannot be read is noted. No file has no lines."""
    rows: _Rows = {}
    for number, line in read_lines(path) if path.is_file() else ():
        if isinstance(line, Undecodable):
            note(path, number, line.reason)
            continue
        id, _, columns = line.partition("|")
        offsets, _, mention = columns.partition("|")
        numbers = [whole_number(digits) for digits in offsets.split(" ")]
        match numbers:
            case [int(first), int(last)]:
                rows.setdefault(id, []).append(_Row(number, first, last, mention))
            case _ if line and not line.isspace():
                note(path, number, f"{line!r:.80} was found; expected id|first last|mention")
    return rows


def _document(
    id: str,
    text: str,
    genes: list[_Row],
    others: list[_Row],
    gene_path: Path,
    other_path: Path,
    log: ReadingLog,
) -> Document:
    entities = tuple(_entities(text, genes, gene_path, log, log.reject_entity))
    alternatives = [[each.start, each.end] for each in _entities(text, others, other_path, log, log.remark)]
    sentences = ((0, len(text)),) if text else ()
    notes: dict[str, Any] = {_NOTES: alternatives} if alternatives else {}
    return Document(id, text, entities, sentences=sentences, annotation_notes=notes)


def _entities(text: str, rows: list[_Row], path: Path, log: ReadingLog, note: Note) -> Iterator[Entity]:
    """The ranges of rows in a text; those outside are noted."""
    offsets = [offset for offset, character in enumerate(text) if not character.isspace()] if rows else []
    for line, first, last, mention in rows:
        if not first <= last < len(offsets):
            where = f"[{first}, {last}] is outside the sentence"
            note(path, line, f"{where}; expected first <= last < {len(offsets)}, blanks not counted")
            continue
        entity = Entity(offsets[first], offsets[last] + 1, _TYPE)
        remark_other_mention(entity, text[entity.start : entity.end], mention, path, line, log)
        yield entity


def _note_strays(rows: _Rows, path: Path, note: Note) -> None:
    """Note the rows of ids that no sentence has."""
    for id, strays in rows.items():
        for row in strays:
            note(path, row.line, f"no sentence has the id {id!r}")


def write(documents: Iterable[Document], folder: Path) -> None:
    """Write a folder with sentences, genes and alternatives. What `unwritable` names is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    names = (f"{folder.stem}{_SUFFIX}", _GENES, _ALTERNATIVES)
    ids: set[str] = set()
    with ExitStack() as stack:
        partials = [stack.enter_context(whole_file(folder / name)) for name in names]
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in partials]
        for document in documents:
            id = _ILLEGAL_IN_ID.sub("_", document.id) or "_"
            if id in ids:
                raise InputError(f"{folder}: two documents have the id {id!r}; expected distinct ids")
            ids.add(id)
            for file, lines in zip(files, _lines(document, id), strict=True):
                file.writelines(f"{line}\n" for line in lines)


def _lines(document: Document, id: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of a document in each of the three files."""
    text = document.text
    ranges = [(entity.start, entity.end) for entity in document.entities if not _obstacle(entity, text)]
    return (
        [f"{id} {_LINE_BREAK.sub(' ', text)}"],
        [_line(id, text, start, end) for start, end in ranges],
        [_line(id, text, start, end) for start, end in _alternatives(document)],
    )


def _line(id: str, text: str, start: int, end: int) -> str:
    first = _count(text[:start])
    return f"{id}|{first} {first + _count(text[start:end]) - 1}|{flat(text[start:end])}"


def _count(text: str) -> int:
    """How many characters are not white space."""
    return sum(map(len, text.split()))


def _alternatives(document: Document) -> Iterator[tuple[int, int]]:
    """The ranges in notes that need not come from this library."""
    given = document.annotation_notes.get(_NOTES)
    for each in given if isinstance(given, list) else ():
        match each:
            case [int(start), int(end)] if _has_borders(document.text, start, end):
                yield start, end


def _has_borders(text: str, start: int, end: int) -> bool:
    """Whether a range lies in a text and neither begins nor ends with white space."""
    return 0 <= start < end <= len(text) and not text[start].isspace() and not text[end - 1].isspace()


def _obstacle(entity: Entity, text: str) -> str:
    """Why an entity cannot be written; '' if it can."""
    if len(entity.ranges) > 1:
        return "the discontinuous entity"
    if entity.type != _TYPE:
        return f"an entity of a type other than {_TYPE},"
    if not _has_borders(text, entity.start, entity.end):
        return "an entity that begins or ends with white space,"
    return ""


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    if not document.id or _ILLEGAL_IN_ID.search(document.id):
        yield Unwritable("ids", f"the id {document.id!r} of a document")
    if _LINE_BREAK.search(document.text):
        yield Unwritable("texts", f"the line breaks of document {document.id!r}", fate=BLANKS)
    yield from given_borders(replace(document, sentences=None))
    yield from unwritable_borders(document)
    for entity in document.entities:
        if found := _obstacle(entity, document.text):
            yield Unwritable("entities", f"{found} {shown_entity(document, entity)}")


FORMAT = Format(
    name="bc2gm",
    description="a folder with sentences (.in) and the offsets of genes in them (GENE.eval, ALTGENE.eval)",
    suffixes=(".bc2gm",),
    recognises=recognises,
    read=read,
    options={"eval": Path, "alternatives": Path},
    write=write,
    writes_folder=True,
    is_whole=lambda folder: recognises(folder, ""),
    keys=frozenset((_NOTES,)),
    own_unwritable=unwritable,
)
