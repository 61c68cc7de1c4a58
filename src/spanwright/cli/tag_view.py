"""What the user sees of `spanwright tag`: how much is done, how fast, and how much is left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from spanwright.errors import counted
from spanwright.formats.io.opening import bytes_read
from spanwright.text import Document
from spanwright.text.words import iter_words

_BAR_WIDTH = 20
_COLUMNS_WITH_BAR = 100
"""How wide a terminal must be for the bar: on a narrower one, numbers have the room."""


class TaggingView:
    """A bar of documents. How many there are is exact when all are read, and before by the share of bytes."""

    def __init__(self, paths: Sequence[Path], *, console: Console | None = None) -> None:
        """`paths` are the inputs; one that is no file, such as standard input, leaves the number open."""
        self._sizes = {path: path.stat().st_size for path in paths if path.is_file()}
        self._is_known = len(self._sizes) == len(set(paths))
        self._read, self._bytes_before, self._bytes_read, self._is_all_read = 0, 0, 0, False
        self.tagged, self._entities, self._words = 0, 0, 0
        self._began = time.monotonic()
        console = console or Console(stderr=True)
        bar = [BarColumn(_BAR_WIDTH)] if console.width >= _COLUMNS_WITH_BAR else []
        room = console.width - (_BAR_WIDTH + 1) * len(bar)
        self._progress = Progress(*bar, _Numbers(room), console=console)
        self._task = self._progress.add_task("tag", total=None, documents="", entities="", speed="", left="")
        self._show()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def reading(self, path: Path, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents of an input, counted as they are read."""
        for document in documents:
            self._read += 1
            self._bytes_read = self._bytes_before + bytes_read(path)
            self._show()
            yield document
        self._bytes_before += self._sizes.get(path, 0)

    def all_read(self) -> None:
        """No more documents come."""
        self._is_all_read = True
        self._show()

    def tagging(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents, counted as they are tagged."""
        self._began = time.monotonic()  # when the model is ready
        for document in documents:
            self.tagged += 1
            self._entities += len(document.entities)
            self._words += sum(1 for _ in iter_words(document))
            self._show()
            yield document

    def _show(self) -> None:
        total = self._total()
        seconds = max(time.monotonic() - self._began, 1e-9)
        self._progress.update(
            self._task,
            completed=self.tagged,
            total=total,
            documents=self._documents(total),
            entities=counted(self._entities, "entity"),
            speed=f"{self._words / seconds:,.0f} words/s",
            left=f"left {self._left(total, seconds)}",
        )

    def _documents(self, total: int | None) -> str:
        """How many of all documents are done, as far as their number is known."""
        if total is None:
            return counted(self.tagged, "document")
        about = "" if self._is_all_read else "about "
        return f"{self.tagged:,} of {about}{counted(total, 'document')}"

    def _left(self, total: int | None, seconds: float) -> str:
        """The time left; not by rich, which forgets its speed each time that the total is another."""
        if total is None or not self.tagged:
            return "-:--:--"
        return str(timedelta(seconds=round(seconds * (total - self.tagged) / self.tagged)))

    def _total(self) -> int | None:
        """How many documents there are, as far as can be said."""
        if self._is_all_read:
            return self._read
        if not self._is_known or not self._bytes_read:
            return None
        return max(self._read, round(self._read * sum(self._sizes.values()) / self._bytes_read))


class _Numbers(TextColumn):
    """Documents and the time left; of entities, speed and the time so far, what there is room for."""

    def __init__(self, room: int) -> None:
        super().__init__("")
        self._room = room
        self._elapsed = TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        """The longest line that fits."""
        documents, entities, speed, left = (
            task.fields[name] for name in ("documents", "entities", "speed", "left")
        )
        elapsed = self._elapsed.render(task).plain
        lines = (
            f"{documents}, {entities}  {speed}  {elapsed}  {left}",
            f"{documents}, {entities}  {speed}  {left}",
            f"{documents}  {speed}  {left}",
            f"{documents}  {left}",
            f"{task.percentage:.0f} %  {left}",
        )
        return Text(next((line for line in lines if len(line) <= self._room), left))
