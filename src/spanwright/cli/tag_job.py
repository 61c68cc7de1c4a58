"""`spanwright tag` as a job: what the user sees of it, and which engine does it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from spanwright.cli.tag_inputs import STANDARD_STREAM
from spanwright.errors import InputError

if TYPE_CHECKING:
    from spanwright.predicting.jobs.running import Engine, Outcome
    from spanwright.predicting.jobs.shard_tagging import Counts, Tagging
    from spanwright.predicting.jobs.shards import Reading

_INTERRUPTED = 130
"""What shells report of a command that was stopped with Ctrl-C."""
_NOT_WHOLE = 1


@dataclass(frozen=True, slots=True)
class Workforce:
    """Who does a job."""

    engine: Literal["local", "ray"]
    processes: int | None
    address: str | None
    """Of a Ray cluster."""


def tag_job(paths: list[Path], out: str, reading: Reading, tagging: Tagging, workforce: Workforce) -> None:
    """Begin a job or go on with it, with a bar, and a table at the end."""
    from spanwright.predicting.jobs.running import Job, run_job
    from spanwright.predicting.jobs.shards import list_inputs

    if out == STANDARD_STREAM:
        raise InputError(
            "--out: a job needs a folder, in which it can go on after a stop, such as --out tagged/"
        )
    if STANDARD_STREAM in map(str, paths):
        raise InputError("-: standard input cannot be read again after a stop; legal in a job are files")
    job = Job(inputs=list_inputs(paths), reading=reading, tagging=tagging)
    # Paths may hold square brackets and colons, which are no markup and no emoji here.
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    try:
        with _View(console) as view:
            outcome = run_job(job, Path(out), _engine(workforce), view)
    except KeyboardInterrupt:
        console.print(f"stopped; what is finished is in {out}: go on with the same command", soft_wrap=True)
        raise typer.Exit(_INTERRUPTED) from None
    console.print(_table(outcome, view.seconds))
    console.print(f"tagged documents: {Path(out) / 'shards'}", soft_wrap=True)
    _report(outcome, Path(out), console)
    if not outcome.is_whole:
        raise typer.Exit(_NOT_WHOLE)


def _engine(workforce: Workforce) -> Engine:
    if workforce.engine == "ray":
        from spanwright.predicting.jobs.ray_engine import RayEngine

        return RayEngine(workforce.processes, address=workforce.address)
    from spanwright.predicting.jobs.local_engine import LocalEngine

    return LocalEngine(workforce.processes or os.cpu_count() or 1)


class _View:
    """Draws the progress of a job; the share that is done is that of the bytes of the inputs."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[documents]:,} documents"),
            TextColumn("{task.fields[speed]:,.1f} documents/s  {task.fields[words]:,.0f} words/s"),
            TimeElapsedColumn(),
            TextColumn("left {task.fields[left]}"),
            console=console,
        )
        self._task = self._progress.add_task("tag", total=1, documents=0, speed=0.0, words=0.0, left="?")
        self._first: tuple[float, int] | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def seconds(self) -> float:
        """Since the job was begun or taken up again."""
        return time.monotonic() - self._began

    def moved(self, done: int, total: int, counts: Counts) -> None:
        """Move the bar."""
        seconds = max(self.seconds, 1e-9)
        self._progress.update(
            self._task,
            completed=done,
            total=max(total, 1),
            documents=counts.tagged,
            speed=counts.tagged / seconds,
            words=counts.words / seconds,
            left=self._left(done, total),
        )

    def _left(self, done: int, total: int) -> str:
        """The time left by the speed since the first shard: what came before it, earlier runs have done."""
        now = time.monotonic()
        if self._first is None or done == 0:
            self._first = (now, done)
        since, at = self._first
        if done == at:
            return "?"
        minutes, seconds = divmod(int((now - since) * (total - done) / (done - at)), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _table(outcome: Outcome, seconds: float) -> Table:
    counts = outcome.counts
    table = Table("", "", title="job", title_justify="left", show_header=False)
    rows: dict[str, str] = {
        "documents read": f"{counts.read:,}",
        "- tagged": f"{counts.tagged:,}",
        "- failed": f"{counts.failed:,}",
        "- lost with their worker": f"{counts.lost:,}",
        "documents rejected in reading": f"{counts.rejected:,}",
        "inputs not read, or not to their end": f"{counts.unreadable_inputs:,}",
        "entities": f"{counts.entities:,}",
        "words": f"{counts.words:,}",
        "by-products that the format has no place for": f"{counts.left_out:,}",
        "shards of earlier runs": f"{outcome.tagged_before:,}",
        "time of this run": f"{seconds:,.1f} s",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _report(outcome: Outcome, out: Path, console: Console) -> None:
    """Say where problems are told, and what is left to do."""
    if outcome.counts.problems:
        console.print(f"{outcome.counts.problems:,} problems: {out / 'problems.jsonl'}", soft_wrap=True)
    if outcome.lost:
        console.print(
            f"{len(outcome.lost)} shards were lost with their workers: {', '.join(outcome.lost[:5])}; the "
            f"same command tries them again",
            soft_wrap=True,
        )
