"""What other packages bring along: parts, formats and lexicons, by the entry points that they list.

Settings, files and commands name such things by their names alone. Only what an installed package lists under
a name is ever imported: no model directory and no recipe can have other code run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from spanwright.errors import SpanwrightError

Listed = TypeVar("Listed")


class Known(Mapping[str, Listed], Generic[Listed]):
    """Things by name: our own and, after them, those that packages list in a group of entry points.

    A name of our own always means our own. What packages list is imported when it is asked for.
    """

    def __init__(self, own: Mapping[str, Listed], *, group: str, expected: type[Listed]) -> None:
        """`expected` is what an entry point of the group has to be."""
        self._own = own
        self._group = group
        self._expected = expected

    @cached_property
    def _outside(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self._group) if entry.name not in self._own}

    def __getitem__(self, name: str) -> Listed:
        if name in self._own:
            return self._own[name]
        return self._loaded(self._outside[name])

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._outside

    def __len__(self) -> int:
        return len(self._own) + len(self._outside)

    def _loaded(self, entry: EntryPoint) -> Listed:
        package = entry.dist.name if entry.dist else "?"
        where = f"{entry.name!r}, which the package {package!r} lists in {self._group} as {entry.value}"
        try:
            found = entry.load()
        except Exception as error:
            raise SpanwrightError(f"{where}, cannot be imported: {type(error).__name__}: {error}") from error
        if not isinstance(found, self._expected):
            raise SpanwrightError(
                f"{where}, is of the type {type(found).__name__}; expected {self._expected.__name__}"
            )
        return found
