"""The runs of a comparison: what each of them is, whether it is done already, and doing it.

A run lives in `OUT/runs/CORPUS/RECIPE/seed-N`. Its folder is that of any training, which has the model's
answers, so no analysis needs the model.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from spanwright.comparing.plan import CorpusPlan, Plan, ScoredSplit, folder_name
from spanwright.corpora.label_map import load_map
from spanwright.corpora.overlap import drop_shared
from spanwright.devices import AUTO
from spanwright.errors import InputError, SettingsError
from spanwright.formats.files import read, write
from spanwright.formats.format import ReadingLog
from spanwright.identity import changed_names, find_differences
from spanwright.predicting.tagger import load
from spanwright.settings import Settings, check, load_settings
from spanwright.text import Document
from spanwright.training.corpora import of_corpora
from spanwright.training.corpora_file import read_splits
from spanwright.training.journal import read_journal
from spanwright.training.loop import train
from spanwright.training.objective import check_terms
from spanwright.training.optimiser import make_optimiser
from spanwright.training.run_folder import deciding, digest, has_run, read_record
from spanwright.training.selection import TrainingData, select
from spanwright.training.setup import check_tags, new_model
from spanwright.training.start import load_start
from spanwright.training.watcher import Watcher

RunKey = tuple[str, str, int]
"""Corpus, recipe and seed."""


@dataclass(frozen=True, eq=False)
class CorpusData:
    """The documents of a corpus."""

    name: str
    train: list[Document]
    dev: list[Document]
    test: list[Document]
    learnt: list[Document]
    """The training documents that a training uses: those that stand neither in dev nor in test."""
    targets: tuple[str, ...] = ()
    """Of several corpora that are trained on together, those which recipes are compared on; all if none."""

    @cached_property
    def digests(self) -> dict[str, str]:
        """What a training writes down of its data."""
        return {"train": digest(self.train), "dev": digest(self.dev), "test": digest(self.test)}


@dataclass(frozen=True, eq=False)
class Run:
    """One training: a recipe on a corpus with a seed."""

    corpus: CorpusData
    recipe: str
    seed: int
    settings: Settings
    """Resolved, as a training writes them down."""
    folder: Path

    @property
    def key(self) -> RunKey:
        """What distinguishes it from the other runs of a comparison."""
        return self.corpus.name, self.recipe, self.seed

    def __str__(self) -> str:
        return f"{self.recipe} on {self.corpus.name}, seed {self.seed}"

    @cached_property
    def evaluated(self) -> Mapping[str, Sequence[Document]]:
        """The documents of dev and test as the training scores them, with their types as it has them."""
        corpus = self.corpus
        if self.settings.corpora is None:
            return {"dev": corpus.dev, "test": corpus.test}
        return select(self.settings, corpus.train, corpus.dev, corpus.test).evaluation

    def compared(self, documents: Sequence[Document]) -> list[Document]:
        """Those of the documents that recipes are compared on."""
        targets = self.corpus.targets
        return list(of_corpora(documents, targets)) if targets else list(documents)

    @property
    def finished(self) -> bool:
        """Whether the training has come to its end, which `scores.json` marks."""
        try:
            json.loads((self.folder / "scores.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            # A torn file: the training died while it wrote its last lines.
            return False
        return True


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a reader needs to judge a run, and to repeat it."""

    changed: dict[str, Any]
    """The settings that differ from the recipe's own, by their dotted keys; those that `auto` chose too."""
    dev_f1: list[float]
    """After each epoch."""
    commit: str | None
    versions: dict[str, str]
    threads: int | None
    corpora: dict[str, str]
    """Digests of the documents of train, dev and test."""
    settings: dict[str, Any]
    """All of them, as the training resolved them."""


class RunsWatcher(Protocol):
    """Receives the events of a comparison."""

    def read(self, corpus: str, split: str, log: ReadingLog) -> None:
        """The files of a split were read."""

    def training(self, run: Run, number: int, total: int) -> AbstractContextManager[Watcher]:
        """A run begins, the `number`-th of all that are planned; watch its training."""


def plan_runs(plan: Plan, out: Path, watcher: RunsWatcher) -> list[Run]:
    """All runs of a plan, in order. Whatever can be found wrong is an error now, before any training.

    Seeds are the outer loop, so that a comparison that is not complete yet is a fair one.
    """
    runs: list[Run] = []
    for name, corpus_plan in plan.corpora.items():
        corpus = _read_corpus(name, corpus_plan, watcher)
        asked = {recipe: plan.settings(recipe, name) for recipe in plan.recipes_on(name)}
        selected = {recipe: _selected(recipe, each, corpus) for recipe, each in asked.items()}
        settings = {
            recipe: _resolved(recipe, each, selected[recipe], corpus) for recipe, each in asked.items()
        }
        for seed in range(1, plan.seeds + 1):
            for recipe in plan.recipes_on(name):
                folder = out / "runs" / name / folder_name(recipe) / f"seed-{seed}"
                runs.append(Run(corpus, recipe, seed, _with_seed(settings[recipe], seed), folder))
    _refuse_changed(runs)
    return runs


def perform(run: Run, watcher: Watcher, device: str = AUTO) -> None:
    """Train, or go on with an interrupted training."""
    if not run.finished:
        train(
            run.settings,
            train=run.corpus.train,
            dev=run.corpus.dev,
            test=run.corpus.test,
            out=run.folder,
            resume=has_run(run.folder),
            device=device,
            watcher=watcher,
        )
    # They only serve an interrupted training, and of many runs they would fill the disk.
    shutil.rmtree(run.folder / "checkpoints", ignore_errors=True)


def predictions(run: Run, split: ScoredSplit, device: str = AUTO) -> list[Document]:
    """What the model of a finished run answers on dev or test, as its training wrote it.

    Where that file is gone, the model is asked again.
    """
    path, documents = run.folder / f"{split}.jsonl", run.evaluated[split]
    if not path.exists():
        write(load(run.folder / "model", device=device).tag(documents), path)
    answers = read(path, format="jsonl").documents
    if [answer.text for answer in answers] != [document.text for document in documents]:
        raise InputError(f"{path}: these are not answers to the {split} documents; remove the file")
    # By position, since several files of a corpus may use the same ids.
    pairs = zip(documents, answers, strict=True)
    return run.compared([document.tagged(answer.entities) for document, answer in pairs])


def training_time(run: Run) -> tuple[float, float]:
    """Seconds of the training's epochs, without scoring, and words per second.

    Of an epoch that was begun again only the last time counts.
    """
    text = (run.folder / "timings.jsonl").read_text(encoding="utf-8")
    epochs = {entry["epoch"]: entry for entry in map(json.loads, text.splitlines())}
    seconds = sum(epoch["seconds"] for epoch in epochs.values())
    words = sum(epoch["seconds"] * epoch["words_per_second"] for epoch in epochs.values())
    return seconds, words / seconds


def run_record(run: Run) -> RunRecord:
    """What is written down about a finished run."""
    record = read_record(run.folder)
    shipped = load_settings(run.recipe).model_dump(mode="json")
    changed = {".".join(each.place): each.new for each in find_differences(shipped, record["settings"])}
    curve = [line["dev"]["micro"]["f1"] for line in read_journal(run.folder) if line["event"] == "epoch"]
    return RunRecord(
        changed=changed,
        dev_f1=curve,
        commit=record.get("commit"),
        versions=record.get("versions", {}),
        threads=record.get("threads"),
        corpora=record["corpora"],
        settings=record["settings"],
    )


def _read_corpus(name: str, plan: CorpusPlan, watcher: RunsWatcher) -> CorpusData:
    splits: dict[str, list[Document]] = {"train": [], "dev": [], "test": []}
    together = plan.corpora_file()
    if together is not None:
        for reading in read_splits(together):
            watcher.read(reading.corpus, reading.split, reading.log)
            splits[reading.split] += reading.documents
    else:
        for split in splits:
            corpus = read(*getattr(plan, split), format=plan.format, options=plan.options, to_train=True)
            watcher.read(name, split, corpus.log)
            splits[split] = _mapped(corpus.documents[: getattr(plan.documents, split)], name, plan.map)
    for split, documents in splits.items():
        if not documents:
            raise InputError(f"corpus {name!r}: the {split} files have no document that can be read")
    learnt, _ = drop_shared(splits["train"], [*splits["dev"], *splits["test"]])
    return CorpusData(name, learnt=learnt, targets=together.target if together else (), **splits)


def _mapped(documents: list[Document], corpus: str, name: str | None) -> list[Document]:
    """Documents with the shared types of a label map, where there is one."""
    if name is None:
        return documents
    label_map = load_map(name)
    return [label_map.apply(document, corpus) for document in documents]


def _selected(recipe: str, asked: Settings, corpus: CorpusData) -> TrainingData:
    """What a recipe learns from; refused if its settings do not suit that, before any model is built."""
    with _naming(recipe, corpus):
        data = select(asked, corpus.train, corpus.dev, corpus.test)
        check_tags(asked, data)
        return data


def _resolved(recipe: str, asked: Settings, data: TrainingData, corpus: CorpusData) -> Settings:
    """The settings as a training will resolve them.

    A model is built with them once, so that what cannot work is refused before the first training.
    """
    with _naming(recipe, corpus):
        model, _ = new_model(asked, data, load_start(asked))
        check_terms(model.settings.objective, model.network.terms, model.settings.shares)
        make_optimiser(model.network.roles(), model.settings.optimiser)
        return model.settings


@contextmanager
def _naming(recipe: str, corpus: CorpusData) -> Iterator[None]:
    """Lets errors in settings name the recipe and the corpus."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"{recipe} on {corpus.name}: {error}") from error


def _with_seed(settings: Settings, seed: int) -> Settings:
    training = settings.training.model_copy(update={"seed": seed})
    return settings.model_copy(update={"training": training})


def _refuse_changed(runs: Sequence[Run]) -> None:
    """Refuse folders that hold a run with other settings or other data."""
    for run in runs:
        if not has_run(run.folder):
            continue
        there = read_record(run.folder)
        if reasons := difference_to(run, there["settings"], there["corpora"]):
            raise InputError(
                f"{run.folder}: the run there is another one: {'; '.join(reasons)}. Take the settings and "
                f"documents that it was started with, another --out, or remove the folder"
            )


def difference_to(run: Run, settings: Mapping[str, Any], corpora: Mapping[str, str]) -> list[str]:
    """What distinguishes a run from one with these settings and digests of documents."""
    # Read once more, so that settings which came later have their defaults.
    before = check(dict(settings), f"the settings of {run}").model_dump(mode="json")
    changed = find_differences(deciding(before), deciding(run.settings.model_dump(mode="json")))
    return [
        *sorted(f"{'.'.join(each.place)} was {each.old!r} and is {each.new!r}" for each in changed),
        *(f"the {split} documents have changed" for split in changed_names(corpora, run.corpus.digests)),
    ]
