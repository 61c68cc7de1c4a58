"""Losses of one and of two processes that train the same recipe on the shipped sample, and those of a run
that goes on in one process where two have left it.

    python benchmarks/processes.py plain --json result.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright import sample
from spanwright.evaluation import Scores
from spanwright.formats.files import read
from spanwright.settings import load_settings
from spanwright.training.loop import train
from spanwright.training.processes import is_first_process
from spanwright.training.setup import Setup

_COMPARED = 20
"""Steps whose losses are held against each other."""


def main() -> None:
    """Train with one process, with two, and with two and then one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--documents", type=int, help="only the first documents of the sample's train")
    parser.add_argument("--dev-documents", type=int, default=20)
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the result here")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stop", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder is not None:
        work(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        result = {"command": command(), "machine": machine(), **measured(Path(folder))}
    print(json.dumps({key: value for key, value in result.items() if key != "losses"}, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def measured(folder: Path) -> dict[str, Any]:
    """Losses of the three trainings and how far they are from each other."""
    started = time.perf_counter()
    one = launched(folder / "one", processes=1)
    between = time.perf_counter()
    two = launched(folder / "two", processes=2)
    seconds = {"one": round(between - started, 1), "two": round(time.perf_counter() - between, 1)}
    half = len(one) // 2
    # The checkpoint lies before the step at which it stops, so that some steps are made a second time.
    before = launched(folder / "cut", "--stop", str(half + 2), processes=2)
    behind = launched(folder / "cut", processes=1)
    kept = len(one) - len(behind)
    resumed = before[:kept] + behind
    return {
        "steps": len(one),
        "largest_difference_of_the_first_20_losses": largest_difference(one[:_COMPARED], two[:_COMPARED]),
        "largest_difference_of_all_losses": largest_difference(one, two),
        "resumed_in_one_process_behind_step": kept,
        "largest_difference_when_resumed": largest_difference(one, resumed),
        "seconds": seconds,
        "words_per_second": {name: speed(folder / name) for name in ("one", "two")},
        "losses": {"one": one, "two": two, "two_then_one": resumed},
    }


def launched(run: Path, *more: str, processes: int) -> list[float]:
    """The losses of a training in so many processes; this script is what they run."""
    launcher = (
        ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        if processes > 1
        else []
    )
    told = run.with_suffix(".json")
    told.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, *launcher, *sys.argv, "--folder", str(run), *more], capture_output=True, text=True
    )
    # A training that is told to stop leaves its processes as an interrupted one does: with an error.
    if not told.exists() or (done.returncode and not more):
        raise SystemExit(f"the training in {processes} processes failed:\n{done.stderr}")
    losses: list[float] = json.loads(told.read_text())
    return losses


def work(arguments: argparse.Namespace) -> None:
    """What each of the processes does; the first leaves the losses beside the run."""
    files, documents = sample.files(), {"train": arguments.documents, "dev": arguments.dev_documents}
    splits = {name: read(files[name]).documents[:count] for name, count in documents.items()}
    usual = ["training.epochs=1", "training.batch_windows=4", "training.accumulate=2"]
    settings = load_settings(arguments.recipe, [*usual, "training.checkpoint_steps=5", *arguments.changes])
    watcher = Losses(arguments.stop)
    resume = (arguments.folder / "settings.json").exists()
    try:
        train(
            settings,
            train=splits["train"],
            dev=splits["dev"],
            out=arguments.folder,
            resume=resume,
            watcher=watcher,
        )
    finally:
        if is_first_process():
            arguments.folder.with_suffix(".json").write_text(json.dumps(watcher.losses))


class Losses:
    """Remembers the losses of a training, and may stop it."""

    def __init__(self, stop: int | None) -> None:
        self.stop = stop
        self.losses: list[float] = []

    def prepared(self, setup: Setup) -> None:
        """Ignore."""

    def warned(self, message: str) -> None:
        """Ignore."""

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        """Note the loss of a step."""
        self.losses.append(loss)
        if len(self.losses) == self.stop:
            raise SystemExit(1)

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        """Ignore."""


def largest_difference(left: list[float], right: list[float]) -> float:
    """Of the losses of two trainings, step by step."""
    return max(abs(one - other) for one, other in zip(left, right, strict=True))


def speed(run: Path) -> list[int]:
    """Words per second of each epoch, by all processes."""
    lines = (run / "timings.jsonl").read_text().splitlines()
    return [round(json.loads(line)["words_per_second"]) for line in lines]


if __name__ == "__main__":
    main()
