"""Whether a folder holds the run, comparison, search or job that one thinks it is.

What identifies it is written down when it begins. Whoever goes on with it compares that with what is asked
for now, and refuses to mix two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright.formats.io.whole_files import write_whole

Values = Mapping[str, Any]
"""Plain values, as in JSON; None is as good as no value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not the one that was written down."""

    place: tuple[str, ...]
    """The keys that lead to it, from table to table."""
    old: Any
    new: Any


def find_differences(old: Values, new: Values, place: tuple[str, ...] = ()) -> Iterator[Difference]:
    """The innermost values that differ, in the order of the new ones; a missing table is an empty one."""
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        if was != now:
            here = (*place, name)
            tables = all(value is None or isinstance(value, Mapping) for value in (was, now))
            inside = list(find_differences(was or {}, now or {}, here)) if tables else []
            yield from inside or [Difference(here, was, now)]


def changed_names(old: Values, new: Values) -> list[str]:
    """The names among the new values that differ; what only the old ones have is not asked for."""
    asked = {name: old.get(name) for name in new}
    return list(dict.fromkeys(difference.place[0] for difference in find_differences(asked, new)))


def write_down(path: Path, values: Values) -> None:
    """Write what identifies something that begins."""
    write_whole(path, json.dumps(values, indent=2) + "\n")


def written_down(path: Path) -> dict[str, Any]:
    """What was written when it began."""
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values
