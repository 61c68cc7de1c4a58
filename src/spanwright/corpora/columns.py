"""Column files, CoNLL and its relatives: a word and its tag on each line, a sentence up to each empty line.

    -DOCSTART-	O

    Famotidine	B-Chemical
    delirium	B-Disease

Columns are separated by a tab or by blanks; the tag scheme (IOB1, IOB2, BIOES, BILOU, BMES) is detected.
With `-DOCSTART-` lines a document reaches from one to the next, and an id may stand behind the mark in
parentheses; without them, each sentence is a document.

A word that cannot be told (too few columns, bytes that are not UTF-8) makes its document unusable, and it is
rejected: its text would have a hole. A tag that cannot be read costs the annotation alone.

Files are written with IOB2 tags and a mark before each document. One layer of tags holds no nested, crossing
or discontinuous entities, and none that cut a word or cross a sentence border of the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from spanwright.corpora.format import Format, ReadingLog
from spanwright.corpora.ids import Ids
from spanwright.corpora.rows import MARK, MARK_LINE, Sentence, Table, blocks, open_table, sentence
from spanwright.corpora.standoff import named
from spanwright.corpora.tokens import disjoint, entity_of, joined, stray_starts, tokens_of
from spanwright.text import Document, Entity
from spanwright.text.tags import Run, Scheme, detect_scheme, runs_from_tags, tags_from_runs, unknown_tags

_SUFFIXES = (".conll", ".iob", ".iob2", ".bio", ".bmes", ".tsv")
_TAG = re.compile(r"O|[BIMELSU](-.*)?")
_UNWRITABLE = re.compile(r"\s|^-(?=DOCSTART-$)|[\ud800-\udfff]")
_UNWRITABLE_ID = re.compile(r"[\t\n\ud800-\udfff]")


@dataclass(slots=True)
class _Group:
    """The part of a file that becomes a document."""

    line: int
    id: str | None = None
    sentences: list[Sentence] = field(default_factory=list)


@dataclass(slots=True)
class _TagFindings:
    """What the tags of a file turn out to be like while it is read."""

    stretches: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Tags between two `O`, and how often: a file has few different ones."""
    strays: list[tuple[int, str]] = field(default_factory=list)
    """Line and tag of mentions that begin with a tag that should continue one."""
    comments: int = 0


def recognises(path: Path, head: str) -> bool:
    """Whether the first rows have the same number of columns and a tag in the last."""
    lines = head.split("\n")
    rows = [line.split() for line in lines[: max(len(lines) - 1, 1)] if line and not line.isspace()]
    cells = [row for row in rows if row and row[0] not in (MARK, "#")]
    if not cells:
        return bool(rows) and rows[0][0] == MARK or (not rows and path.name.lower().endswith(_SUFFIXES))
    columns = Counter(map(len, cells)).most_common(1)[0][0]
    tagged = sum(len(row) == columns and _TAG.fullmatch(row[-1]) is not None for row in cells)
    return columns > 1 and tagged >= 0.9 * len(cells)


def read_columns(
    path: Path,
    log: ReadingLog,
    *,
    word_column: int = 0,
    tag_column: int = -1,
    scheme: Scheme | None = None,
) -> Iterator[Document]:
    """Yield the documents of a column file; columns count from 0, and from the end with a minus.

    The scheme is detected unless given. It decides nothing but which mentions begin against its rules:
    these are kept, with a remark.
    """
    table = open_table(path, word_column, tag_column)
    if table.numbered:
        log.notes.append(f"{path}: each character is followed by the number of its position; it is left out")
    findings = _TagFindings()
    ids = Ids(path, log)
    for group in _groups(table):
        document = _document(group, table, findings, ids, path, log)
        if document is not None:
            yield document
    _conclude(findings, scheme, path, log)


def _groups(table: Table) -> Iterator[_Group]:
    """The groups of a file: from mark to mark, or sentence by sentence where there is no mark."""
    if not table.text.startswith(MARK) and f"\n{MARK}" not in table.text:
        for line, block in blocks(table.text):
            yield _Group(line, sentences=[sentence(block, line, table)])
        return
    group: _Group | None = None
    for line, block in _blocks_and_marks(table.text):
        mark = MARK_LINE.match(block)
        if mark is None:
            group = group or _Group(line)
            group.sentences.append(sentence(block, line, table))
        else:
            if group is not None:
                yield group
            group = _Group(line, id=mark["id"])
    if group is not None:
        yield group


def _blocks_and_marks(text: str) -> Iterator[tuple[int, str]]:
    """Blocks, and mark lines as blocks of their own even where no empty line parts them from others."""
    for first, block in blocks(text):
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


def _document(
    group: _Group, table: Table, findings: _TagFindings, ids: Ids, path: Path, log: ReadingLog
) -> Document | None:
    runs: list[Run] = []
    words = 0
    for each in group.sentences:
        _append_runs(runs, words, each, findings, path, log)
        words += len(each.words)
    id, generated = ids.take(group.id, group.line)
    lost = [loss for each in group.sentences for loss in each.lost_words]
    if lost:
        log.reject_document(path, *lost[0], entities=len(runs))
        for line, reason in lost[1:]:
            log.remark(path, line, f"{reason} (its document is left out)")
        return None
    text, word_ranges, sentence_ranges = joined([each.words for each in group.sentences if each.words], table.blank)
    entities = tuple([entity_of(run, word_ranges) for run in runs])
    return Document(id, text, entities, word_ranges, sentence_ranges, generated_id=generated)


def _append_runs(
    runs: list[Run], before: int, found: Sentence, findings: _TagFindings, path: Path, log: ReadingLog
) -> None:
    """Append the runs of a sentence with `before` words before it; tags that cannot be read are rejected."""
    findings.comments += found.comments
    for line, reason in found.lost_tags:
        log.reject_entity(path, line, reason)
    for start, stretch in _stretches(found.tags):
        findings.stretches[stretch] = findings.stretches.get(stretch, 0) + 1
        stretch_runs, strays, unknown = _runs_of_stretch(stretch)
        for first, end, type_ in stretch_runs:
            runs.append((before + start + first, before + start + end, type_))
        for position in strays:
            findings.strays.append((found.line + start + position, stretch[position]))
        for position in unknown:
            log.reject_entity(path, found.line + start + position, _no_tag(stretch[position]))


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
def _runs_of_stretch(stretch: tuple[str, ...]) -> tuple[list[Run], list[int], list[int]]:
    """The runs of a stretch of tags, and the positions of stray starts and of tags of no scheme.

    Remembered, because a corpus has few different stretches.
    """
    unknown = unknown_tags(stretch)
    tags = ["O" if position in unknown else tag for position, tag in enumerate(stretch)]
    runs = runs_from_tags(tags)
    return runs, stray_starts(tags, runs), unknown


def _no_tag(tag: str) -> str:
    return f"no tag scheme has {tag!r}; legal are O, and B, I, M, E, L, S or U with a hyphen and a type"


def _conclude(findings: _TagFindings, scheme: Scheme | None, path: Path, log: ReadingLog) -> None:
    """Note the scheme of the file, and remark on mentions that it would begin in another way."""
    origin = "detected" if scheme is None else "as given"
    # Without strays, counts do not matter: one of each stretch decides as all of them would.
    stretches = findings.stretches
    scheme = scheme or detect_scheme(stretches.elements() if findings.strays else stretches)
    log.notes.append(f"{path}: tag scheme {scheme} ({origin})")
    if findings.comments:
        log.notes.append(f"{path}: {findings.comments} comment lines are left out")
    if scheme != "IOB1":
        for line, tag in findings.strays:
            log.remark(path, line, f"a mention begins with {tag!r}, which {scheme} has inside of one; it is kept")


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """The text of a column file, document by document."""
    for document in documents:
        tokens = tokens_of(document)
        runs, _ = _expressible(document)
        tags = iter(tags_from_runs(runs, len(tokens.words)))
        hidden = document.generated_id or _UNWRITABLE_ID.search(document.id)
        yield f"{MARK}\tO\n\n" if hidden else f"{MARK} ({document.id})\tO\n\n"
        for words in tokens.sentences:
            yield "".join(f"{_UNWRITABLE.sub('_', word)}\t{next(tags)}\n" for word in words) + "\n"


def losses(document: Document) -> Iterator[str]:
    """A line for each thing of a document that a column file cannot express."""
    if not document.generated_id and _UNWRITABLE_ID.search(document.id):
        yield f"the id of document {document.id!r}"
    for word in tokens_of(document).words:
        if _UNWRITABLE.search(word):
            yield f"the word {word!r} of document {document.id!r} (white space and marks are written as _)"
    yield from _expressible(document)[1]


def _expressible(document: Document) -> tuple[list[Run], list[str]]:
    """The runs that can be written, and a loss for every other thing."""
    tokens = tokens_of(document)
    numbers = [number for number, words in enumerate(tokens.sentences) for _ in words]
    losses = tokens.losses
    within: list[tuple[Run, Entity]] = []
    for run, entity in tokens.runs:
        if numbers[run[0]] != numbers[run[1] - 1]:
            losses.append(f"the entity {named(document, entity)}, which crosses a sentence border")
        elif _UNWRITABLE.search(entity.type):
            losses.append(f"the entity {named(document, entity)}, whose type has white space")
        else:
            within.append((run, entity))
    runs, overlapping = disjoint(document, within)
    return runs, [*losses, *overlapping]


FORMAT = Format(
    name="conll",
    description="a word and its tag on each line (CoNLL, IOB, BIOES, BMES), nested entities excluded",
    suffixes=_SUFFIXES,
    recognises=recognises,
    read=read_columns,
    serialise=serialise,
    losses=losses,
)
