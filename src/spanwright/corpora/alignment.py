"""Where a place of one text is in another text that is nearly the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from difflib import SequenceMatcher

from spanwright.text import Range, split

Place = Callable[[int, int], Range | None]
"""Bounds in the first text to bounds in the second; None where the second text lacks the place."""

# Word by word comparison takes time quadratic in the number of words.
_MOST_WORDS = 3000


def align(source: str, target: str) -> Place:
    """The places of `source` in `target`, which may differ in white space, lack a part or be edited."""
    positions, others = _solid(source), _solid(target)
    text, other = ("".join(s[p] for p in found) for s, found in ((source, positions), (target, others)))
    if text in other:
        return _shifted(positions, others, other.index(text))
    if other in text:
        return _shifted(positions, others, -text.index(other))
    return _by_words(source, target)


def _solid(text: str) -> list[int]:
    """The positions of the characters that are not white space."""
    return [position for position, character in enumerate(text) if not character.isspace()]


def _shifted(positions: list[int], others: list[int], shift: int) -> Place:
    """Solid characters correspond one to one, the first of `positions` to number `shift` of `others`."""

    def place(start: int, end: int) -> Range | None:
        first = bisect_left(positions, start) + shift
        last = bisect_left(positions, end) - 1 + shift
        return (others[first], others[last] + 1) if 0 <= first <= last < len(others) else None

    return place


def _by_words(source: str, target: str) -> Place:
    """Words correspond as in the longest runs that both texts have."""
    ranges, others = split(source), split(target)
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    if max(len(ranges), len(others)) <= _MOST_WORDS:
        matcher = SequenceMatcher(
            None, [source[s:e] for s, e in ranges], [target[s:e] for s, e in others], autojunk=False
        )
        for first, other, length in matcher.get_matching_blocks():
            for (start, end), found in zip(ranges[first : first + length], others[other:], strict=False):
                starts[start], ends[end] = found

    def place(start: int, end: int) -> Range | None:
        found = starts.get(start), ends.get(end)
        return (found[0], found[1]) if found[0] is not None and found[1] is not None else None

    return place
