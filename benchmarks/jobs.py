"""Speed, memory and restarts of tagging jobs: one process beside two, and a job that is killed many times.

    python benchmarks/jobs.py runs/plain/model --documents 100000 --kills 10 --json result.json

Documents are those of the built-in sample, over and over, each time with other letters changed, in files of a
thousand. Jobs of one process and of two, each process with one thread, take turns: the ratio is that of the
medians of words per second, which count from the first finished shard to the last, so that loading the model
is left out. Memory is that of the job with all of its processes, its private part and the shared part once.

With `--kills`, one more job gets so many SIGKILLs at random moments, and its folder is compared byte for byte
with that of the first job.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright import sample
from spanwright.formats.files import read, write
from spanwright.perturbing import perturb
from spanwright.text import Document

_START = "from spanwright.cli.main import main; main()"
_FILE_DOCUMENTS = 1000
_PAUSE = 0.5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--documents", type=int, default=20_000, help="documents to tag")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="jobs to compare")
    parser.add_argument("--turns", type=int, default=3, help="turns of the jobs")
    parser.add_argument("--kills", type=int, default=0, help="kill -9 of one more job, at random moments")
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--folder", type=Path, help="for inputs and jobs; a temporary one unless given")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"command": command(), "machine": machine(), "documents": arguments.documents}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        result["megabytes_of_inputs"] = round(make_inputs(folder / "in", arguments.documents) / 1e6, 1)
        result |= turns(folder, arguments)
        if arguments.kills:
            result["kills"] = killed_job(folder, arguments, max(result["jobs"][0]["seconds"]))
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def make_inputs(folder: Path, documents: int) -> int:
    """Write so many documents; the size of their files."""
    made = islice(perturbed(), documents)
    for number in count():
        part = list(islice(made, _FILE_DOCUMENTS))
        if not part:
            break
        write(part, folder / f"{number:06}.jsonl")
    return sum(file.stat().st_size for file in folder.iterdir())


def perturbed() -> Iterator[Document]:
    """The documents of the sample without their entities, again and again, with other typing errors."""
    texts = [document.with_entities(()) for document in read(*sample.files().values()).documents]
    for turn in count():
        for document in perturb(texts, "typos", seed=turn):
            yield replace(document, id=f"{turn}-{document.id}")


@dataclass
class Watched:
    """What was seen of a job while it ran."""

    seconds: float = 0.0
    code: int = 0
    shards: list[tuple[float, int]] = field(default_factory=list)
    """Time, and how many shards were finished."""
    megabytes: list[float] = field(default_factory=list)


def turns(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Jobs of each number of processes, one after another, several times."""
    runs: dict[int, list[dict[str, Any]]] = {processes: [] for processes in arguments.processes}
    for turn in range(arguments.turns):
        for processes in runs:
            out = folder / f"job-{processes}"
            shutil.rmtree(out, ignore_errors=True)
            watched = watch(folder, out, processes, arguments)
            if watched.code:
                raise SystemExit(f"a job of {processes} processes ended with {watched.code}")
            runs[processes].append(figures(out, watched))
            print(f"turn {turn + 1}, {processes} processes: {runs[processes][-1]}", file=sys.stderr)
    speeds = {
        processes: statistics.median(run["words_per_second"] for run in found)
        for processes, found in runs.items()
    }
    first = arguments.processes[0]
    folders = [content(folder / f"job-{processes}") for processes in runs]
    return {
        "jobs": [summarised(processes, found) for processes, found in runs.items()],
        "ratios": {str(processes): round(speed / speeds[first], 3) for processes, speed in speeds.items()},
        "same_bytes": all(each == folders[0] for each in folders),
    }


def watch(folder: Path, out: Path, processes: int, arguments: argparse.Namespace) -> Watched:
    """Run a job to its end, and look at it twice a second."""
    watched, began = Watched(), time.perf_counter()
    process = start(folder, out, processes, arguments)
    while process.poll() is None:
        watched.shards.append((time.perf_counter(), finished_shards(out)))
        watched.megabytes.append(memory(process.pid))
        time.sleep(_PAUSE)
    watched.shards.append((time.perf_counter(), finished_shards(out)))
    watched.seconds, watched.code = time.perf_counter() - began, process.returncode
    return watched


def start(folder: Path, out: Path, processes: int, arguments: argparse.Namespace) -> subprocess.Popen[bytes]:
    """The command, as a process of its own."""
    options = ["--processes", str(processes), "--threads", "1", "--engine", arguments.engine]
    call = ["job", arguments.model, str(folder / "in"), "--out", str(out), *options]
    return subprocess.Popen([sys.executable, "-c", _START, *call], stderr=subprocess.DEVNULL)


def finished_shards(out: Path) -> int:
    """How many shards a job has finished."""
    records = out / "done" / "shards"
    return sum(1 for file in os.scandir(records) if file.name[0] != ".") if records.is_dir() else 0


def memory(process: int) -> float:
    """Megabytes of a process and all it has started: shared parts count once."""
    total = 0
    for each in (process, *descendants(process)):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return round(total / 1024, 1)


def descendants(process: int) -> Iterator[int]:
    """The processes that a process has started, and theirs."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(each) for each in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from descendants(child)


def figures(out: Path, watched: Watched) -> dict[str, Any]:
    """Speed of a job between its first shard and its last, and its memory in fifths of its time."""
    summary = json.loads((out / "summary.json").read_text())
    working = [(moment, shards) for moment, shards in watched.shards if shards]
    (began, before), (ended, after) = working[0], working[-1]
    share = (after - before) / after
    seconds = max(ended - began, 1e-9)
    size = max(1, len(watched.megabytes) // 5)
    parts = [watched.megabytes[first : first + size] for first in range(0, len(watched.megabytes), size)]
    return {
        "seconds": round(watched.seconds, 1),
        "documents_per_second": round(summary["documents"]["tagged"] * share / seconds, 1),
        "words_per_second": round(summary["words"] * share / seconds),
        "megabytes_over_time": [max(part) for part in parts],
        "peak_megabytes": max(watched.megabytes, default=0.0),
    }


def summarised(processes: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The turns of a job side by side."""
    return {"processes": processes, **{name: [run[name] for run in runs] for name in runs[0]}}


def killed_job(folder: Path, arguments: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """Kill a job at random moments, so many times unless it ends before, and let it end."""
    generator, out, kills = random.Random(arguments.kills), folder / "killed", 0
    processes = arguments.processes[-1]
    while True:
        process = start(folder, out, processes, arguments)
        wanted = generator.uniform(0, 1.5 * seconds / arguments.kills) if kills < arguments.kills else None
        try:
            process.wait(timeout=wanted)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    whole = content(folder / f"job-{arguments.processes[0]}")
    return {
        "done": kills,
        "exit_code": process.returncode,
        "same_bytes": content(out) == whole,
        "documents": json.loads((out / "summary.json").read_text())["documents"],
    }


def content(folder: Path) -> dict[str, str]:
    """The digest of every file of a job."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


if __name__ == "__main__":
    main()
