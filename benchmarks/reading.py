"""Megabytes per second of reading corpus files into documents, against a bare loop over their lines.

    python benchmarks/reading.py train.tsv train.pubtator --json result.json

Reading is everything from the path to checked documents with their entities, the format recognised from the
file. The bare loop decodes each line and does nothing with it. Both run in one process, in turns, and the
medians are compared. A megabyte is 10^6 bytes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright.formats.files import read, reader_of

REPEATS = 5


def main() -> None:
    """Measure each file and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="corpus files, in any format")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    header = {"command": command(), "machine": machine(), "repeats": REPEATS}
    row = "{:44} {:11} {:>6} {:>9} {:>8} {:>8} {:>6}"
    print(row.format("file", "format", "MB", "documents", "MB/s", "lines", "ratio"))
    results = [figures(path) for path in arguments.files]
    for each in results:
        speeds = (each["megabytes_per_second"], each["bare_megabytes_per_second"], each["ratio"])
        print(
            row.format(each["file"], each["format"], f"{each['bytes'] / 1e6:.2f}", each["documents"], *speeds)
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(header | {"files": results}, indent=2) + "\n")


def figures(path: Path) -> dict[str, Any]:
    """What one file holds, and how fast it and its bare lines are read."""
    log = read(path).log
    read_lines(path)
    times = [(seconds(read, path), seconds(read_lines, path)) for _ in range(REPEATS)]
    ours, bare = (statistics.median(column) for column in zip(*times, strict=True))
    megabytes = path.stat().st_size / 1e6
    speeds = [megabytes / each for each, _ in times]
    return {
        "file": "/".join(path.parts[-3:]),
        "format": reader_of(path).name,
        "bytes": path.stat().st_size,
        "documents": log.documents_read,
        "entities": log.entities_read,
        "problems": len(log.problems),
        "megabytes_per_second": round(megabytes / ours, 1),
        "megabytes_per_second_spread": [round(min(speeds), 1), round(max(speeds), 1)],
        "bare_megabytes_per_second": round(megabytes / bare, 1),
        "ratio": round(ours / bare, 1),
    }


def read_lines(path: Path) -> None:
    """The bare loop."""
    with path.open(encoding="utf-8") as file:
        for _ in file:
            pass


def seconds(work: Callable[[Path], object], path: Path) -> float:
    """The time that a call takes."""
    started = time.perf_counter()
    work(path)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
