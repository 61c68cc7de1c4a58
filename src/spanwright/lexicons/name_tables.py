"""Names in tables: tab-separated files with a name in each row, and the two dictionaries of AutoNER.

The columns of a table are `surface`, `type` and `concept`, in this order unless the first line names them or
the caller does; only the surface is required. Rows of one concept and type are one term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from spanwright.errors import InputError
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.lexicons.form import Form, LexiconLog
from spanwright.lexicons.lexicon import Term

COLUMNS = ("surface", "type", "concept")
_IGNORED = "-"

NameRow = tuple[str, str | None, str | None]
"""Surface, type, concept."""


def read(
    path: Path, log: LexiconLog, *, columns: Sequence[str] | None = None, skip_first_line: bool = False
) -> Iterator[Term]:
    """Yield the terms of a tab-separated table.

    `columns` names the columns in order, `-` for one to ignore. Without it they are taken from the first
    line when that has a cell `surface`, else they are surface, type, concept. `skip_first_line` skips a
    header that names the columns otherwise.
    """
    if columns is not None:
        _check_columns(columns)
    terms: dict[tuple[str | None, str | None, int], list[str]] = {}
    for number, (surface, type_, concept) in _rows(path, log, columns, skip_first_line):
        log.entries_read += 1
        # The line number keeps names without a concept apart.
        terms.setdefault((concept, type_, 0 if concept else number), []).append(surface)
    for (concept, type_, _), surfaces in terms.items():
        name, *synonyms = dict.fromkeys(surfaces)
        yield Term(name, type_, concept, tuple(synonyms))


def read_typed_surfaces(path: Path, log: LexiconLog) -> Iterator[Term]:
    """Yield the terms of AutoNER's core dictionary: lines of a type, a tab and a tokenised surface."""
    return read(path, log, columns=("type", "surface"))


def read_surfaces(path: Path, log: LexiconLog) -> Iterator[Term]:
    """Yield the terms of AutoNER's full dictionary: a surface in each line, of unknown type."""
    return read(path, log, columns=("surface",))


def _check_columns(columns: Sequence[str]) -> None:
    named = [column for column in columns if column != _IGNORED]
    if "surface" not in named or not set(named) <= set(COLUMNS) or len(set(named)) < len(named):
        raise InputError(
            f"table columns {', '.join(columns)}; expected {', '.join(COLUMNS)}, each at most once, with "
            f"'surface' among them, and '{_IGNORED}' for columns to ignore"
        )


def _rows(
    path: Path, log: LexiconLog, columns: Sequence[str] | None, skip_first_line: bool
) -> Iterator[tuple[int, NameRow]]:
    """The rows that have a surface, with their line numbers."""
    lines = read_lines(path)
    if skip_first_line:
        next(lines, None)
    for number, line in lines:
        if isinstance(line, Undecodable):
            log.reject(path, number, line.reason)
            continue
        if not line.strip():
            continue
        cells = _cells(line)
        if columns is None:
            columns = _header(cells)
            if columns is not None:
                continue
            columns = COLUMNS
        row = dict(zip(columns, cells, strict=False))
        if row.get("surface") and len(cells) <= len(columns):
            yield number, (row["surface"], row.get("type") or None, row.get("concept") or None)
        else:
            log.reject(path, number, _fault(cells, columns))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")]


def _header(cells: list[str]) -> Sequence[str] | None:
    """The columns that a first line names; None when it is no header."""
    names = [cell.lower() for cell in cells]
    if "surface" not in names:
        return None
    columns = [name if name in COLUMNS else _IGNORED for name in names]
    _check_columns(columns)
    return columns


def _fault(cells: list[str], columns: Sequence[str]) -> str:
    """Why a row cannot be read."""
    expected = f"expected the columns {', '.join(columns)}"
    if len(cells) > len(columns):
        return f"{len(cells)} cells in a row; {expected}; name further ones '{_IGNORED}' to ignore them"
    return f"no surface in {' '.join(cells)[:80]!r}; {expected}"


def _head_rows(head: str) -> list[list[str]]:
    """The cells of the lines at the beginning of a file; the last may be cut off, so it is left out."""
    lines = [line for line in head.splitlines() if line.strip()]
    return [_cells(line) for line in (lines[:-1] or lines)]


def recognises_table(path: Path, head: str) -> bool:
    """Whether a file ends with .tsv, names a column `surface`, or is text of two or three columns."""
    rows = _head_rows(head)
    if path.suffix.lower() == ".tsv" or (rows and "surface" in map(str.lower, rows[0])):
        return True
    return path.suffix.lower() == ".txt" and bool(rows) and all(2 <= len(row) <= 3 for row in rows)


def recognises_typed_surfaces(path: Path, head: str) -> bool:
    """Whether all lines have two columns and the first has the fewer distinct values, as types have."""
    rows = _head_rows(head)
    if not rows or any(len(row) != 2 for row in rows) or "surface" in map(str.lower, rows[0]):
        return False
    return len({row[0] for row in rows}) < len({row[1] for row in rows})


def recognises_surfaces(path: Path, head: str) -> bool:
    """Whether a file is text without tabs."""
    return path.suffix.lower() == ".txt" and bool(head.strip()) and "\t" not in head


TYPED_SURFACES = Form(
    name="autoner-core",
    description="AutoNER's core dictionary: type and surface, tab-separated",
    recognises=recognises_typed_surfaces,
    read=read_typed_surfaces,
)
TABLE = Form(
    name="tsv",
    description="tab-separated: surface, type, concept, or as a first line with a cell 'surface' names them",
    recognises=recognises_table,
    read=read,
    options=("columns", "skip_first_line"),
)
SURFACES = Form(
    name="autoner-full",
    description="AutoNER's full dictionary: a surface of unknown type in each line",
    recognises=recognises_surfaces,
    read=read_surfaces,
)
