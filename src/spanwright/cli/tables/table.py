"""Tables that lose no column, however narrow the terminal is.

Rich leaves columns out where there is no room for them. Here cells are folded first; where not even the words
of the headings have room, each row becomes a record with a line for each column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

_UNBOUNDED = 10_000
"""Columns of a terminal on which any table has room."""
_FOLDED_FROM = 24
"""Characters of a word in a cell, such as a path, from which on it may be folded."""


class Table(RichTable):
    """A table of rich that folds cells where it is too wide, and else shows its rows as records."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines of the table."""
        room = options.max_width
        widths = [self._widths(console, options, column) for column in self.columns]
        natural = sum(whole for _, whole in widths)
        around = self._whole_width(console, options) - natural
        if natural + around <= room:
            yield from super().__rich_console__(console, options)
        elif chosen := _narrowed(widths, room - around):
            folded = copy(self)
            folded.columns = [
                replace(column, width=width, no_wrap=False, overflow="fold")
                for column, width in zip(self.columns, chosen, strict=True)
            ]
            yield from RichTable.__rich_console__(folded, console, options)
        else:
            yield from self._records(console)

    def _whole_width(self, console: Console, options: ConsoleOptions) -> int:
        """The width of the table where there is room, with its lines."""
        return Measurement.get(console, options.update_width(_UNBOUNDED), self).maximum

    def _widths(self, console: Console, options: ConsoleOptions, column: Column) -> tuple[int, int]:
        """The least width that a column can be read at, and that of all it holds."""
        wide = options.update_width(_UNBOUNDED)
        heading = Measurement.get(console, wide, column.header if self.show_header else "")
        cells = [Measurement.get(console, wide, cell) for cell in column.cells]
        least = max((min(cell.minimum, _FOLDED_FROM) for cell in cells), default=0)
        whole = max((cell.maximum for cell in cells), default=0)
        return max(heading.minimum, least, 1), max(heading.maximum, whole, 1)

    def _records(self, console: Console) -> RenderResult:
        """A line for each cell, and an empty line between rows."""
        for words in (self.title, self.caption):
            if words:
                yield _rendered(console, words)
        for position, row in enumerate(zip(*(column.cells for column in self.columns), strict=True)):
            if position:
                yield Text()
            yield from self._record(console, row)

    def _record(self, console: Console, row: Sequence[RenderableType]) -> Iterable[RenderableType]:
        for column, cell in zip(self.columns, row, strict=True):
            heading = _rendered(console, column.header if self.show_header else "")
            value = _rendered(console, cell)
            if heading.plain:
                value = Text.assemble(heading, ": ", value)
            value.overflow, value.no_wrap = "fold", False
            if value.plain:
                indent = 0 if column is self.columns[0] else 2
                yield Padding(value, (0, 0, 0, indent), expand=False)


def _rendered(console: Console, cell: RenderableType) -> Text:
    """What a cell says: our cells are text, with markup or without."""
    return cell.copy() if isinstance(cell, Text) else console.render_str(str(cell))


def _narrowed(widths: Sequence[tuple[int, int]], room: int) -> list[int] | None:
    """A width for each column, the widest cut first; None where the least widths have no room."""
    for limit in range(max((whole for _, whole in widths), default=0), 0, -1):
        chosen = [min(whole, max(least, limit)) for least, whole in widths]
        if sum(chosen) <= room:
            return chosen
    return None
