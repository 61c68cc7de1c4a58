"""The figures of all workers: each leaves its own in a file now and then, and whoever is asked tells all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path

from spanwright.service.metrics import Metrics

_SECONDS = 1.0
_SAMPLE = re.compile(r"^([\w:]+)(?:\{|(?= ))", re.MULTILINE)


class WorkerFigures:
    """The figures of one of several workers, and of the others as they were a second ago."""

    def __init__(self, metrics: Metrics, folder: Path, number: int) -> None:
        self._metrics = metrics
        self._folder = folder
        self._number = number

    async def keep(self) -> None:
        """Leave them for the others again and again, until cancelled."""
        while True:
            self.leave()
            await asyncio.sleep(_SECONDS)

    def leave(self) -> None:
        """Leave them for the others."""
        partial = self._folder / f"{self._number}.partial"
        partial.write_bytes(_of_worker(self._metrics.text(), self._number))
        partial.rename(self._folder / f"{self._number}.txt")

    def text(self) -> bytes:
        """All figures in the text format of Prometheus, each with its worker."""
        self.leave()
        return _merged(file.read_text("utf-8") for file in sorted(self._folder.glob("*.txt")))


def _of_worker(figures: bytes, number: int) -> bytes:
    """Figures with the number of their worker as a first label."""

    def labelled(found: re.Match[str]) -> str:
        return f'{found[1]}{{worker="{number}"' + ("," if found[0].endswith("{") else "}")

    return _SAMPLE.sub(labelled, figures.decode()).encode()


def _merged(texts: Iterable[str]) -> bytes:
    """One text of several with the same families, whose samples must stand together."""
    families: dict[str, list[str]] = {}
    for text in texts:
        family: list[str] = []
        for line in text.splitlines():
            if line.startswith("# HELP "):
                family = families.setdefault(line.split()[2], [])
            if not line.startswith("#") or line not in family:
                family.append(line)
    return "".join(f"{line}\n" for family in families.values() for line in family).encode()
