"""Which columns of a column file hold the words and the tags.

Nested corpora have a column of tags for each layer, outermost first, and some number the words in front:

    1	University	B-ORG	O
    2	of	I-ORG	O
    3	Oslo	I-ORG	B-LOC

The last column holds tags. Another one is a layer of the same tags when nearly all its cells are `O` or a
letter and a type (`B-LOC`), but for two kinds of columns that look the same and are none: phrases, as in
CoNLL-2003 (`B-NP`, `I-VP`), and a second opinion about the same entities, as in files of gold and predicted
tags. What looks like tags and is not read is reported, and columns may be named instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from spanwright.text.tags import runs_from_tags, split_tag

_TYPED_TAG = re.compile(r"[BIMELSU]-.*")
_BARE_TAG = re.compile(r"[BIMELSU](?:-.*)?")
_PHRASE = re.compile("ADJP|ADVP|CONJP|INTJ|LST|NP|PP|PRT|SBAR|UCP|VP|NC|PC|VC")
"""The types of phrases in CoNLL-2000 and, as the last three, in German CoNLL-2003."""
_FEWEST_COMMON = 10
"""Entities that two columns share before they are taken for opinions about the same."""
_SHOWN_TAGS = 3

Column = list[str]
"""The cells of a column in the first rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the words and the tags stand."""

    word: int
    tags: tuple[int, ...]
    """A column for each layer of tags."""
    notes: list[str] = field(default_factory=list)
    """What users should know about columns that are not read."""


def column_numbers(text: str) -> tuple[int, ...]:
    """The columns that a user names, `1,2` say; ValueError for anything else."""
    return tuple(dict.fromkeys(int(number) for number in text.split(",")))


def find_layout(
    rows: Sequence[Sequence[str]],
    columns: int,
    word: int | None,
    tags: Sequence[int] | None,
    all_cells: Callable[[int], Iterable[str]],
) -> Layout:
    """The layout of a file with these first rows, each with so many cells; what is given stays as it is.

    `all_cells` gives the cells of a column in the whole file, for a column that has only `O` in those rows.
    """
    table = [[row[column] for row in rows] for column in range(columns)]
    notes: list[str] = []
    if word is None:
        word = 1 if columns > 2 and _counts(table[0]) and not _is_tags(table[1], _TYPED_TAG) else 0
        if word:
            notes.append("column 0 numbers the words; it is left out")
    others = [column for column in range(columns) if column != word]
    last = others[-1]
    reasons = {column: _not_a_layer(column, last, table, all_cells) for column in others if column != last}
    if tags is None:
        tags = [column for column in others if not reasons.get(column)]
    for column in others:
        shown = _shown_tags(table[column])
        if column not in tags and shown and _is_tags(table[column], _BARE_TAG):
            reason = reasons.get(column) or "it was not named"
            named = ",".join(map(str, sorted({column, *tags})))
            notes.append(
                f"column {column} (counted from 0) looks like tags ({shown}) and is not read: {reason}; "
                f"read it with the option tag_column={named}, as `spanwright corpus convert --option "
                f"tag_column={named}` does"
            )
    return Layout(word, tuple(tags), notes)


def _counts(column: Column) -> bool:
    """Whether the cells number something, from 0 or 1 on again and again."""
    numbers = [int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 6 else -2 for cell in column]
    counting = sum(number in (0, 1, previous + 1) for previous, number in pairwise([-1, *numbers]))
    return counting >= 0.9 * len(column) and max(numbers, default=0) > 1


def _is_tags(column: Iterable[str], tag: re.Pattern[str]) -> bool:
    """Whether nearly all cells that are neither `O` nor empty are such tags; also when there are none."""
    others = [cell for cell in column if cell not in ("O", "")]
    return sum(tag.fullmatch(cell) is not None for cell in others) >= 0.9 * len(others)


def _not_a_layer(
    column: int, last: int, table: list[Column], all_cells: Callable[[int], Iterable[str]]
) -> str:
    """Why a column is no layer of the same tags as the last one; '' if it is."""
    if not _is_tags(table[last], _TYPED_TAG):
        return "the last column has no tags with a type"
    cells = table[column]
    if not _is_tags(cells, _TYPED_TAG) or (
        not _shown_tags(cells) and not _is_tags(all_cells(column), _TYPED_TAG)
    ):
        return "not all of its tags have a type"
    if _is_phrases(cells) and not _is_phrases(table[last]):
        return "its types are those of phrases, not of entities"
    runs, last_runs = set(runs_from_tags(cells)), set(runs_from_tags(table[last]))
    common = len(runs & last_runs)
    if common >= _FEWEST_COMMON and 2 * common >= min(len(runs), len(last_runs)):
        return f"most of its entities are those of column {last}, as in files of gold and predicted tags"
    return ""


def _is_phrases(column: Column) -> bool:
    types = [split_tag(cell)[1] for cell in column if cell != "O"]
    return bool(types) and sum(map(bool, map(_PHRASE.fullmatch, types))) >= 0.9 * len(types)


def _shown_tags(column: Column) -> str:
    """Some of the tags of a column; '' if all are `O`."""
    return ", ".join([tag for tag in dict.fromkeys(column) if tag not in ("O", "")][:_SHOWN_TAGS])
