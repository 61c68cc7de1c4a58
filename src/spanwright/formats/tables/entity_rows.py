"""Tables of entities for spreadsheets and data frames: a row for each, as CSV or TSV. They are only written.

    document,start,end,text,type,confidence,concepts,fragments,sentence
    17,0,10,Famotidine,Chemical,0.98,MESH:D015738,,Famotidine helps against ulcers.

Offsets count characters and are half open. Concepts are separated by `|`. A mention of several ranges has
them as `0-5;9-12`, and `start` and `end` around them. Texts are in one line, whatever breaks they have.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

from spanwright.errors import InputError
from spanwright.formats.format import Format
from spanwright.text import Document
from spanwright.text.sentences import sentences

COLUMNS = ("document", "start", "end", "text", "type", "confidence", "concepts", "fragments", "sentence")


def serialise(documents: Iterable[Document], *, delimiter: str) -> Iterator[str]:
    """The line of headings, then the lines of each document."""
    yield _lines([COLUMNS], delimiter)
    for document in documents:
        yield _lines(entity_rows(document), delimiter)


def entity_rows(document: Document) -> Iterator[tuple[str, ...]]:
    """A text for each of `COLUMNS`, for each entity."""
    borders = sentences(document)
    starts = [start for start, _ in borders]
    for entity in document.entities:
        position = bisect_right(starts, entity.start) - 1
        around = document.text[slice(*borders[position])] if position >= 0 else ""
        confidence = "" if entity.confidence is None else f"{entity.confidence:g}"
        yield (
            document.id,
            str(entity.start),
            str(entity.end),
            _one_line(document.mention(entity)),
            entity.type,
            confidence,
            "|".join(entity.concepts),
            ";".join(f"{start}-{end}" for start, end in entity.fragments),
            _one_line(around),
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _lines(rows: Iterable[tuple[str, ...]], delimiter: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return written.getvalue()


def refuse(path: Path) -> NoReturn:
    """Say why a table is not read, and what is."""
    raise InputError(
        f"{path}: a table of entities has no texts, so it can only be written; expected documents with "
        f"their texts, such as those of `spanwright tag MODEL INPUTS --out tagged.jsonl`"
    )


def _table(name: str, suffix: str, delimiter: str) -> Format:
    return Format(
        name=name,
        description=f"a table of entities, a row each ({name.upper()})",
        suffixes=(suffix,),
        recognises=lambda path, head: head.partition("\n")[0] == delimiter.join(COLUMNS),
        read=lambda path, log: refuse(path),
        serialise=partial(serialise, delimiter=delimiter),
        holds=frozenset(("concepts", "confidences")),
    )


CSV = _table("csv", ".csv", ",")
TSV = _table("tsv", ".entities.tsv", "\t")
"""The ending `.tsv` alone is that of column files."""
