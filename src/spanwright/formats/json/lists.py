"""Files that are one JSON list, with an object for each document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.lines import read_marked_text
from spanwright.formats.json.records import Record, checked_record, decode_item, skip_space
from spanwright.text import Document

Count = Callable[[Any], int]
"""How many entities an item holds, which may be any JSON value."""
Parse = Callable[[Record, int], Document]
"""The document of an object and its line."""


def read_items(path: Path, log: ReadingLog, count: Count, parse: Parse) -> Iterator[Document]:
    """Yield what `parse` makes of each object and its line; what it refuses is rejected as a document."""
    text, undecodable = read_marked_text(path)
    line, previous = 1, 0
    for number, (start, end, item) in enumerate(_items(text, path, log)):
        line, previous = line + text.count("\n", previous, start), start
        last = line + text.count("\n", start, end)
        at = min((each for each in undecodable if line <= each <= last), default=line)
        try:
            if at in undecodable:
                raise InputError(undecodable[at])
            yield parse(checked_record(item, escaped=text.find("\\u", start, end) >= 0), line)
        except InputError as error:
            log.reject_document(path, at, f"item {number}: {error}", entities=count(item))


def _items(text: str, path: Path, log: ReadingLog) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, end, value) of the items of a JSON list one by one, up to the first that is not JSON."""
    position, opening = skip_space(text, 0), "["
    while text.startswith(opening, position):
        position = skip_space(text, position + 1)
        if opening == "[" and text.startswith("]", position):
            break
        try:
            value, end = decode_item(text, position)
        except (ValueError, RecursionError) as error:
            _reject_rest(text, position, f"not JSON ({error})", path, log)
            return
        yield position, end, value
        position, opening = skip_space(text, end), ","
    rest = skip_space(text, position + 1)
    if not text.startswith("]", position):
        _reject_rest(text, position, f"{text[position : position + 20]!r} was found", path, log)
    elif rest < len(text):
        _reject_rest(text, rest, f"{text[rest : rest + 20]!r} was found after the list", path, log)


def _reject_rest(text: str, position: int, found: str, path: Path, log: ReadingLog) -> None:
    line = 1 + text.count("\n", 0, position)
    log.reject_document(
        path, line, f"{found}; expected one list of objects; the rest of the file is left out"
    )


def written_list(records: Iterator[str]) -> Iterator[str]:
    """The text of a list, an item a line, from the texts of its items."""
    separator = "[\n"
    for record in records:
        yield separator + record
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
