"""The grammar of the sample corpus: reading its files, and turning marked sentences into documents.

The first lines of `sample/tables.txt` and `sample/sentences.txt` say how they are written. A marked sentence
is `[Disease: [Gene: BRCA1]-mutated breast carcinoma] is rare.`: marks may nest and go away in the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanwright.text import Document, Entity

Row = tuple[str, ...]

_MARK = re.compile(r"\[(?P<type>[A-Z][a-z]+): |(?P<close>\])")
_LOCANTS = re.compile(r"(?:[0-9α-ω]+-)*")
_OWN_SPELLING = re.compile(r"[a-z]{2,4}-\d|[a-z]-|\w*[0-9A-Z]")
"""Names that stay as they are at the start of a sentence: daf-2, c-Myc, p53, mTOR."""


@dataclass(frozen=True)
class Table:
    """Rows of cells that belong together; `columns` gives the type of each column ('-' for none)."""

    columns: dict[str, str]
    rows: tuple[Row, ...]


def blocks(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a grammar file: (header behind '== ', its lines)."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    starts = [number for number, line in enumerate(lines) if line.startswith("== ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start][3:], lines[start + 1 : end]


def read_tables(path: Path) -> dict[str, Table]:
    """The tables of the grammar by name."""
    tables = {}
    for header, lines in blocks(path):
        name, _, columns = header.partition(": ")
        types = {column.split()[0]: column.split()[1] for column in columns.split(", ")}
        rows = tuple(tuple(cell.strip() for cell in line.split(" | ")) for line in lines)
        if any(len(row) != len(types) for row in rows):
            raise ValueError(f"table {name!r}: a row does not have {len(types)} cells")
        tables[name] = Table(types, rows)
    return tables


def unmarked(marked: str) -> tuple[str, list[Entity]]:
    """The text of a marked sentence, with a capital at its start, and its entities."""
    text, position = "", 0
    entities: list[Entity] = []
    opened: list[tuple[int, str]] = []
    for match in _MARK.finditer(marked):
        text += marked[position : match.start()]
        position = match.end()
        if match["close"]:
            start, type_ = opened.pop()
            entities.append(Entity(start, len(text), type_))
        else:
            opened.append((len(text), match["type"]))
    return capitalised(text + marked[position:]), entities


def capitalised(sentence: str) -> str:
    """The sentence with a capital, behind locants such as `6-` or `α-`, unless the name keeps its case."""
    locants = _LOCANTS.match(sentence)
    at = locants.end() if locants else 0
    if (at == 0 and _OWN_SPELLING.match(sentence)) or not sentence[at].isascii():
        return sentence
    return sentence[:at] + sentence[at].upper() + sentence[at + 1 :]


def joined(name: str, sentences: list[tuple[str, list[Entity]]]) -> Document:
    """One document of several sentences, its entities in order of their start, outer before inner."""
    text = ""
    entities: list[Entity] = []
    for sentence, found in sentences:
        text += " " if text else ""
        entities += [Entity(e.start + len(text), e.end + len(text), e.type) for e in found]
        text += sentence
    return Document(name, text, tuple(sorted(entities, key=lambda e: (e.start, -e.end))))
