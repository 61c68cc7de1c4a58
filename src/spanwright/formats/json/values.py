"""Values of JSON records, checked one by one: what is wrong is an `InputError` that says what was found."""

from __future__ import annotations

import sys
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.json.records import Record
from spanwright.formats.offsets import Offsets
from spanwright.text import Range

_LARGEST = sys.float_info.max
_REQUIRED = object()


def checked(
    record: Record, key: str, kind: type | tuple[type, ...], expected: str, default: Any = _REQUIRED
) -> Any:
    """The value of a key, if it is of a kind; a key that is absent or null has its default."""
    value = record.get(key)
    if value is None and default is not _REQUIRED:
        return default
    if value is None and key not in record:
        raise InputError(f"the key {key!r} is missing; expected {expected}")
    if not isinstance(value, kind):
        raise InputError(f"{key!r} is {value!r:.80}; expected {expected}")
    return value


def checked_object(value: Any) -> Record:
    """A JSON value, if it is an object."""
    if not isinstance(value, dict):
        raise InputError(f"{value!r:.80} was found; expected an object")
    return value


def whole_number(record: Record, key: str) -> int:
    """The whole number under a key."""
    number = checked(record, key, int, "a whole number")
    if isinstance(number, bool):
        raise InputError(f"{key!r} is {number}; expected a whole number")
    return int(number)


def finite_number(record: Record, key: str) -> float | None:
    """The number under a key, if there is one."""
    number: float | None = checked(record, key, (int, float), "a number", None)
    if isinstance(number, bool) or (number is not None and not abs(number) <= _LARGEST):
        raise InputError(f"{key!r} is {number!r:.80}; expected a finite number")
    return number


def strings(record: Record, key: str) -> tuple[str, ...]:
    """The strings in the list under a key; none if it is absent."""
    values = checked(record, key, list, "a list of strings", [])
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{key!r} is {values!r:.80}; expected a list of strings")
    return tuple(values)


def placed(ranges: tuple[Range, ...], offsets: Offsets) -> tuple[Range, ...]:
    """Ranges in characters; where offsets do count characters they stay as they are, right or wrong."""
    if offsets.positions is None:
        return ranges
    found = tuple(each for start, end in ranges if (each := offsets.range(start, end)) is not None)
    if len(found) < len(ranges):
        raise _outside(list(ranges), offsets)
    return found


def range_in(record: Record, start: str, end: str, offsets: Offsets) -> Range:
    """The range in characters whose offsets stand under two keys."""
    borders = whole_number(record, start), whole_number(record, end)
    found = offsets.range(*borders)
    if found is None:
        raise _outside([borders], offsets)
    return found


def _outside(ranges: list[Range], offsets: Offsets) -> InputError:
    return InputError(
        f"{ranges!r:.80} is not in the text or cuts a character; expected offsets "
        f"0 <= start < end <= {offsets.end}"
    )
