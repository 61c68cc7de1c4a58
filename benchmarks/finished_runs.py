"""The scores of the runs of a comparison that have finished so far, with what a reader needs to repeat them.

    python benchmarks/finished_runs.py compared/recipes-sentences --json sentences.json

A comparison writes its own results when all of its runs are done; this tells of those that are, meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from spanwright.training.journal import read_journal


def main() -> None:
    """Print a row for each recipe and corpus, and write all runs where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("comparison", type=Path, help="the folder of the comparison")
    parser.add_argument("--json", type=Path, help="write the runs here")
    arguments = parser.parse_args()
    runs = [told(file.parent) for file in sorted(arguments.comparison.glob("runs/*/*/seed-*/scores.json"))]
    scores = defaultdict(list)
    for run in runs:
        scores[run["corpus"], run["recipe"]].append(100 * run["test"]["f1"])
    for (corpus, recipe), found in scores.items():
        spread = f" (deviation {statistics.stdev(found):.2f})" if len(found) > 1 else ""
        print(f"{corpus:20} {recipe:20} {statistics.mean(found):6.2f}{spread}, {len(found)} seeds")
    if arguments.json:
        arguments.json.write_text(json.dumps({"runs": runs}, indent=2) + "\n")


def told(folder: Path) -> dict[str, Any]:
    """What a finished run has to tell."""
    scores = json.loads((folder / "scores.json").read_text())
    written = json.loads((folder / "settings.json").read_text())
    settings = written["settings"]
    curve = [line["dev"]["micro"]["f1"] for line in read_journal(folder) if line["event"] == "epoch"]
    return {
        "corpus": folder.parent.parent.name,
        "recipe": settings["name"],
        "seed": settings["training"]["seed"],
        "epochs": settings["training"]["epochs"],
        "encoder": settings["encoder"]["name"],
        **{split: scores[split]["micro"] for split in ("dev", "test")},
        "dev_f1_by_epoch": curve,
        **{key: written.get(key) for key in ("commit", "versions", "threads", "corpora")},
    }


if __name__ == "__main__":
    main()
