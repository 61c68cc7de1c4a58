"""Choosing what to annotate, simulated: how much of a corpus do strategies need for nearly the full F1?

    python benchmarks/selection.py ../shared/corpora --out runs --json selection.jsonl
    python benchmarks/selection.py ../shared/corpora --out runs --json selection.jsonl --report selection.svg

The first command simulates, and goes on where it was stopped; the second prints the table and draws the plot
of what is there, and simulates nothing. The whole takes some 110 minutes of one core (bf16; see ESTIMATE
below for what that is made of). Seeds come one after another, so that two thirds are a result, too.

An annotator who labels perfectly starts with 5 % of the training sentences, drawn at random. In each round a
model is trained on what is annotated, and `spanwright select` chooses the next 5 % of the sentences by one
strategy. The model is `plain` with a tagger beside it (`auxiliaries.tagger.kind=softmax`), so that all
strategies, disagreement too, choose with and for the same kind of model. It goes on from the weights of the
round before (`train --from`) for 3 epochs, at first for more, so that each round has 600 sentences or more
to learn from. The full F1 is that of 8 epochs on all sentences, from the encoder. F1 is strict, on test
sentences; dev sentences choose the epoch and calibrate, and are not counted as annotated.

A run ends when 95 % of the full F1 were reached in two rounds in a row, or at 60 % of the sentences.
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

import numpy as np

from machine import command, machine
from spanwright import artifact
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.selecting.choosing import STRATEGIES, Strategy
from spanwright.selecting.select import select
from spanwright.text import Document, words
from spanwright.training.loop import train

ESTIMATE = "6 full models of 9,600 sentences at 14 ms, and 30 runs of some 8 rounds at 25 seconds"
CORPORA = {
    "ncbi_disease": ("ncbi_disease/iob/train.tsv", "ncbi_disease/iob/devel.tsv", "ncbi_disease/iob/test.tsv"),
    "genia": ("genia/jsonl/train.jsonl", "genia/jsonl/dev.jsonl", "genia/jsonl/test.jsonl"),
}
FULL, FULL_EPOCHS = "full", 8
STEP, LAST, GOAL = 0.05, 0.60, 0.95
EPOCHS, FEWEST_PASSES = 3, 600
SETTINGS = {"training.precision": "bf16", "auxiliaries.tagger.kind": "softmax"}


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
        for line in lines(self.results, self.data.name, self.seed, FULL):
            return float(line["f1"])
        started = time.perf_counter()
        model = self._trained(self.data.pool, self.folder / FULL, None, FULL_EPOCHS)
        shutil.rmtree(self.folder / FULL)
        return self._note(FULL, 0, self.data.pool, model, started)

    def run(self, by: Strategy, full: float) -> None:
        """All rounds of a strategy, from where it was stopped."""
        folder = self.folder / by
        done = list(lines(self.results, self.data.name, self.seed, by))
        annotated = {id for line in done for id in line["new"]}
        count = round(STEP * len(self.data.pool))
        for round_ in range(len(done) + 1, round(LAST / STEP) + 1):
            if is_over([line["f1"] for line in done], full):
                break
            started = time.perf_counter()
            before = self._folder(by, round_ - 1) / "model"
            new = self._chosen(annotated, count, by, before if round_ > 1 else None)
            annotated |= {each.id for each in new}
            chosen = [each for each in self.data.pool if each.id in annotated]
            passes = max(EPOCHS, -(-FEWEST_PASSES // len(chosen)))
            model = self._round(chosen, self._folder(by, round_), before if round_ > 1 else None, passes)
            self._note(by, round_, chosen, model, started, new)
            done = list(lines(self.results, self.data.name, self.seed, by))
            if round_ > 2:
                shutil.rmtree(self._folder(by, round_ - 1), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, by: Strategy, round_: int) -> Path:
        """The first round is the same for all strategies."""
        return self.folder / (by if round_ > 1 else "start") / f"round-{round_}"

    def _chosen(self, annotated: set[str], count: int, by: Strategy, model: Path | None) -> list[Document]:
        """The sentences to annotate next; the first ones are drawn."""
        rest = [each for each in self.data.pool if each.id not in annotated]
        if model is None:
            places = np.random.default_rng(self.seed).permutation(len(rest))[:count]
            return [rest[place] for place in places]
        known = [each for each in self.data.pool if each.id in annotated]
        chosen = select(
            Tagger(artifact.load(model)), rest, count=count, by=by, annotated=known, seed=self.seed
        )
        ids = {each.id for each in chosen}
        return [each for each in rest if each.id in ids]

    def _round(self, chosen: list[Document], folder: Path, before: Path | None, epochs: int) -> Tagger:
        if (folder / "finished").exists():
            return Tagger(artifact.load(folder / "model"))
        shutil.rmtree(folder, ignore_errors=True)
        model = self._trained(chosen, folder, before, epochs)
        (folder / "finished").touch()
        return model

    def _trained(self, chosen: list[Document], folder: Path, before: Path | None, epochs: int) -> Tagger:
        shutil.rmtree(folder, ignore_errors=True)
        return train(
            "plain",
            train=chosen,
            dev=self.data.dev,
            out=folder,
            start_from=before,
            set=SETTINGS | {"training.epochs": epochs, "training.seed": self.seed},
        )

    def _note(
        self,
        by: str,
        round_: int,
        chosen: list[Document],
        model: Tagger,
        started: float,
        new: Sequence[Document] = (),
    ) -> float:
        """Write the line of a round; its F1."""
        scores = evaluate(self.data.test, list(model.tag(iter(self.data.test))))
        f1 = float(scores.micro.f1)
        line = {
            "corpus": self.data.name,
            "seed": self.seed,
            "strategy": by,
            "round": round_,
            "sentences": len(chosen),
            "share": len(chosen) / len(self.data.pool),
            "words_share": count_words(chosen) / count_words(self.data.pool),
            "f1": f1,
            "seconds": round(time.perf_counter() - started, 1),
            "new": sorted(each.id for each in new),
        }
        with self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(
            *(f"{key}={line[key]}" for key in ("corpus", "seed", "strategy", "round", "f1", "seconds")),
            flush=True,
        )
        return f1


def count_words(documents: Iterable[Document]) -> int:
    return sum(len(words(document)) for document in documents)


def is_over(f1: Sequence[float], full: float) -> bool:
    """Whether the goal was reached in two rounds in a row."""
    return len(f1) > 1 and min(f1[-2:]) >= GOAL * full


def lines(results: Path, *keys: object) -> Iterator[dict[str, Any]]:
    """The lines of a corpus, a seed and a strategy (or of fewer of these), in their order."""
    if results.exists():
        for text in results.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if (line.get("corpus"), line.get("seed"), line.get("strategy"))[: len(keys)] == keys:
                yield line


def load(folder: Path, name: str, sentences: int, dev: int, test: int) -> Data:
    pool, developed, tested = (read(folder / file).documents for file in CORPORA[name])
    return Data(name, pool[:sentences], developed[:dev], tested[:test])


def main() -> None:
    """Simulate, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with ncbi_disease/ and genia/")
    parser.add_argument("--out", type=Path, required=True, help="folder for models on the way")
    parser.add_argument("--json", type=Path, required=True, help="file of results, a line for each round")
    parser.add_argument("--sentences", type=int, default=1200)
    parser.add_argument("--dev", type=int, default=150)
    parser.add_argument("--test", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report", type=Path, help="print the table and draw this plot of what is there")
    arguments = parser.parse_args()
    if arguments.report:
        report(arguments.json, arguments.report)
        return
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    if not arguments.json.exists():
        head = {"command": command(), "machine": machine(), "settings": SETTINGS}
        arguments.json.write_text(json.dumps(head) + "\n", encoding="utf-8")
    sizes = arguments.sentences, arguments.dev, arguments.test
    for seed, name in product(range(arguments.seeds), CORPORA):
        data = load(arguments.corpora, name, *sizes)
        simulation = Simulation(data, seed, arguments.out / f"{name}-{seed}", arguments.json)
        full = simulation.full_f1()
        for by in STRATEGIES:
            simulation.run(by, full)
        shutil.rmtree(simulation.folder, ignore_errors=True)


def reached(results: Path, corpus: str, seed: int, by: str, key: str = "share") -> float | None:
    """The share of sentences (or words) with the goal reached; beyond the last one if it was not; None if
    the run is not there or not over."""
    full = [line["f1"] for line in lines(results, corpus, seed, FULL)]
    rounds = list(lines(results, corpus, seed, by))
    for line in rounds if full else ():
        if line["f1"] >= GOAL * full[0]:
            return float(line[key])
    is_last = bool(rounds) and rounds[-1]["share"] >= LAST - 1e-6
    return float(rounds[-1][key]) + STEP if is_last else None


def report(results: Path, plot: Path) -> None:
    """The table of shares and the test against random, and the curves."""
    seeds = sorted({line["seed"] for line in lines(results) if "seed" in line})
    pairs = list(product(CORPORA, seeds))
    shares = {by: [reached(results, *pair, by) for pair in pairs] for by in STRATEGIES}
    by_words = {by: [reached(results, *pair, by, "words_share") for pair in pairs] for by in STRATEGIES}
    columns = ", ".join(f"{corpus} {seed}" for corpus, seed in pairs)
    print(f"Share of sentences with {GOAL:.0%} of the full F1 reached ({columns}):\n")
    print(
        "| strategy | each | mean | of words | below random by | p (one-sided) |\n|---|---|---|---|---|---|"
    )
    for by in STRATEGIES:
        print(row(by, shares[by], by_words[by], shares["random"]))
    draw(results, plot)


def row(by: str, shares: list[float | None], by_words: list[float | None], random: list[float | None]) -> str:
    each = " ".join("-" if share is None else f"{share:.0%}" for share in shares)
    both = [(share, other) for share, other in zip(shares, random, strict=True) if share and other]
    known, of_words = ([value for value in values if value] for values in (shares, by_words))
    if not known:
        return f"| {by} | {each} | - | - | - | - |"
    means = f"{np.mean(known):.1%} | {np.mean(of_words):.1%}"
    if by == "random" or not both:
        return f"| {by} | {each} | {means} | - | - |"
    differences = [other - share for share, other in both]
    return f"| {by} | {each} | {means} | {np.mean(differences):.1%} | {sign_flip_p(differences):.3f} |"


def sign_flip_p(differences: Sequence[float]) -> float:
    """The share of all ways to flip the signs of paired differences with a sum at least as large."""
    observed = sum(differences) - 1e-9
    flips = product((1, -1), repeat=len(differences))
    sums = [sum(sign * each for sign, each in zip(signs, differences, strict=True)) for signs in flips]
    return sum(each >= observed for each in sums) / len(sums)


def draw(results: Path, plot: Path) -> None:
    """F1 by share of sentences, as a share of the full F1, a picture for each corpus; means of seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(CORPORA), figsize=(10, 4), sharey=True)
    for axis, corpus in zip(axes, CORPORA, strict=True):
        full = {line["seed"]: line["f1"] for line in lines(results, corpus) if line["strategy"] == FULL}
        for by in STRATEGIES:
            points: dict[float, list[float]] = {}
            for line in lines(results, corpus):
                if line["strategy"] == by and line["seed"] in full:
                    points.setdefault(round(line["share"], 2), []).append(line["f1"] / full[line["seed"]])
            at = sorted(points)
            axis.plot(at, [np.mean(points[share]) for share in at], marker="o", markersize=3, label=by)
        axis.axhline(GOAL, color="grey", linewidth=0.8, linestyle="--")
        axis.set(title=corpus, xlabel="share of sentences annotated", ylim=(0, 1.05))
    axes[0].set_ylabel("F1 / F1 of all sentences")
    axes[0].legend()
    figure.savefig(plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
