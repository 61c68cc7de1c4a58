"""The rows of a column file: one word a line, cut into sentences of words and tags.

What a file looks like as a whole is decided once, from its first rows: the separator and number of columns,
which of them hold words and tags, whether the words are the characters of a Chinese or Japanese text, and
whether each character carries the number of its position in its word (`口0`, `腔1`). The text is then cut
sentence by sentence with a few string operations; only a sentence that is not regular is cut row by row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path

from spanwright.errors import InputError
from spanwright.formats.columns.layout import Layout, find_layout
from spanwright.formats.io.lines import read_marked_text

MARK = "-DOCSTART-"
MARK_LINE = re.compile(rf"{MARK}(?: \((?P<id>.*)\))?(?=[ \t]|$)")
"""A line that begins a document, and the id that may stand after the mark."""
_MARK_ANYWHERE = re.compile(rf"^{MARK}(?=[ \t]|$)", re.MULTILINE)
_GAP = re.compile(r"\n\s*(?:\n|\Z)")
_EMPTY_BEGINNING = re.compile(r"(?:\s*\n)?")
_BLANKS = re.compile(r"[ \t]+")
_NUMBERED = re.compile(r"(\S[^\s0-9]*)([0-9]{1,3})")
_HAN_OR_KANA = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_COMMENT = ("# ", "#\t")
TAG = re.compile(r"O|[BIMELSU](-.*)?")
_FIRST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class ColumnFile:
    """A column file in memory, and how it is to be cut."""

    text: str
    undecodable: Mapping[int, str]
    """Reasons by line number; in the text such a line has replacement characters."""
    separator: str
    columns: int
    layout: Layout
    blank: str = " "
    """What joins words to a text: nothing when the words are characters."""
    numbered: bool = False
    """Whether each word ends with its number."""


@dataclass(slots=True)
class Sentence:
    """The words of one sentence and its tags, as many in each layer as words."""

    line: int
    """Of the first word."""
    words: list[str]
    layers: list[list[str]]
    lost_words: list[tuple[int, str]] = field(default_factory=list)
    """Line and reason of each row whose word cannot be found."""
    lost_tags: list[tuple[int, str]] = field(default_factory=list)
    """Line and reason of each row that lacks a tag; there, its word counts as outside of entities."""
    comments: int = 0


def open_column_file(path: Path, word_column: int | None, tag_columns: Sequence[int] | None) -> ColumnFile:
    """Read a column file and decide how it is to be cut; None leaves it to us which columns are read."""
    text, undecodable = read_marked_text(path)
    lines = first_rows(text)
    tabs, columns = shape(lines)
    columns = max(columns, 2)
    for column in (word_column or 0, *(tag_columns or ())):
        if not -columns <= column < columns:
            raise InputError(
                f"{path}: there is no column {column} in {columns} columns; "
                f"expected 0 to {columns - 1}, or -1 for the last"
            )

    def all_cells(column: int) -> Iterator[str]:
        return (row[column] for line in _rows(text) if len(row := cells(line, tabs)) == columns)

    layout = find_layout(
        [row for line in lines if len(row := cells(line, tabs)) == columns],
        columns,
        None if word_column is None else word_column % columns,
        None if tag_columns is None else [column % columns for column in tag_columns],
        all_cells,
    )
    table = ColumnFile(text, undecodable, "\t" if tabs else " ", columns, layout)
    return _with_habits(table, lines)


def _with_habits(table: ColumnFile, lines: list[str]) -> ColumnFile:
    """The table with what its first rows say about its words.

    Words are taken for characters when nine in ten have one and half of them are Han or kana, and for
    numbered when every row of the file ends with a number and nine in ten count on.
    """
    words = [row[0] for line in lines if (row := _row(line, table)) is not None]
    matches = [match for word in words if (match := _NUMBERED.fullmatch(word)) is not None]
    numbers = [-1, *(int(match[2]) for match in matches)]
    counting = sum(number in (0, previous + 1) for previous, number in pairwise(numbers))
    numbered = len(matches) == len(words) and counting >= 0.9 * len(words)
    if numbered:
        words = [match[1] for match in matches]
    single = sum(len(word) == 1 for word in words) >= 0.9 * len(words)
    chinese = sum(_HAN_OR_KANA.match(word) is not None for word in words) >= 0.5 * len(words)
    if not words or not single or not chinese:
        return table
    return replace(table, blank="", numbered=numbered and _all_numbered(table))


def _all_numbered(table: ColumnFile) -> bool:
    rows = (_row(line, table) for line in _rows(table.text))
    return all(row is None or _NUMBERED.fullmatch(row[0]) for row in rows)


def _rows(text: str) -> Iterator[str]:
    """The lines that are neither empty nor marks."""
    for _, block in row_blocks(text):
        for line in block.split("\n"):
            if MARK_LINE.match(line) is None:
                yield line


def _ends_with_tag(line: str) -> bool:
    return TAG.fullmatch(cells(line, "\t" in line)[-1]) is not None


def _row(line: str, table: ColumnFile) -> tuple[str, list[str]] | None:
    """Word and tags of a line, or None when its columns are too few or too many."""
    row = cells(line, table.separator == "\t")
    if len(row) != table.columns:
        return None
    return row[table.layout.word], [row[column] for column in table.layout.tags]


def has_marks(text: str) -> bool:
    """Whether any line of a column file is a document mark."""
    return MARK in text and _MARK_ANYWHERE.search(text) is not None


def first_rows(text: str) -> list[str]:
    """The first lines of a column file that are neither empty nor marks nor like comments."""
    found = list(islice((row for row in _rows(text) if not row.startswith(_COMMENT)), _FIRST_ROWS))
    # A file may have no other word than `#`.
    return found or list(islice(filter(_ends_with_tag, _rows(text)), _FIRST_ROWS))


def shape(rows: list[str]) -> tuple[bool, int]:
    """Whether tabs separate the columns, and how many there are, in most of the rows."""
    shapes = Counter((tabs, len(cells(row, tabs))) for row in rows for tabs in ("\t" in row,))
    return max(shapes, key=lambda found: shapes[found], default=(True, 0))


def cells(line: str, tabs: bool) -> list[str]:
    """The columns of a line."""
    if tabs:
        return [cell.strip(" ") for cell in line.split("\t")]
    return _BLANKS.split(line.strip(" \t"))


def row_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text) of the stretches between lines that are empty or white."""
    beginning = _EMPTY_BEGINNING.match(text)
    start = beginning.end() if beginning else 0
    line = 1 + text.count("\n", 0, start)
    for gap in _GAP.finditer(text, start):
        yield line, text[start : gap.start()]
        line += text.count("\n", start, gap.end())
        start = gap.end()
    if text[start:].strip():
        yield line, text[start:]


def blocks_and_marks(text: str) -> Iterator[tuple[int, str]]:
    """Blocks, and mark lines as blocks of their own even where no empty line parts them from others."""
    for first, block in row_blocks(text):
        if MARK not in block:
            yield first, block
            continue
        lines = block.split("\n")
        start = 0
        for position, line in enumerate(lines):
            if MARK_LINE.match(line) is not None:
                if start < position:
                    yield first + start, "\n".join(lines[start:position])
                yield first + position, line
                start = position + 1
        if start < len(lines):
            yield first + start, "\n".join(lines[start:])


def sentence(block: str, line: int, table: ColumnFile) -> Sentence:
    """The words and tags of a block of rows without a document mark."""
    regular = None if table.undecodable else _regular_sentence(block, line, table)
    found = regular or _irregular_sentence(block, line, table)
    if table.numbered:
        # A character may itself be a digit: `310` is the character 3 at position 10.
        found.words = [word.rstrip("0123456789") or word[:1] for word in found.words]
    return found


def _regular_sentence(block: str, line: int, table: ColumnFile) -> Sentence | None:
    """The sentence, when each row has every column and nothing else; None when any does not.

    All cells of the block stand in one list, with the line end as a cell between two rows. The rows are
    regular when the line ends stand at every `columns + 1`-th place and nowhere else.
    """
    separator, stride = table.separator, table.columns + 1
    if (" " if separator == "\t" else "\t") in block or block.startswith("#"):
        return None
    found = block.replace("\n", f"{separator}\n{separator}").split(separator)
    rows, rest = divmod(len(found) + 1, stride)
    if rest or block.count("\n") != rows - 1 or found[table.columns :: stride].count("\n") != rows - 1:
        return None
    words, *layers = (found[column::stride] for column in (table.layout.word, *table.layout.tags))
    return None if "" in words or any("" in tags for tags in layers) else Sentence(line, words, layers)


def _irregular_sentence(block: str, line: int, table: ColumnFile) -> Sentence:
    lines = block.split("\n")
    comments = 0
    while comments < len(lines) and _is_comment(lines[comments], table):
        comments += 1
    found = Sentence(line + comments, [], [[] for _ in table.layout.tags], comments=comments)
    for number, row in enumerate(lines[comments:], line + comments):
        _append_row(found, number, row, table)
    return found


def _is_comment(line: str, table: ColumnFile) -> bool:
    """Whether a line before the first word is a remark (`# id 17`) and not the word `#` with its columns."""
    if table.layout.word > 0:
        return line.startswith("#")
    row = _row(line, table)
    return line.startswith(_COMMENT) and (row is None or not any(map(TAG.fullmatch, row[1])))


def _append_row(found: Sentence, number: int, line: str, table: ColumnFile) -> None:
    found_cells = cells(line, table.separator == "\t")
    row = _row(line, table)
    if row is None and len(found_cells) == 1 and table.layout.word == 0:
        row = found_cells[0], ["" for _ in table.layout.tags]
    word, tags = row or ("", ["O" for _ in table.layout.tags])
    if number in table.undecodable:
        found.lost_words.append((number, table.undecodable[number]))
    elif row is None:
        reason = f"the row has {len(found_cells)} columns; expected {table.columns}, as in the first rows"
        found.lost_words.append((number, reason))
    elif not word:
        found.lost_words.append((number, "the word of the row is empty"))
    elif "" in tags:
        reason = f"the tag of the word {word!r} is missing; expected O or a letter and a type, as B-Disease"
        found.lost_tags.append((number, reason))
    found.words.append(word)
    for layer, tag in zip(found.layers, tags, strict=True):
        layer.append(tag or "O")
