"""What the offsets of a file count, and how many of the mentions that it gives are at their offsets.

Ours count characters. Some tools write bytes of UTF-8, others the code units of UTF-16, as Java and
JavaScript do. The mentions that a file gives next to its offsets show which it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from spanwright.text import Range

Unit = Literal["characters", "utf-16", "bytes"]
"""What the offsets of a file count."""
UNITS: dict[Unit, str] = {
    "characters": "characters",
    "utf-16": "UTF-16 code units",
    "bytes": "bytes of UTF-8",
}
"""The units in words."""

_WIDE: dict[Unit, re.Pattern[str]] = {
    "utf-16": re.compile("[\U00010000-\U0010ffff]"),
    "bytes": re.compile("[^\x00-\x7f]"),
}
"""Characters that are more than one unit."""
_REMEMBERED = 4
"""Texts of which it is known where their units are."""


def unit_named(name: str) -> Unit:
    """The unit that an option names; ValueError for another."""
    for unit in UNITS:
        if unit == name:
            return unit
    raise ValueError(f"expected one of {', '.join(UNITS)}")


def length_in(text: str, unit: Unit) -> int:
    """The length of a text in a unit."""
    if unit == "characters" or text.isascii():
        return len(text)
    return len(text.encode()) if unit == "bytes" else len(text.encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets of a file as positions in the text of a document."""

    end: int
    """The offset of the end of the text."""
    positions: dict[int, int] | None
    """By offset; None where offsets count characters."""

    def range(self, start: int, end: int) -> Range | None:
        """The characters between two offsets; None if there are none, or if an offset is inside of one."""
        if not 0 <= start < end <= self.end:
            return None
        if self.positions is None:
            return start, end
        first, last = self.positions.get(start), self.positions.get(end)
        return None if first is None or last is None else (first, last)


@lru_cache(maxsize=_REMEMBERED)
def offsets_in(text: str, unit: Unit) -> Offsets:
    """The offsets of a text in a unit."""
    if unit == "characters" or text.isascii():
        return Offsets(len(text), None)
    positions, offset = {0: 0}, 0
    for position, character in enumerate(text, start=1):
        offset += length_in(character, unit)
        positions[offset] = position
    return Offsets(offset, positions)


@lru_cache(maxsize=_REMEMBERED)
def _first_wide(text: str, unit: Unit) -> int:
    """Up to where offsets in a unit are those in characters."""
    match = None if text.isascii() else _WIDE[unit].search(text)
    return len(text) if match is None else match.start()


@dataclass(slots=True)
class MentionCounts:
    """Counts of the mentions that a file gives beside their offsets, as they are compared."""

    unit: Unit = "characters"
    """What its offsets were read as."""
    compared: int = 0
    displaced: int = 0
    """Those that are not what stands at their offsets."""
    telling: dict[Unit, int] = field(default_factory=lambda: dict.fromkeys(_WIDE, 0))
    """By unit, those that would be elsewhere if offsets counted it."""
    fitting: dict[Unit, int] = field(default_factory=lambda: dict.fromkeys(_WIDE, 0))
    """By unit, displaced ones that would be at their offsets."""

    def count(self, given: str, is_there: bool, ranges: Sequence[Range], text: str | None) -> None:
        """Count a mention; `text` is what its ranges are offsets of, if they may count something else."""
        self.compared += 1
        self.displaced += not is_there
        if text is None or text.isascii() or self.unit != "characters":
            return
        for unit in _WIDE:
            if ranges[-1][1] > _first_wide(text, unit):
                self.telling[unit] += 1
                self.fitting[unit] += not is_there and _is_at(given, ranges, text, unit)

    @property
    def most_are_displaced(self) -> bool:
        """Whether the file is of no use as it was read."""
        return 2 * self.displaced > self.compared

    def verdict(self) -> str:
        """What seems to be wrong with the offsets of the file; '' if nothing does."""
        wrong = f"{self.displaced} of {self.compared} mentions are not what stands at their offsets"
        for unit in sorted(_WIDE, key=lambda each: self.fitting[each], reverse=True):
            if 2 * self.fitting[unit] > self.telling[unit]:
                return (
                    f"{wrong}, and {self.fitting[unit]} of these are if offsets count {UNITS[unit]}: "
                    f"read it with the option offsets={unit}, as `spanwright corpus convert --option "
                    f"offsets={unit}` does"
                )
        if self.most_are_displaced:
            return f"{wrong}; expected offsets that count {UNITS['characters']} of the text as it is"
        return ""


def _is_at(given: str, counted: Sequence[Range], text: str, unit: Unit) -> bool:
    """Whether a mention is at its offsets if they count this unit; white space apart."""
    ranges = [offsets_in(text, unit).range(start, end) for start, end in counted]
    found = " ".join(text[slice(*each)] for each in ranges if each is not None)
    return None not in ranges and given.split() == found.split()
