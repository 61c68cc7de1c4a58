"""JSON records of corpus files: reading them one by one, telling them apart, and writing them.

A record is the JSON object of one document. What is no such object is rejected with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document
from spanwright.text.tags import WordRun

Record = dict[str, Any]
NOTES = "annotation_notes"
"""The key of the annotation notes in formats that keep other keys, too."""

_SPACE = re.compile(r"\s*")
# Characters that some tools take for line ends, though JSON and this library do not.
_LINE_ENDS = str.maketrans({character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"})


def json_lines(
    path: Path, log: ReadingLog, *, count: Callable[[Record], int] = lambda record: 0
) -> Iterator[tuple[int, Record]]:
    """Yield (line number, record) of a file with one JSON object a line; empty lines hold nothing.

    `count` says how many annotations a record holds that is rejected, whose values may be anything.
    """
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            log.reject_document(path, number, line.reason, entities=count(_object(line.replaced)))
        elif line and not line.isspace():
            try:
                yield number, parse_record(line)
            except InputError as error:
                log.reject_document(path, number, str(error), entities=count(_object(line)))


def _object(text: str) -> Record:
    """The JSON object that a rejected line still is; an empty one if it is none."""
    try:
        value = _LENIENT_DECODER.decode(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def list_length(value: Any) -> int:
    """How many items a JSON value holds that should be a list; 0 if it is none."""
    return len(value) if isinstance(value, list) else 0


def parse_record(text: str) -> Record:
    """The JSON object that a text is; anything else is an `InputError` that says what was found."""
    try:
        value = DECODER.decode(text)
    except RepeatedKeyError as error:
        raise InputError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error}); expected one object a line") from None
    return checked_record(value, escaped="\\u" in text)


def checked_record(value: Any, *, escaped: bool) -> Record:
    """A JSON value, if it is an object without lone surrogates (which only escapes can bring in)."""
    if isinstance(value, RepeatedKeys):
        raise InputError(value.reason)
    if not isinstance(value, dict):
        raise InputError(f"a JSON {type(value).__name__} was found; expected an object")
    if escaped:
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except RecursionError:
            raise InputError("the JSON is nested too deeply") from None
        except UnicodeEncodeError as error:
            surrogate = ord(error.object[error.start])
            raise InputError(
                f"an escape stands for the lone surrogate U+{surrogate:04X}, which is not a character; "
                f"expected pairs of surrogates"
            ) from None
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


class RepeatedKeyError(ValueError):
    """A JSON object has a key twice. The standard library would keep the last value and say nothing."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice in one object; expected once")


def _unambiguous(pairs: list[tuple[str, Any]]) -> Record:
    """The object of some keys and values."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return record


DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unambiguous)
_LENIENT_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""Keeps the last of equal keys: good enough to tell what kind of record it is, and where it ends."""


class RepeatedKeys(Record):
    """A record that has, somewhere in it, an object with a key twice; the last values are in it."""

    def __init__(self, values: Record, reason: str) -> None:
        super().__init__(values)
        self.reason = reason


def decode_item(text: str, position: int) -> tuple[Any, int]:
    """The JSON value at a position of a text, and its end; where it has a key twice, `RepeatedKeys`."""
    try:
        return DECODER.raw_decode(text, position)
    except RepeatedKeyError as error:
        value, end = _LENIENT_DECODER.raw_decode(text, position)
        return RepeatedKeys(value if isinstance(value, dict) else {}, str(error)), end


def first_keys(head: str) -> frozenset[str]:
    """The keys of the first JSON object in the beginning of a file, as far as the beginning reaches.

    An object that is cut off (a long document) still shows the keys before the cut.
    """
    keys: set[str] = set()
    position = skip_space(head, 0)
    separator = "{"
    while head[position : position + 1] == separator:
        try:
            key, position = _LENIENT_DECODER.raw_decode(head, skip_space(head, position + 1))
            keys.add(str(key))
            _, position = _LENIENT_DECODER.raw_decode(head, skip_space(head, skip_space(head, position) + 1))
        except (ValueError, RecursionError):
            break
        position = skip_space(head, position)
        separator = ","
    return frozenset(keys)


def skip_space(text: str, position: int) -> int:
    """The next position that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def write_record(record: Record, document_id: str) -> str:
    """A record as one line of JSON, without the line end."""
    try:
        line = json.dumps(record, ensure_ascii=False, allow_nan=False)
        line.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"document {document_id!r} cannot be written as JSON: {error}; expected strings without lone "
            f"surrogates, finite numbers, true, false, null, lists and objects"
        ) from None
    return line.translate(_LINE_ENDS) if not line.isascii() else line


def given_id(record: Record, key: str) -> str | None:
    """The id that a record gives, if any; a whole number is taken as its digits."""
    value = record.get(key)
    if value is not None and type(value) not in (str, int):
        raise InputError(f"{key!r} is {value!r:.80}; expected a string")
    return None if value is None else str(value)


def given_notes(record: Record) -> Record:
    """The annotation notes in a record of a format of tokens; anything but an object is none of ours."""
    notes = record.get(NOTES)
    return notes if isinstance(notes, dict) else {}


def notes_record(notes: Mapping[str, Any]) -> Record:
    """What `given_notes` reads as these notes; nothing for none."""
    return {NOTES: dict(notes)} if notes else {}


def checked_list(value: Any, name: str) -> list[Any]:
    """A JSON value, if it is a list; `name` is the key it stands under."""
    if not isinstance(value, list):
        raise InputError(f"{name!r} is {value!r:.80}; expected a list")
    return value


def checked_tokens(value: Any, name: str) -> list[str]:
    """A JSON value, if it is a list of words; `name` is the key it stands under."""
    for position, token in enumerate(checked_list(value, name)):
        if not isinstance(token, str) or not token:
            raise InputError(
                f"{name!r} holds {token!r:.80} as token {position}; expected strings that are not empty"
            )
    return list(value)


def checked_run(first: Any, end: Any, type_: Any, length: int) -> WordRun:
    """First word, end and type of an entity from JSON, if they lie within `length` words."""
    if type(first) is not int or type(end) is not int or not 0 <= first < end <= length:
        raise InputError(
            f"the entity of tokens [{first!r:.20}, {end!r:.20}) is outside the document; "
            f"expected whole numbers 0 <= start < end <= {length}"
        )
    if not isinstance(type_, str):
        raise InputError(
            f"the entity of tokens [{first}, {end}) has the type {type_!r:.80}; expected a string"
        )
    return first, end, type_


def other_keys(values: Mapping[str, Any], known: frozenset[str]) -> Record:
    """What a record or metadata holds beside the keys that a format reads and writes itself."""
    return {key: value for key, value in values.items() if key not in known}


def unwritable_metadata(document: Document, known: frozenset[str]) -> Iterator[Unwritable]:
    """A line for each metadata key that is also a key of the format, and so cannot stand beside it."""
    for key in document.metadata:
        if key in known:
            line = f"the metadata {key!r} of document {document.id!r}, which is a key of the format"
            yield Unwritable("metadata", line)
