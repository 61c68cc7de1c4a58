"""Strict test F1 of a recipe on a corpus with a fixed budget, over several seeds.

    python benchmarks/accuracy.py plain --train train.tsv --dev devel.tsv --test test.tsv \\
        --documents 1800 --epochs 3 --seeds 1 2 3 --json result.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from joining import joined
from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.settings import load_settings
from spanwright.text import Document
from spanwright.training.loop import train


def main() -> None:
    """Train once per seed and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, nargs="+", required=True)
    parser.add_argument("--documents", type=int, help="only the first documents of the training files")
    parser.add_argument("--dev-documents", type=int, help="only the first documents of the dev files")
    parser.add_argument("--join", type=int, default=1, help="make one document of so many neighbouring ones")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--tags", action="store_true", help="score the tagger of a bundled model, too")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    splits = {name: read(*getattr(arguments, name)).documents for name in ("train", "dev", "test")}
    splits["train"] = splits["train"][: arguments.documents]
    splits["dev"] = splits["dev"][: arguments.dev_documents]
    splits = {name: joined(documents, arguments.join) for name, documents in splits.items()}
    runs = [run(arguments, splits, seed) for seed in arguments.seeds]
    scores = [entry["test"]["micro"]["f1"] for entry in runs]
    result = {
        "command": command(),
        "machine": machine(),
        "documents": {name: len(documents) for name, documents in splits.items()},
        "mean_test_f1": statistics.mean(scores),
        "deviation": statistics.stdev(scores) if len(scores) > 1 else None,
        "runs": runs,
    }
    summary = {key: value for key, value in result.items() if key != "runs"}
    print(json.dumps(summary, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def run(arguments: argparse.Namespace, splits: dict[str, list[Document]], seed: int) -> dict[str, Any]:
    """Train with one seed."""
    changes = [f"training.epochs={arguments.epochs}", f"training.seed={seed}", *arguments.changes]
    settings = load_settings(arguments.recipe, changes)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = train(
            settings, train=splits["train"], dev=splits["dev"], test=splits["test"], out=Path(folder) / "run"
        )
        timings = (Path(folder) / "run" / "timings.jsonl").read_text().splitlines()
    scores = {name: entry.to_dict() for name, entry in result.scores.items()}
    if arguments.tags:
        result.model.network.output = "tags"
        tagged = evaluate(splits["test"], result.tag(splits["test"]))
        scores["test_by_tags"] = tagged.to_dict()
        print(f"seed {seed}: test F1 by tags {100 * tagged.micro.f1:.2f}", flush=True)
    print(f"seed {seed}: test F1 {100 * result.scores['test'].micro.f1:.2f}", flush=True)
    return {
        "seed": seed,
        **scores,
        "seconds": round(time.perf_counter() - started, 1),
        "training_words_per_second": [round(json.loads(line)["words_per_second"]) for line in timings],
        "settings": result.model.settings.model_dump(mode="json"),
    }


if __name__ == "__main__":
    main()
