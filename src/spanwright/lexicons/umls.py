"""The UMLS Metathesaurus in Rich Release Format: names from MRCONSO.RRF, semantic types from MRSTY.RRF.

MRCONSO.RRF is read as a stream: its rows are sorted by concept, so a term is complete when the concept
changes. Of MRSTY.RRF only the concepts with a wanted semantic type are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from spanwright.errors import InputError
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.lexicons.form import Form, LexiconLog
from spanwright.lexicons.lexicon import Term

NAMES_FILE = "MRCONSO.RRF"
TYPES_FILE = "MRSTY.RRF"
_NAME_COLUMNS = 18
_TYPE_COLUMNS = 6

UmlsName = tuple[str, bool, str]
"""The concept of a row, whether its string is the preferred one, and the string."""


def read(
    path: Path,
    log: LexiconLog,
    *,
    language: str = "ENG",
    semantic_types: Mapping[str, str] | None = None,
) -> Iterator[Term]:
    """Yield a term for each concept that has names in a language, suppressible rows left out.

    `path` is MRCONSO.RRF or its folder. `semantic_types` maps semantic types, by TUI (`T047`) or by name, to
    entity types, and limits the terms to concepts that have one of them; of several, the one that stands
    first in the map decides.
    """
    path = path / NAMES_FILE if path.is_dir() else path
    types = None
    if semantic_types is not None:
        types = _types_of_concepts(path.with_name(TYPES_FILE), log, semantic_types)
    for concept, rows in groupby(_names(path, log, language, types), key=itemgetter(0)):
        preferred: dict[str, None] = {}
        others: dict[str, None] = {}
        for _, is_preferred, string in rows:
            log.entries_read += 1
            (preferred if is_preferred else others)[string] = None
        name, *synonyms = preferred | others
        yield Term(name, None if types is None else types[concept], concept, tuple(synonyms))


def _names(path: Path, log: LexiconLog, language: str, types: Mapping[str, str] | None) -> Iterator[UmlsName]:
    """The rows of MRCONSO.RRF that are wanted."""
    for number, row in _rows(path, _NAME_COLUMNS, log, counts=True):
        concept, string = row[0], row[14].strip()
        if row[1] != language:
            log.left_out["rows in other languages"] += 1
        elif row[16] != "N":
            log.left_out["suppressible rows"] += 1
        elif types is not None and concept not in types:
            log.left_out["rows of other semantic types"] += 1
        elif not concept or not string:
            log.reject(path, number, "a row without a concept or a name")
        else:
            # TS, STT and ISPREF: the preferred string of the preferred form of the concept.
            yield concept, row[2] == "P" and row[4] == "PF" and row[6] == "Y", string


def _types_of_concepts(path: Path, log: LexiconLog, semantic_types: Mapping[str, str]) -> dict[str, str]:
    """The entity types of the concepts that have a wanted semantic type."""
    if not path.exists():
        raise InputError(f"{path}: no such file; semantic types are read from it, beside {NAMES_FILE}")
    ranks = {name: rank for rank, name in enumerate(semantic_types)}
    entity_types = list(semantic_types.values())
    best: dict[str, int] = {}
    met: set[str] = set()
    for _, row in _rows(path, _TYPE_COLUMNS, log, counts=False):
        for name in (row[1], row[3]):
            if name in ranks:
                met.add(name)
                best[row[0]] = min(ranks[name], best.get(row[0], len(ranks)))
    if unmet := [name for name in ranks if name not in met]:
        log.notes.append(f"{path}: no concept has the semantic type {', '.join(map(repr, unmet))}")
    return {concept: entity_types[rank] for concept, rank in best.items()}


def _rows(path: Path, columns: int, log: LexiconLog, *, counts: bool) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of a file with their line numbers.

    Those with another number of columns are problems, and rejections if rows are the entries of the file.
    """
    note = log.reject if counts else log.remark
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            note(path, number, line.reason)
            continue
        # Each column ends with a bar, also the last.
        row = line.split("|")
        if len(row) == columns + 1 and not row[-1]:
            yield number, row
        elif line.strip():
            note(path, number, f"{len(row) - 1} columns that end with a bar; expected {columns}")


def recognises(path: Path, head: str) -> bool:
    """Whether a path is MRCONSO.RRF or a folder that holds it."""
    if path.is_dir():
        return (path / NAMES_FILE).exists()
    return path.name.upper() == NAMES_FILE


FORM = Form(
    name="umls",
    description=f"UMLS: {NAMES_FILE}, or the folder with {NAMES_FILE} and {TYPES_FILE}",
    recognises=recognises,
    read=read,
    options=("language", "semantic_types"),
    typing_options=("semantic_types",),
)
