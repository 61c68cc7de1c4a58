"""Walking through the text of one large JSON value, so that its items come one by one with their place.

What is malformed is a `ValueError` where it stands: the items before it were good.
"""

from __future__ import annotations

from collections.abc import Generator
from json import JSONDecodeError
from typing import Any

from spanwright.formats.json.records import DECODER, decode_item, skip_space

Item = tuple[int, int, Any]
"""Start, end and value of a part of the text."""


def list_items(text: str, position: int) -> Generator[Item, None, int]:
    """Yield the items of the list at a position; returns the position after it."""
    position, is_item = enter(text, position, "[")
    while is_item:
        value, end = decode_item(text, position)
        yield position, end, value
        position, is_item = step(text, end, "]")
    return position


def enter(text: str, position: int, opening: str) -> tuple[int, bool]:
    """The position of the first item of a list or an object, and True; after an empty one, and False."""
    if not text.startswith(opening, position):
        raise unexpected(text, position, repr(opening))
    position = skip_space(text, position + 1)
    is_empty = text.startswith("]" if opening == "[" else "}", position)
    return position + is_empty, not is_empty


def step(text: str, end: int, closing: str) -> tuple[int, bool]:
    """The position of the next item after the end of one, and True; after the last one, and False."""
    position = skip_space(text, end)
    if text.startswith(closing, position):
        return position + 1, False
    if not text.startswith(",", position):
        raise unexpected(text, position, f"',' or {closing!r}")
    return skip_space(text, position + 1), True


def member(text: str, position: int) -> tuple[str, int]:
    """The key of the member of an object at a position, and the position of its value."""
    key, end = DECODER.raw_decode(text, position)
    colon = skip_space(text, end)
    if not isinstance(key, str) or not text.startswith(":", colon):
        raise unexpected(text, position, "a key and ':'")
    return key, skip_space(text, colon + 1)


def unexpected(text: str, position: int, expected: str) -> JSONDecodeError:
    """The error that something else stands at a position than what is expected there."""
    found = repr(text[position : position + 20]) if position < len(text) else "the end of the file"
    return JSONDecodeError(f"{found} was found where {expected} was expected", text, position)
