"""Tag schemes: IOB1, IOB2, BIOES, BILOU and BMES, to and from runs of words.

A run is `(first, end, type)`: word positions, half open. A tag is a letter and, after a hyphen, a type
(`B-Disease`), or one of `O`. Reading is forgiving in the way of the official scorers: a tag that continues
a type that is not open begins a new run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

Scheme = Literal["IOB1", "IOB2", "BIOES", "BILOU", "BMES"]
WordRun = tuple[int, int, str]

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

# What each letter does: does it begin a run, and does it end one?
_BEGINS = frozenset("BSU")
_ENDS = frozenset("ESUL")
_CONTINUES = frozenset("IMEL")

_LETTERS: dict[Scheme, tuple[str, str, str, str]] = {
    # first of several, inside, last of several, alone
    "IOB1": ("I", "I", "I", "I"),
    "IOB2": ("B", "I", "I", "B"),
    "BIOES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
    "BMES": ("B", "M", "E", "S"),
}


def scheme_named(name: str) -> Scheme:
    """The scheme of that name; ValueError for another."""
    for scheme in SCHEMES:
        if scheme == name.upper():
            return scheme
    raise ValueError(f"unknown tag scheme {name!r}; expected {', '.join(SCHEMES)}")


def split_tag(tag: str) -> tuple[str, str]:
    """`B-Disease` -> `('B', 'Disease')`; `O` -> `('O', '')`; a bare `B` has the type ''."""
    letter, _, type_ = tag.partition("-")
    return letter, type_


def detect_scheme(sentences: Iterable[Sequence[str]]) -> Scheme:
    """The scheme that a corpus of tag sequences is written in.

    The letters decide, except between IOB1 and IOB2, which share theirs: IOB1 begins a mention with `I-`
    and uses `B-` only right after a mention of the same type. A corpus is called IOB1 when runs begin
    with `I-` at least as often as with a `B-` that IOB1 would not write.
    """
    letters: set[str] = set()
    inside_starts = free_begins = 0
    for tags in sentences:
        previous: str | None = None
        for tag in tags:
            letter, type_ = split_tag(tag)
            letters.add(letter)
            if letter == "I" and previous != type_:
                inside_starts += 1
            elif letter == "B" and previous != type_:
                free_begins += 1
            previous = type_ if letter != "O" else None
    if "M" in letters:
        return "BMES"
    if letters & {"L", "U"}:
        return "BILOU"
    if letters & {"E", "S"}:
        return "BIOES"
    return "IOB1" if inside_starts and inside_starts >= free_begins else "IOB2"


def unknown_tags(tags: Sequence[str]) -> list[int]:
    """Positions of tags that no scheme can read."""
    known = _BEGINS | _ENDS | _CONTINUES
    return [position for position, tag in enumerate(tags) if tag != "O" and split_tag(tag)[0] not in known]


def runs_from_tags(tags: Sequence[str]) -> list[WordRun]:
    """The runs of a tag sequence in any scheme; a stray continuation begins a run."""
    runs: list[WordRun] = []
    first = -1
    open_type = ""
    for position, tag in enumerate(tags):
        letter, type_ = split_tag(tag)
        if first >= 0 and (letter == "O" or letter in _BEGINS or type_ != open_type):
            runs.append((first, position, open_type))
            first = -1
        if letter != "O" and first < 0:
            first, open_type = position, type_
        if letter in _ENDS:
            runs.append((first, position + 1, open_type))
            first = -1
    if first >= 0:
        runs.append((first, len(tags), open_type))
    return runs


def tags_from_runs(runs: Iterable[WordRun], length: int, scheme: Scheme = "IOB2") -> list[str]:
    """The tags of disjoint runs over `length` words."""
    tags = ["O"] * length
    begin, inside, last, alone = _LETTERS[scheme]
    previous_end, previous_type = -1, ""
    for first, end, type_ in sorted(runs):
        if first < previous_end or not 0 <= first < end <= length:
            raise ValueError(f"run ({first}, {end}) overlaps another or lies outside {length} words")
        letters = [alone] if end - first == 1 else [begin, *[inside] * (end - first - 2), last]
        if scheme == "IOB1" and first == previous_end and type_ == previous_type:
            letters[0] = "B"
        tags[first:end] = [f"{letter}-{type_}" for letter in letters]
        previous_end, previous_type = end, type_
    return tags
