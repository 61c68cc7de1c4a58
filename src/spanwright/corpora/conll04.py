"""CoNLL04 as a JSON list: sentences of tokens with BILOU tags and relations.

    [{"tokens": ["Anna", "Berg", "sang"], "tags": ["B-Peop", "L-Peop", "O"], "relations": [], "orig_id": 5178}]

An item is a document with `orig_id` as its id; other keys, `relations` among them, are kept in the metadata and
written again. One layer of tags holds no nested, crossing or discontinuous entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanwright.corpora.format import Format, ReadingLog
from spanwright.corpora.ids import Ids
from spanwright.corpora.lines import Undecodable, read_text
from spanwright.corpora.records import (
    DECODER,
    Record,
    checked_record,
    checked_tokens,
    first_keys,
    given_id,
    metadata_losses,
    other_keys,
    write_record,
)
from spanwright.corpora.tokens import border_losses, disjoint, entity_of, joined, stray_starts, tokens_of
from spanwright.errors import InputError
from spanwright.text import Document
from spanwright.text.tags import runs_from_tags, tags_from_runs, unknown_tags

_KEYS = frozenset(("orig_id", "tokens", "tags"))
_SEPARATOR = re.compile(r"\s*([\[\],]?)\s*")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def recognises(path: Path, head: str) -> bool:
    """Whether the file is a list whose first item has tokens and tags, or an empty list."""
    start = head.lstrip()
    if not start.startswith("["):
        return False
    return start.rstrip() == "[]" or {"tokens", "tags"} <= first_keys(start[1:])


def read(path: Path, log: ReadingLog) -> Iterator[Document]:
    """Yield the documents of a file, one for each item of its list."""
    text = read_text(path)
    if isinstance(text, Undecodable):
        log.reject_document(path, text.line, f"{text.reason}; nothing of the file is read")
        return
    ids = Ids(path, log)
    for line, item, escaped in _items(text, path, log):
        try:
            document = _document(checked_record(item, escaped=escaped), ids, path, line, log)
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(item))
        else:
            yield document


def _items(text: str, path: Path, log: ReadingLog) -> Iterator[tuple[int, Any, bool]]:
    """Yield (line, value, whether it has escapes) of the items of a JSON list, one by one."""
    line, position, expected, items = 1, 0, "[", 0
    while True:
        separator = _SEPARATOR.match(text, position)
        found = separator[1] if separator else ""
        start = separator.end() if separator else position
        line += text.count("\n", position, start)
        if found == "]" and items and start == len(text):
            return
        if found != expected:
            break
        position = 0


def _document(record: Record, ids: Ids, path: Path, line: int, log: ReadingLog) -> Document:
    tokens = checked_tokens(record.get("tokens"), "tokens")
    tags = checked_tokens(record.get("tags"), "tags")
    if len(tokens) != len(tags):
        raise InputError(f"there are {len(tokens)} tokens and {len(tags)} tags; legal is one tag for each token")
    id, generated = ids.take(given_id(record, "orig_id"), line)
