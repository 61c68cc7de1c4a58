"""A search from its plan to its files: trial after trial, trials.jsonl, best.toml and the best model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from spanwright.devices import AUTO
from spanwright.errors import DivergenceError, InputError, SettingsError
from spanwright.evaluation import Scores
from spanwright.formats.files import read
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.identity import changed_names, write_down, written_down
from spanwright.text import Document
from spanwright.training.corpora_file import load_corpora_file, read_splits
from spanwright.training.loop import train
from spanwright.training.processes import refuse_several
from spanwright.training.run_folder import digest, has_run
from spanwright.training.setup import Setup
from spanwright.training.watcher import Silent, Watcher
from spanwright.tuning.plan import TuningPlan
from spanwright.tuning.study import (
    Attempt,
    State,
    Study,
    TrialOutcome,
    Tuned,
    best_of,
    import_optuna,
    read_outcomes,
    trial_folder,
    write_outcomes,
    write_recipe,
)


class TrialWatcher(Protocol):
    """Receives the events of a search."""

    def read(self, split: str, log: ReadingLog) -> None:
        """The files of a split were read."""

    def training(self, number: int, total: int, chosen: Mapping[str, Any]) -> AbstractContextManager[Watcher]:
        """A trial begins, or goes on; watch its training."""

    def tried(self, outcome: TrialOutcome, outcomes: Sequence[TrialOutcome]) -> None:
        """A trial is over; `outcomes` are all so far."""


class SilentSearch:
    """Says nothing."""

    def read(self, split: str, log: ReadingLog) -> None:
        """Ignore."""

    def training(self, number: int, total: int, chosen: Mapping[str, Any]) -> AbstractContextManager[Watcher]:
        """Ignore."""
        return nullcontext(Silent())

    def tried(self, outcome: TrialOutcome, outcomes: Sequence[TrialOutcome]) -> None:
        """Ignore."""


class _StoppedError(Exception):
    """Ends the training of a trial that is pruned."""


class _Reporter:
    """Hands the events of a training on, and reports the F1 of each epoch to the study."""

    def __init__(self, inner: Watcher, attempt: Attempt) -> None:
        self.inner = inner
        self.attempt = attempt

    def prepared(self, setup: Setup) -> None:
        self.deciding = setup.data.deciding
        self.inner.prepared(setup)

    def warned(self, message: str) -> None:
        self.inner.warned(message)

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        self.inner.progressed(epoch=epoch, share=share, loss=loss, words_per_second=words_per_second)

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        self.inner.scored(epoch=epoch, scores=scores, best=best)
        # Trials are compared after whole epochs, which all of them have.
        if epoch == int(epoch) and self.attempt.report(int(epoch), self.f1(scores)):
            raise _StoppedError

    def f1(self, scores: Mapping[str, Scores]) -> float:
        """The dev F1 that chooses a model: of several target corpora, the mean."""
        found = [scores.get(name, scores["dev"]).micro.f1 for name in self.deciding]
        return sum(found) / len(found)


def tune(
    plan: TuningPlan,
    *,
    out: str | Path,
    trials: int | None = None,
    device: str = AUTO,
    watcher: TrialWatcher | None = None,
) -> Tuned:
    """Try settings until there are `trials` (those of the plan unless given), and keep the best model.

    Called again with the same plan, it goes on where it was, an interrupted trial from its last checkpoint. A
    folder with the search of another plan is refused.
    """
    refuse_several("tune")
    import_optuna()  # if it is missing, the user hears it before the corpora are read
    wanted = trials or plan.trials
    with locked_folder(Path(out)):
        search = _Search(plan, Path(out), watcher or SilentSearch(), device)
        while len(search.outcomes) < wanted and not search.hopeless:
            search.attempt(wanted)
        return search.result()


class _Search:
    """The state of a search between its trials."""

    def __init__(self, plan: TuningPlan, folder: Path, watcher: TrialWatcher, device: str) -> None:
        self.plan = plan
        self.folder = folder
        self.watcher = watcher
        self.device = device
        self.documents = _documents(plan, watcher)
        _open_folder(folder, _identity(plan, self.documents))
        self.study = Study(plan, folder / "study.jsonl")
        self.outcomes = read_outcomes(folder)

    @property
    def hopeless(self) -> bool:
        """Whether all of the first trials were refused: then it is not the choice that is wrong."""
        states = {outcome.state for outcome in self.outcomes}
        return len(self.outcomes) >= self.plan.startup_trials and states == {"refused"}

    def attempt(self, wanted: int) -> None:
        """Train one trial."""
        attempt = self.study.next()
        known = {outcome.number: outcome for outcome in self.outcomes}
        if (before := known.get(attempt.number)) is not None:
            # It ended, but the search did before the study knew.
            self._tell(attempt, before)
            return
        with self.watcher.training(attempt.number, wanted, attempt.chosen) as inner:
            outcome = self._trained(attempt, _Reporter(inner, attempt))
        self.outcomes.append(outcome)
        self._write()
        self._tell(attempt, outcome)
        self.watcher.tried(outcome, self.outcomes)

    def _trained(self, attempt: Attempt, reporter: _Reporter) -> TrialOutcome:
        started, folder = time.perf_counter(), trial_folder(self.folder, attempt.number)
        state: State = "finished"
        f1, reason = None, ""
        try:
            result = train(
                self.plan.settings(attempt.chosen),
                train=self.documents["train"],
                dev=self.documents["dev"],
                out=folder,
                resume=has_run(folder),
                device=self.device,
                watcher=reporter,
            )
            f1 = reporter.f1(result.scores)
        except _StoppedError:
            state, f1 = "stopped", max(attempt.reported.values())
        except (SettingsError, DivergenceError) as error:
            state, reason = "refused", str(error)
        seconds = round(time.perf_counter() - started, 1)
        epochs = len(attempt.reported)
        return TrialOutcome(attempt.number, state, f1, epochs, seconds, dict(attempt.chosen), reason)

    def _tell(self, attempt: Attempt, outcome: TrialOutcome) -> None:
        if outcome.state == "finished" and outcome.f1 is not None:
            self.study.finished(attempt, outcome.f1)
        elif outcome.state == "stopped":
            self.study.stopped(attempt)
        else:
            self.study.refused(attempt)

    def _write(self) -> None:
        """Write all outcomes and the best settings, and remove what no longer serves anybody."""
        best = best_of(self.outcomes)
        write_outcomes(self.folder, self.outcomes)
        if best is not None:
            write_recipe(self.folder, self.plan.settings(best.settings), best)
        for outcome in self.outcomes:
            folder = trial_folder(self.folder, outcome.number)
            shutil.rmtree(folder / "checkpoints", ignore_errors=True)
            if outcome is not best:
                shutil.rmtree(folder / "model", ignore_errors=True)

    def result(self) -> Tuned:
        """The best of all trials."""
        best = best_of(self.outcomes)
        if best is None:
            reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in self.outcomes if outcome.reason))
            raise InputError(f"{self.folder}: no trial came to its end: {reasons}")
        return Tuned(self.folder, self.outcomes, best)


def _documents(plan: TuningPlan, watcher: TrialWatcher) -> dict[str, list[Document]]:
    splits: dict[str, list[Document]] = {"train": [], "dev": []}
    if plan.corpora is not None:
        for reading in read_splits(load_corpora_file(plan.corpora)):
            # Test files of corpora are left alone: a search must not see them.
            if reading.split in splits:
                watcher.read(f"{reading.corpus}, {reading.split}", reading.log)
                splits[reading.split] += reading.documents
        return splits
    for split, paths, limit in (
        ("train", plan.train, plan.documents.train),
        ("dev", plan.dev, plan.documents.dev),
    ):
        found = read(*paths or (), format=plan.format, options=plan.options, to_train=True)
        watcher.read(split, found.log)
        splits[split] = found.documents[:limit]
    return splits


def _identity(plan: TuningPlan, documents: Mapping[str, Sequence[Document]]) -> dict[str, Any]:
    """What must stay the same while a search goes on; the number of trials may grow."""
    kept = {"search", "startup_trials", "pruning", "seed"}
    return {
        **plan.model_dump(mode="json", include=kept),
        "settings": plan.settings({}).model_dump(mode="json"),
        "documents": {split: digest(found) for split, found in documents.items()},
    }


def _open_folder(folder: Path, values: dict[str, Any]) -> None:
    """Write what identifies a search, or check that it is the same."""
    path = folder / "plan.json"
    if not path.exists():
        write_down(path, values)
        return
    if changed := changed_names(written_down(path), values):
        raise InputError(
            f"{folder}: a search of another plan is there: it differs in {', '.join(changed)}. Expected the "
            f"plan and documents that it was started with, or another --out"
        )
