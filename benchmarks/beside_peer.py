"""Words per second of a recipe divided by those of a peer, both measured in turns on one machine.

    python benchmarks/beside_peer.py plain --train train.tsv --test test.tsv --documents 1800 \\
        --peer ../peer-venv/bin/python peers/hf_tokcls.py --lr 2e-4 --epochs 1

The peer is a driver that writes RESULTS/*.json with `train.words_per_wall_s` and `infer.words_per_wall_s`,
run in an environment of its own; everything behind `--peer` is its command.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from machine import machine


def main() -> None:
    """Alternate the two and print the ratios of the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--train", required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer", nargs=argparse.REMAINDER, required=True)
    arguments = parser.parse_args()
    about = machine()
    rounds = [(ours(arguments), peer(arguments)) for _ in range(arguments.rounds)]
    result: dict[str, Any] = {"machine": about, "recipe": arguments.recipe, "peer": arguments.peer[1:]}
    result["documents"] = arguments.documents
    for name in ("training", "tagging"):
        columns = list(zip(*((mine[name], theirs[name]) for mine, theirs in rounds), strict=True))
        medians = [statistics.median(column) for column in columns]
        result[f"{name}_words_per_second"] = {"ours": columns[0], "peer": columns[1]}
        result[f"{name}_ratio"] = round(medians[0] / medians[1], 3)
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")


def ours(arguments: argparse.Namespace) -> dict[str, float]:
    """One measurement of the recipe, in a process of its own."""
    script = str(Path(__file__).with_name("throughput.py"))
    command = [sys.executable, script, arguments.recipe, "--train", arguments.train, "--test", arguments.test]
    output = _run([*command, "--documents", str(arguments.documents)], {})
    speeds: dict[str, float] = json.loads(output.splitlines()[-1])
    return speeds


def peer(arguments: argparse.Namespace) -> dict[str, float]:
    """One measurement of the peer."""
    with tempfile.TemporaryDirectory() as folder:
        extra = {"RESULTS": folder, "SCRATCH": f"{folder}/scratch", "SUBSET": str(arguments.documents)}
        _run(arguments.peer, extra)
        found = json.loads(next(Path(folder).glob("*.json")).read_text())
    return {
        "training": found["train"]["words_per_wall_s"],
        "tagging": found["infer"]["words_per_wall_s"],
    }


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
