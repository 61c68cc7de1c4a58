"""Choosing what to annotate, simulated: how much of a corpus do strategies need for nearly the full F1?

    OMP_NUM_THREADS=1 python benchmarks/selection.py ../shared/corpora --out runs/selection
    python benchmarks/selection_report.py     # the table and the plot, from what is there

An annotator who labels perfectly starts with 5 % of the training sentences, drawn at random. In each round a
model is trained on what is annotated, and `spanwright select` chooses the next 5 % of the sentences by one
strategy. F1 is strict, on test sentences; dev sentences calibrate, and are not counted as annotated. A curve
ends when it reaches 95 % of the F1 that all sentences give, or at 50 % of them.

The model is `plain` with a tagger beside it (`auxiliaries.tagger.kind=softmax`), so that all strategies,
disagreement too, choose with and for the same kind of model. Each round is trained from the encoder for 8
epochs, as is the model of all sentences, and for more where these were fewer than 800 sentences; the last
epoch is taken. Going on from the round before (`train --from`, 2 epochs) would cost a third, but was worse:
with 800 of 1,600 sentences of NCBI disease, drawn at random, its F1 was 0.75 after ten rounds, and 0.78 from
the encoder (one seed).

So that the whole takes some 3.5 hours of one core, a corpus is its first 1,200 training, 100 dev and 500
test sentences, and everything but dev is computed in bf16.

Each finished round is a line of `--json`; the command goes on where it was stopped. Random and the default
strategy come first, at all seeds, then the others corpus by corpus.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.predicting.tagger import load as load_tagger
from spanwright.selecting.choosing import Strategy, drawn
from spanwright.selecting.select import select
from spanwright.text import Document, words
from spanwright.training.loop import train

CORPORA = {
    "ncbi_disease": ("ncbi_disease/iob/train.tsv", "ncbi_disease/iob/devel.tsv", "ncbi_disease/iob/test.tsv"),
    "genia": ("genia/jsonl/train.jsonl", "genia/jsonl/dev.jsonl", "genia/jsonl/test.jsonl"),
}
SEEDS = (1, 2, 3)
FIRST: tuple[Strategy, ...] = ("random", "mixed")
REST: tuple[Strategy, ...] = ("uncertainty", "novelty", "disagreement")
ORDER = [
    *product(SEEDS, CORPORA, FIRST),
    *((seed, corpus, by) for corpus, seed, by in product(CORPORA, SEEDS, REST)),
]
RESULTS = Path("benchmarks/results/selection.jsonl")
FULL = "full"
ROUNDS, SHARE, GOAL = 10, 0.05, 0.95
EPOCHS, FEWEST_PASSES = 8, 800
NEVER = 1_000_000
SETTINGS = {
    "training.precision": "bf16",
    "training.score_steps": NEVER,  # only after the last epoch, whose model is the one that is kept
    "auxiliaries.tagger.kind": "softmax",
}


@dataclass(frozen=True)
class Data:
    """The sentences of a corpus that are used."""

    name: str
    pool: list[Document]
    dev: list[Document]
    test: list[Document]


@dataclass(frozen=True)
class Simulation:
    """One corpus and one seed, with a folder for models and a file for results."""

    data: Data
    seed: int
    folder: Path
    results: Path

    def full_f1(self) -> float:
        """The F1 of training on everything."""
        known = [line["f1"] for line in lines(self.results, self.data.name, self.seed, FULL)]
        if known:
            return float(known[0])
        started = time.process_time()
        self._train(self.data.pool, self.folder / FULL)
        f1 = self._note(FULL, 0, self.data.pool, self.folder / FULL, started)
        shutil.rmtree(self.folder / FULL)
        return f1

    def run(self, by: Strategy, goal: float) -> None:
        """All rounds of a strategy, from where it was stopped."""
        done = list(lines(self.results, self.data.name, self.seed, by))
        while len(done) < ROUNDS and not (done and done[-1]["f1"] >= goal):
            self._round(by, len(done) + 1)
            done = list(lines(self.results, self.data.name, self.seed, by))
        shutil.rmtree(self.folder / by, ignore_errors=True)

    def _round(self, by: Strategy, number: int) -> None:
        started = time.process_time()
        folder, before = self._folder(by, number), self._folder(by, number - 1)
        if not (folder / "annotated.json").exists():
            chosen = self._annotated(by, before if number > 1 else None)
            self._train(chosen, folder)
            # Written last: it says that the round is trained.
            (folder / "annotated.json").write_text(json.dumps([each.id for each in chosen]))
        self._note(by, number, self._trained_on(folder), folder, started)
        if number > 2:  # the first round is that of the other strategies, too
            shutil.rmtree(before)

    def _folder(self, by: Strategy, number: int) -> Path:
        """The first round is the same for all strategies."""
        return self.folder / (by if number > 1 else "start") / f"round-{number}"

    def _trained_on(self, folder: Path) -> list[Document]:
        """The sentences that the model of a round was trained on."""
        ids = set(json.loads((folder / "annotated.json").read_text()))
        return [each for each in self.data.pool if each.id in ids]

    def _annotated(self, by: Strategy, before: Path | None) -> list[Document]:
        """The sentences of the next round: those of the one before it, and as many as a round adds."""
        count = round(SHARE * len(self.data.pool))
        if before is None:
            return drawn(self.data.pool, count, self.seed)
        known = self._trained_on(before)
        ids = {each.id for each in known}
        rest = [each for each in self.data.pool if each.id not in ids]
        tagger = load_tagger(before / "model", "torch", precision="bf16")
        new = select(tagger, rest, count=count, by=by, annotated=known, seed=self.seed)
        ids |= {each.id for each in new}
        return [each for each in self.data.pool if each.id in ids]

    def _train(self, chosen: list[Document], folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        epochs = max(EPOCHS, -(-FEWEST_PASSES // len(chosen)))
        changes = SETTINGS | {"training.epochs": epochs, "training.seed": self.seed}
        train("plain", train=chosen, dev=self.data.dev, out=folder, set=changes)
        shutil.rmtree(folder / "checkpoints")

    def _note(self, by: str, number: int, chosen: Sequence[Document], folder: Path, started: float) -> float:
        """Write the line of a round; its F1."""
        tagger = load_tagger(folder / "model", "torch", precision="bf16")
        f1 = float(evaluate(self.data.test, list(tagger.tag(iter(self.data.test)))).micro.f1)
        line = {
            "corpus": self.data.name,
            "seed": self.seed,
            "strategy": by,
            "round": number,
            "sentences": len(chosen),
            "share": round(len(chosen) / len(self.data.pool), 4),
            "words_share": round(count_words(chosen) / count_words(self.data.pool), 4),
            "entities_share": round(count_entities(chosen) / count_entities(self.data.pool), 4),
            "f1": round(f1, 4),
            "core_seconds": round(time.process_time() - started, 1),
        }
        with self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return f1


def count_words(documents: Iterable[Document]) -> int:
    """The words of some sentences."""
    return sum(len(words(document)) for document in documents)


def count_entities(documents: Iterable[Document]) -> int:
    """The entities of some sentences."""
    return sum(len(document.entities) for document in documents)


def lines(results: Path, *keys: object) -> Iterator[dict[str, Any]]:
    """The lines of a corpus, a seed and a strategy (or of fewer of these), in their order."""
    if results.exists():
        for text in results.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if "corpus" in line and (line["corpus"], line["seed"], line["strategy"])[: len(keys)] == keys:
                yield line


def load(folder: Path, name: str, sizes: Sequence[int]) -> Data:
    """The first sentences of train, dev and test."""
    pool, dev, test = (
        read(folder / file).documents[:size] for file, size in zip(CORPORA[name], sizes, strict=True)
    )
    return Data(name, pool, dev, test)


def main() -> None:
    """Simulate what is not in the results yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with ncbi_disease/ and genia/")
    parser.add_argument("--out", type=Path, required=True, help="folder for models on the way")
    parser.add_argument("--json", type=Path, default=RESULTS, help="results, a line for each round")
    parser.add_argument("--sentences", type=int, nargs=3, default=(1200, 100, 500), help="train, dev, test")
    arguments = parser.parse_args()
    if not arguments.json.exists():
        head = {"command": command(), "machine": machine(), "settings": SETTINGS}
        arguments.json.write_text(json.dumps(head) + "\n", encoding="utf-8")
    with locked_folder(arguments.out):  # a second process would remove what this one trains
        for seed, corpus, by in ORDER:
            data = load(arguments.corpora, corpus, arguments.sentences)
            simulation = Simulation(data, seed, arguments.out / f"{corpus}-{seed}", arguments.json)
            simulation.run(by, GOAL * simulation.full_f1())


if __name__ == "__main__":
    main()
