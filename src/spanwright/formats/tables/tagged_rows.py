"""Rows of tokens and tags, as tables of the Hugging Face library `datasets` hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import Record, checked_list, checked_tokens, given_id
from spanwright.formats.tables.arrow import ArrowTable
from spanwright.formats.token_texts import entity_of, joined, stray_starts, stray_tag, unreadable_tag
from spanwright.text import Document
from spanwright.text.tags import Scheme, detect_scheme, runs_from_tags, unknown_tags


@dataclass(frozen=True, slots=True)
class TagColumns:
    """Which columns hold the tokens and their tags."""

    tokens: str
    tags: str
    names: list[str]
    """Of tags that are numbers; [] when they are names themselves."""

    def tags_of(self, record: Record) -> list[str]:
        """The names of the tags of a row."""
        tags = checked_list(record[self.tags], self.tags)
        return [self._name(tag) for tag in tags]

    def _name(self, tag: Any) -> str:
        if isinstance(tag, str) and tag:
            return tag
        if type(tag) is int and 0 <= tag < len(self.names):
            return self.names[tag]
        if type(tag) is int and not self.names:
            raise InputError(f"the tag {tag} has no name in the file; give names with the option names=O,B-X")
        raise InputError(f"{tag!r:.80} was found as a tag; expected {', '.join(self.names) or 'names'}")


def read_tagged(table: ArrowTable, columns: TagColumns, ids: Ids, log: ReadingLog) -> Iterator[Document]:
    """Yield the documents of a table, one for each row."""
    scheme = detect_scheme(_all_tags(table, columns))
    log.notes.append(f"{table.path}: tag scheme {scheme} (detected)")
    row = 0
    used = [name for name in ("id", columns.tokens, columns.tags) if name in table.schema.names]
    for batch in table.batches(used):
        for record in batch.to_pylist():
            row += 1
            try:
                yield _document(record, columns, scheme, ids, table, row, log)
            except InputError as error:
                log.reject_document(table.path, row, str(error), entities=_count(record, columns))


def _all_tags(table: ArrowTable, columns: TagColumns) -> Iterator[list[str]]:
    """The tags of all rows that have readable ones."""
    for batch in table.batches([columns.tags]):
        for record in batch.to_pylist():
            try:
                yield columns.tags_of(record)
            except InputError:
                continue


def _count(record: Record, columns: TagColumns) -> int:
    """How many entities the tags of a row hold, as far as they can be read."""
    try:
        return len(runs_from_tags(columns.tags_of(record)))
    except InputError:
        return 0


def _document(
    record: Record,
    columns: TagColumns,
    scheme: Scheme,
    ids: Ids,
    table: ArrowTable,
    row: int,
    log: ReadingLog,
) -> Document:
    tokens = checked_tokens(record[columns.tokens], columns.tokens)
    tags = columns.tags_of(record)
    if len(tokens) != len(tags):
        raise InputError(f"there are {len(tokens)} tokens and {len(tags)} tags; expected one for each token")
    id, generated = ids.take(given_id(record, "id"), row)
    for position in unknown_tags(tags):
        log.reject_entity(table.path, row, unreadable_tag(tags[position]))
        tags[position] = "O"
    runs = runs_from_tags(tags)
    for position in stray_starts(tags, runs) if scheme != "IOB1" else ():
        log.remark(table.path, row, stray_tag(tags[position], scheme))
    text, words, sentences = joined([tokens] if tokens else [])
    entities = tuple(entity_of(run, words) for run in runs)
    return Document(id, text, entities, words, sentences, generated_id=generated)
