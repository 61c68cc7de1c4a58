"""Make the model biomed from its corpora and put it into the package beside this file: `make model`.

    python models/biomed/make.py --corpora ../shared/corpora

1. The splits of ten corpora (`corpora.py`), in `compared/biomed-corpora`.
2. The training (`recipe.toml`), in `runs/biomed`; one that was interrupted goes on.
3. 16-bit weights and 8-bit graph, scores on all test splits, speed, and the model card, in the package.

What is done already is not done again. The tests are scored, and the speed is measured, with the graph that
is shipped: let nothing else run meanwhile. All numbers also go to `results.json`, of which `docs/biomed.md`
has the tables (`benchmarks/biomed/tables.py`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

import spanwright
from corpora import FILES, leaked_ids, read_splits
from spanwright import artifact
from spanwright.corpora.label_map import load_map
from spanwright.corpora.overlap import drop_shared
from spanwright.evaluation import compare_documents, confidence_intervals, score, strict_scores
from spanwright.formats.files import read
from spanwright.model_files.digests import TRAINING_IDS
from spanwright.origin import machine
from spanwright.predicting.onnx.export import export
from spanwright.text import Document, words

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "spanwright_biomed" / "model"
CORPORA = (*FILES, "NLMChem")
Splits = dict[str, tuple[list[Document], list[Document]]]
"""For each corpus its documents for training and for the test."""
LARGEST = 75_000_000
"""Bytes of the package."""


def main() -> None:
    """Do what is left to do."""
    arguments = parsed()
    torch.set_num_threads(arguments.threads)
    if not (arguments.splits / TRAINING_IDS).exists():
        run("models/biomed/corpora.py", "--corpora", arguments.corpora, "--out", arguments.splits)
    if not (arguments.run / "scores.json").exists():
        train(arguments.run)
    originals = read_splits(arguments.corpora / "aioner" / "pubtator", load_map("cvae-ner"))
    check_ids(arguments.splits, originals)
    with TemporaryDirectory(prefix="biomed-") as folder:
        tried = Path(folder) / "tried"
        export(arguments.run / "model", tried, small=True)
        facts = {**told(arguments.splits, originals), **measured(tried, arguments.splits, originals)}
        finished = Path(folder) / "finished"
        model = artifact.load(arguments.run / "model")
        # The other scores of the training are those of the tests, before weights were rounded.
        scored = {"scores": {"dev": model.facts["scores"]["dev"]}}
        artifact.save(replace(model, facts={**model.facts, **scored, **facts}), finished)
        shutil.copy(arguments.splits / TRAINING_IDS, finished)
        export(finished, arguments.out, small=True)
    size = sum(file.stat().st_size for file in arguments.out.iterdir())
    print(f"{arguments.out}: {size / 1e6:.1f} MB")
    if size > LARGEST:
        sys.exit(f"expected at most {LARGEST / 1e6:.0f} MB")
    write_results(arguments.results, facts, size)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with aioner/pubtator")
    parser.add_argument("--splits", type=Path, default=Path("compared/biomed-corpora"))
    parser.add_argument("--run", type=Path, default=Path("runs/biomed"), help="the folder of the training")
    parser.add_argument("--out", type=Path, default=PACKAGE)
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    parser.add_argument("--threads", type=int, default=2, help="with which the speed is measured")
    return parser.parse_args()


def run(*command: object) -> None:
    subprocess.run([sys.executable, *map(str, command)], check=True)


def train(folder: Path) -> None:
    """Train, or go on with a training."""
    resume = ["--resume"] if (folder / "settings.json").exists() else []
    call = ["-m", "spanwright", "train", HERE / "recipe.toml", "--corpora", HERE / "corpora.toml"]
    run(*call, "--out", folder, *resume)


def check_ids(splits: Path, originals: Splits) -> None:
    """Refuse training documents that stand in a test split."""
    ids = json.loads((splits / TRAINING_IDS).read_text(encoding="utf-8"))
    if found := leaked_ids(ids, {name: test for name, (_, test) in originals.items()}):
        sys.exit(f"{len(found)} training documents stand in a test split, such as {found[0]}")


def told(splits: Path, originals: Splits) -> dict[str, Any]:
    """What `about.toml` tells, and what is counted in each corpus."""
    about = tomllib.loads((HERE / "about.toml").read_text(encoding="utf-8"))
    ids = json.loads((splits / TRAINING_IDS).read_text(encoding="utf-8"))
    tests = [document for _, test in originals.values() for document in test]
    for name, corpus in about["corpora"].items():
        _, leaked = drop_shared(originals[name][0], tests)
        corpus |= {"documents": len(ids[name]), "left_out": len(leaked)}
    return about


def measured(folder: Path, splits: Path, originals: Splits) -> dict[str, Any]:
    """Scores on all test splits, and the speed."""
    tagger = spanwright.load(folder)
    tests = {name: read(splits / f"{name}-test.jsonl").documents for name in CORPORA}
    found = {name: scores(tagger.answering(corpus=name), tests[name]) for name in CORPORA}
    others = [document for name, (train, _) in originals.items() if name != "BioRED" for document in train]
    own, _ = drop_shared(tests["BioRED"], others)
    name = f"BioRED, the {len(own)} documents that no other corpus has"
    found[name] = scores(tagger.answering(corpus="BioRED"), own)
    return {"tests": found, "speed": speed(tagger, tests["BC5CDR"])}


def scores(tagger: spanwright.Tagger, gold: Sequence[Document]) -> dict[str, Any]:
    """Micro scores, the interval of F1, and the F1 of each type."""
    comparison = compare_documents(gold, tagger.tag(iter(gold)))
    strict, interval = strict_scores(comparison), confidence_intervals(score(comparison))["f1"]
    types = {name: {"f1": counts.f1, "gold": counts.gold} for name, counts in strict.per_type.items()}
    print(f"{100 * interval.value:.2f} on {len(gold)} documents", flush=True)
    return {
        "documents": len(gold),
        **strict.micro.to_dict(),
        "interval": [interval.low, interval.high],
        "types": types,
    }


def speed(tagger: spanwright.Tagger, documents: Sequence[Document]) -> dict[str, Any]:
    """Words per second from text to entities, the best of three times."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        list(tagger.tag(document.text for document in documents))
        seconds.append(time.perf_counter() - started)
    count = sum(len(words(document)) for document in documents)
    return {
        "words_per_second": count / min(seconds),
        "threads": torch.get_num_threads(),
        "machine": machine()["processor"],
    }


def write_results(path: Path, facts: dict[str, Any], size: int) -> None:
    values = {key: facts[key] for key in ("corpora", "tests", "speed")} | {"bytes": size}
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
