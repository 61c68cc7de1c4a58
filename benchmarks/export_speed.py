"""Speed, scores and answers of an exported model by runtime: torch, onnxruntime, and onnxruntime in 8 bits.

    python benchmarks/export_speed.py runs/plain/model --gold test.tsv --json result.json

The runtimes take turns on all documents, in one process and with the same number of threads; tagging is the
whole call, from text to entities. Ratios are the median of those of all rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.predicting.onnx.export import export
from spanwright.predicting.onnx.files import RUNTIMES, Runtime
from spanwright.predicting.onnx.runtimes import (
    confidence_difference,
    random_batches,
    runtime_size,
    tag_in_turns,
)
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document, words


def main() -> None:
    """Export, measure, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, help="a trained model directory")
    parser.add_argument("--gold", type=Path, required=True, help="annotated documents")
    parser.add_argument("--documents", type=int, help="only the first documents")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--shapes", type=int, default=100, help="random shapes of the comparison of confidences"
    )
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    documents = read(arguments.gold).documents[: arguments.documents]
    about = {**machine(), **{name: version(name) for name in ("onnx", "onnxruntime")}}
    result: dict[str, Any] = {"command": command(), "machine": about, "documents": len(documents)}
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "exported"
        export(arguments.model, exported)
        taggers: dict[Runtime, Tagger] = {runtime: load(exported, runtime) for runtime in RUNTIMES}
        result["recipe"] = taggers["torch"].model.settings.name
        result |= shares(taggers["torch"], documents)
        result["runtimes"] = figures(taggers, documents, arguments.rounds, arguments.shapes)
        for runtime, row in result["runtimes"].items():
            row["megabytes"] = round(runtime_size(exported, runtime) / 1e6, 1)
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def figures(
    taggers: dict[Runtime, Tagger], documents: list[Document], rounds: int, shapes: int
) -> dict[str, dict[str, Any]]:
    """What is known of each runtime."""
    count = sum(len(words(document)) for document in documents)
    batches = list(random_batches(taggers["torch"], shapes))
    found, times = tag_in_turns(taggers, documents, rounds)
    rows: dict[str, dict[str, Any]] = {}
    for runtime, tagger in taggers.items():
        ratios = [seconds["torch"] / seconds[runtime] for seconds in times]
        rows[runtime] = {
            "words_per_second": round(count / statistics.median(seconds[runtime] for seconds in times)),
            "times_torch": round(statistics.median(ratios), 3),
            "times_torch_spread": [round(min(ratios), 3), round(max(ratios), 3)],
            "largest_difference": confidence_difference(taggers["torch"], tagger, batches),
            "f1_against_torch": round(100 * evaluate(found["torch"], found[runtime]).micro.f1, 2),
            "f1": round(100 * evaluate(documents, found[runtime]).micro.f1, 2),
        }
    return rows


def shares(tagger: Tagger, documents: list[Document]) -> dict[str, float]:
    """The share of the encoder in the time of tagging with torch."""
    seconds = {"encoder": 0.0}
    hooks = _timed(tagger.model.network.encoder.backbone, "encoder", seconds)
    started = time.perf_counter()
    list(tagger.tag(documents))
    total = time.perf_counter() - started
    for hook in hooks:
        hook.remove()
    return {f"{name}_share_of_torch": round(taken / total, 3) for name, taken in seconds.items()}


def _timed(part: torch.nn.Module, name: str, seconds: dict[str, float]) -> list[Any]:
    """Hooks that add the seconds which a part takes."""

    def before(*_: object) -> None:
        seconds[name] -= time.perf_counter()

    def behind(*_: object) -> None:
        seconds[name] += time.perf_counter()

    return [part.register_forward_pre_hook(before), part.register_forward_hook(behind)]


if __name__ == "__main__":
    main()
