"""Train biomed without one of its corpora, and score it on that corpus: F1 on a corpus that it never saw.

    python benchmarks/biomed/left_out.py --out compared/biomed-left-out

A training that was interrupted goes on, and one that is done is not done again. Scores are strict, of the
types that the corpus has, answered as another corpus would: BioRED, or those in `ANSWERING`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

import spanwright
from spanwright.evaluation import compare_documents, confidence_intervals, score, strict_scores
from spanwright.formats.files import read
from spanwright.text import Document, Entity

BIOMED = Path("models/biomed")
LEFT_OUT = ("BC5CDR", "NCBIdisease", "BioRED", "NLMGene", "SPECIES800")
TARGET = "BioRED"
ANSWERING = {
    "BioRED": {
        "tmVar3": ("Gene", "Species", "Variant", "CellLine"),
        "BC5CDR": ("Disease", "Chemical"),
    }
}
"""Who answers which types where the target itself is left out."""


def main() -> None:
    """Train and score, one corpus after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=Path, default=Path("compared/biomed-corpora"))
    parser.add_argument("--out", type=Path, default=Path("compared/biomed-left-out"))
    parser.add_argument("--results", type=Path, default=Path("docs/results/biomed/left-out.json"))
    parser.add_argument("--only", nargs="*", default=LEFT_OUT, choices=LEFT_OUT)
    parser.add_argument("--set", action="append", default=[], help="a setting as key=value")
    arguments = parser.parse_args()
    for corpus in arguments.only:
        folder = arguments.out / corpus
        train(corpus, folder, arguments.set)
        gold = read(arguments.splits / f"{corpus}-test.jsonl").documents
        add_result(arguments.results, corpus, scores(folder / "model", corpus, gold))


def train(corpus: str, folder: Path, changes: list[str]) -> None:
    """Train on the other corpora."""
    if (folder / "scores.json").exists():
        return
    file = folder.with_suffix(".toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(tomli_w.dumps(corpora_without(corpus)), encoding="utf-8")
    resume = ["--resume"] if (folder / "settings.json").exists() else []
    options = [part for change in changes for part in ("--set", change)]
    call = ["train", BIOMED / "recipe.toml", "--corpora", file, "--out", folder, *options, *resume]
    subprocess.run([sys.executable, "-m", "spanwright", *map(str, call)], check=True)


def corpora_without(corpus: str) -> dict[str, Any]:
    """The corpora of biomed without one."""
    values = tomllib.loads((BIOMED / "corpora.toml").read_text(encoding="utf-8"))
    del values["corpora"][corpus]
    if values["target"] == corpus:
        values["target"] = next(iter(answering(corpus)))
    return values


def answering(corpus: str) -> dict[str, tuple[str, ...]]:
    """By corpus, the types that it answers; all for an empty tuple."""
    return ANSWERING.get(corpus, {TARGET: ()})


def scores(model: Path, corpus: str, gold: list[Document]) -> dict[str, Any]:
    """How well a model does on a corpus that it never saw."""
    tagger, marked = spanwright.load(model), {each.type for document in gold for each in document.entities}
    found: list[tuple[Entity, ...]] = [() for _ in gold]
    for name, types in answering(corpus).items():
        answers = tagger.answering(corpus=name).tag(iter(gold))
        for place, answer in enumerate(answers):
            wanted = marked & set(types) if types else marked
            found[place] += tuple(each for each in answer.entities if each.type in wanted)
    predicted = (
        replace(document, entities=own, relations=()) for document, own in zip(gold, found, strict=True)
    )
    comparison = compare_documents(gold, predicted)
    interval = confidence_intervals(score(comparison))["f1"]
    micro = strict_scores(comparison).micro
    print(f"{corpus}, never seen: {100 * micro.f1:.2f}", flush=True)
    return {**micro.to_dict(), "documents": len(gold), "interval": [interval.low, interval.high]}


def add_result(path: Path, corpus: str, values: dict[str, Any]) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**known, corpus: values}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
