"""What the user sees of `spanwright tag`: how much is done, how fast, and how much is left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from spanwright.formats.io.opening import bytes_read
from spanwright.text import Document
from spanwright.text.words import iter_words


class TaggingView:
    """A bar of documents. How many there are is exact when all are read, and before by the share of bytes."""

    def __init__(self, paths: Sequence[Path], *, console: Console | None = None) -> None:
        """`paths` are the inputs; one that is no file, such as standard input, leaves the number open."""
        self._sizes = {path: path.stat().st_size for path in paths if path.is_file()}
        self._is_known = len(self._sizes) == len(set(paths))
        self._read, self._bytes_before, self._bytes_read, self._is_all_read = 0, 0, 0, False
        self.tagged, self._entities, self._words = 0, 0, 0
        self._began = time.monotonic()
        self._progress = Progress(
            BarColumn(),
            TextColumn(
                "{task.completed:,.0f}{task.fields[of]} documents, {task.fields[entities]:,} entities"
            ),
            TextColumn("{task.fields[speed]:,.0f} words/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._progress.add_task("tag", total=None, of="", entities=0, speed=0.0)

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
        about = "" if self._is_all_read else "about "
        self._progress.update(
            self._task,
            completed=self.tagged,
            total=total,
            of="" if total is None else f" of {about}{total:,}",
            entities=self._entities,
            speed=self._words / seconds,
        )

    def _total(self) -> int | None:
        """How many documents there are, as far as can be said."""
        if self._is_all_read:
            return self._read
        if not self._is_known or not self._bytes_read:
            return None
        return max(self._read, round(self._read * sum(self._sizes.values()) / self._bytes_read))
