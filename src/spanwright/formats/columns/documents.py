"""Column files, CoNLL and its relatives: a word and its tag on each line, a sentence up to each empty line.

    -DOCSTART-	O

    Famotidine	B-Chemical
    delirium	B-Disease

Columns are separated by a tab or by blanks; the tag scheme (IOB1, IOB2, BIOES, BILOU, BMES) is detected, and
so are several layers of tags, which nested corpora have (see `layout`). An entity that stands in two
layers is read once. With `-DOCSTART-` lines a document reaches from one to the next, and an id may stand
after the mark in parentheses; without them, each sentence is a document.

A word that cannot be found (too few columns, bytes that are not UTF-8) makes its document unusable, and it is
rejected: its text would have a hole. A tag that cannot be read costs the annotation alone.

For what is written, and what is not, see `writing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from spanwright.formats.columns.findings import Findings
from spanwright.formats.columns.layout import column_numbers
from spanwright.formats.columns.rows import (
    MARK_LINE,
    TAG,
    ColumnFile,
    Sentence,
    blocks_and_marks,
    cells,
    first_rows,
    has_marks,
    open_column_file,
    row_blocks,
    sentence,
    shape,
)
from spanwright.formats.columns.writing import WRITING_OPTIONS, serialise, unwritable
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.token_texts import (
    entity_of,
    joined,
    repeated_entity,
    stray_starts,
    unreadable_tag,
)
from spanwright.text import Document
from spanwright.text.tags import (
    Scheme,
    WordRun,
    runs_from_tags,
    scheme_named,
    unknown_tags,
)

_SUFFIXES = (".conll", ".iob", ".iob2", ".bio", ".bmes", ".tsv")


@dataclass(slots=True)
class _Group:
    """The part of a file that becomes a document."""

    line: int
    id: str | None = None
    sentences: list[Sentence] = field(default_factory=list)
    unreadable_mark: str | None = None
    """Why, when the line of the mark is not UTF-8."""


def recognises(path: Path, head: str) -> bool:
    """Whether the first rows have the same number of columns and a tag in the last."""
    is_named_so = path.name.lower().endswith(_SUFFIXES)
    if not head.strip():
        return is_named_so and not path.is_dir()
    rows = first_rows(head[: head.rfind("\n") + 1] or head)
    if not rows:
        return has_marks(head)
    tabs, columns = shape(rows)
    found = [cells(row, tabs) for row in rows]
    tagged = sum(len(row) == columns and TAG.fullmatch(row[-1]) is not None for row in found)
    # One row alone may be a sentence that ends with the letter of a tag.
    return columns > 1 and tagged >= 0.9 * len(rows) and (len(rows) > 1 or has_marks(head) or is_named_so)


def read_columns(
    path: Path,
    log: ReadingLog,
    *,
    word_column: int | None = None,
    tag_column: Sequence[int] | None = None,
    scheme: Scheme | None = None,
) -> Iterator[Document]:
    """Yield the documents of a column file; columns count from 0, and from the end with a minus.

    Columns are found unless given: `tag_column` has that of each layer of tags. The scheme is detected unless
    given. It decides nothing but which mentions begin against its rules: these are kept, with a remark.
    """
    table = open_column_file(path, word_column, tag_column)
    log.notes += [f"{path}: {note}" for note in table.layout.notes]
    if table.numbered:
        log.notes.append(f"{path}: each character is followed by the number of its position; it is left out")
    findings = Findings()
    ids = Ids(path, log)
    for group in _groups(table, findings):
        document = _document(group, table, findings, ids, path, log)
        if document is not None:
            yield document
    findings.conclude(table.layout.tags, scheme, path, log)


def _groups(table: ColumnFile, findings: Findings) -> Iterator[_Group]:
    """The groups of a file: from mark to mark, or sentence by sentence where there is no mark."""
    is_marked = has_marks(table.text)
    group: _Group | None = None
    for line, block in blocks_and_marks(table.text) if is_marked else row_blocks(table.text):
        mark = MARK_LINE.match(block) if is_marked else None
        if group is not None and (mark is not None or not is_marked):
            yield group
            group = None
        if mark is not None:
            group = _Group(line, mark["id"], unreadable_mark=table.undecodable.get(line))
            continue
        found = sentence(block, line, table)
        findings.comments += found.comments
        if found.words:
            group = group or _Group(line)
            group.sentences.append(found)
    if group is not None:
        yield group


def _document(
    group: _Group, table: ColumnFile, findings: Findings, ids: Ids, path: Path, log: ReadingLog
) -> Document | None:
    runs: list[WordRun] = []
    words = 0
    for each in group.sentences:
        _append_runs(runs, words, each, table.layout.tags, findings, path, log)
        words += len(each.words)
    id, generated = ids.take(group.id, group.line)
    lost = [(group.line, group.unreadable_mark)] if group.unreadable_mark else []
    lost += [word for each in group.sentences for word in each.lost_words]
    if lost:
        log.reject_document(path, *lost[0], entities=len(runs))
        for line, reason in lost[1:]:
            log.remark(path, line, f"{reason} (its document is left out)")
        return None
    text, word_ranges, sentence_ranges = joined(
        [each.words for each in group.sentences if each.words], table.blank
    )
    entities = tuple([entity_of(run, word_ranges) for run in runs])
    return Document(id, text, entities, word_ranges, sentence_ranges, generated_id=generated)


def _append_runs(
    runs: list[WordRun],
    before: int,
    found: Sentence,
    columns: Sequence[int],
    findings: Findings,
    path: Path,
    log: ReadingLog,
) -> None:
    """Append the runs of a sentence with `before` words before it, outer ones before those in them."""
    for line, reason in found.lost_tags:
        log.reject_entity(path, line, reason)
    column_of: dict[WordRun, int] = {}
    for column, tags in zip(columns, found.layers, strict=True):
        for run in _layer_runs(found.line, tags, findings, path, log):
            findings.entities[column] += 1
            if column_of.setdefault(run, column) != column:
                reason = repeated_entity(found.words[run[0] : run[1]], run[2], column_of[run], column)
                log.reject_entity(path, found.line + run[0], reason)
    ordered = sorted(column_of, key=lambda run: (run[0], -run[1])) if len(columns) > 1 else column_of
    runs += [(before + first, before + end, type_) for first, end, type_ in ordered]


def _layer_runs(
    line: int, tags: list[str], findings: Findings, path: Path, log: ReadingLog
) -> Iterator[WordRun]:
    """The runs of one layer of a sentence that begins at a line; tags that cannot be read are rejected."""
    for start, stretch in _stretches(tags):
        findings.stretches[stretch] = findings.stretches.get(stretch, 0) + 1
        stretch_runs, strays, unknown = _runs_of_stretch(stretch)
        for first, end, type_ in stretch_runs:
            yield start + first, start + end, type_
            if not type_:
                findings.untyped.append((line + start + first, stretch[first]))
        for position in strays:
            findings.strays.append((line + start + position, stretch[position]))
        for position in unknown:
            log.reject_entity(path, line + start + position, unreadable_tag(stretch[position]))


def _stretches(tags: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (first position, tags) of each stretch without an `O`."""
    first = end = -1
    for position in [position for position, tag in enumerate(tags) if tag != "O"]:
        if position != end:
            if first >= 0:
                yield first, tuple(tags[first:end])
            first = position
        end = position + 1
    if first >= 0:
        yield first, tuple(tags[first:end])


@lru_cache(maxsize=1 << 16)
def _runs_of_stretch(stretch: tuple[str, ...]) -> tuple[list[WordRun], list[int], list[int]]:
    """The runs of a stretch of tags, and the positions of stray starts and of tags of no scheme.

    Remembered, because a corpus has few different stretches.
    """
    unknown = unknown_tags(stretch)
    tags = ["O" if position in unknown else tag for position, tag in enumerate(stretch)]
    runs = runs_from_tags(tags)
    return runs, stray_starts(tags, runs), unknown


FORMAT = Format(
    name="conll",
    description="a word and its tag, or a tag for each of several layers, on each line (CoNLL, IOB, BIOES)",
    suffixes=_SUFFIXES,
    recognises=recognises,
    read=read_columns,
    options={"word_column": int, "tag_column": column_numbers, "scheme": scheme_named},
    serialise=serialise,
    writing_options=WRITING_OPTIONS,
    own_unwritable=unwritable,
)
