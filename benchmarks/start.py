"""What it takes to tag one short text: time to the answer, processor time and memory of a fresh process.

    python benchmarks/start.py exported one.txt --with torch=.venv/bin/spanwright:torch \
        --with graphs=/opt/spanwright/bin/spanwright:onnx-int8 --rounds 7 --json result.json

Each way is a name, a command and a runtime. The ways take turns; the first round warms the caches and is not
counted. Figures are medians. The size of the environment that a command is in is told as well.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from machine import command, machine


def main() -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, help="an exported model directory")
    parser.add_argument("text", type=Path, help="a file with one text")
    parser.add_argument("--with", dest="ways", action="append", required=True, help="NAME=COMMAND:RUNTIME")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    ways = dict(way.split("=", 1) for way in arguments.ways)
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(arguments.rounds + 1):
        for name, way in ways.items():
            program, _, runtime = way.rpartition(":")
            rows[name].append(
                tagged([program, "tag", str(arguments.model), str(arguments.text), "--runtime", runtime])
            )
    result: dict[str, Any] = {"command": command(), "machine": machine(), "rounds": arguments.rounds}
    result["ways"] = {
        name: {key: round(statistics.median(row[key] for row in own[1:]), 3) for key in own[0]}
        | {"environment_megabytes": environment_megabytes(Path(ways[name].rpartition(":")[0]))}
        for name, own in rows.items()
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def tagged(words: list[str]) -> dict[str, float]:
    """Seconds until the first entity stands on standard output, processor seconds and peak memory."""
    began = time.perf_counter()
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert started.stdout is not None
    started.stdout.readline()
    seconds = time.perf_counter() - began
    started.stdout.read()
    _, status, usage = os.wait4(started.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(words)}: ended with {status}")
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
    }


def environment_megabytes(program: Path) -> int:
    """Megabytes of the files of the virtual environment that a command is in."""
    folder = program.absolute().parent.parent
    return round(sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20)


if __name__ == "__main__":
    main()
