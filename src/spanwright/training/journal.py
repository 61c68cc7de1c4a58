"""The journal of a run: one JSON object a line, only what a rerun would write again.

Wall-clock figures go to `timings.jsonl`, so that two runs with the same settings have equal journals.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


class Journal:
    """Appends lines to `journal.jsonl`; can be cut back to where a checkpoint was taken."""

    def __init__(self, folder: Path, *, size: int = 0) -> None:
        """Open the journal of a run and keep its first `size` bytes."""
        self.path = folder / "journal.jsonl"
        self.timings = folder / "timings.jsonl"
        self.path.touch()
        os.truncate(self.path, size)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self.path.stat().st_size

    def write(self, event: str, **values: Any) -> None:
        """Append one line."""
        _append(self.path, {"event": event, **values})

    def time(self, event: str, **values: Any) -> None:
        """Append one line of wall-clock figures."""
        _append(self.timings, {"event": event, **values})


class Meter:
    """Words per second since the beginning of an epoch."""

    def __init__(self) -> None:
        self.words = 0.0
        self.started = time.perf_counter()

    def add(self, words: float) -> None:
        """Count words that have been trained on, by all processes."""
        self.words += words

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def speed(self) -> float:
        """Words per second."""
        return self.words / self.seconds


def _append(path: Path, values: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(values, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """All lines of a run's journal."""
    with (folder / "journal.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
