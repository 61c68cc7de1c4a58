"""The one training loop: data, step, score and checkpoint, from the first batch to the scored model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright import artifact
from spanwright.arrays import Integers
from spanwright.artifact import TrainedModel
from spanwright.devices import AUTO
from spanwright.evaluation import Scores
from spanwright.formats.files import write
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.formats.io.whole_files import write_whole
from spanwright.formats.io.whole_folders import restore_folder
from spanwright.parts.encoder.pretrained import check_known
from spanwright.predicting.tagger import Tagger
from spanwright.settings import Settings, load_settings
from spanwright.training.checkpoint import Position, load_checkpoint, save_checkpoint
from spanwright.training.divergence import check_weights
from spanwright.training.journal import Journal, Meter
from spanwright.training.processes import Processes, check_same, joined_processes
from spanwright.training.run_folder import check_folder, open_folder, provenance
from spanwright.training.runtime import flushed_denormals, kept_memory
from spanwright.training.scoring import finish, score_dev
from spanwright.training.selection import DocumentSource, documents_of
from spanwright.training.setup import Setup, set_up, warn_of_few_steps, warn_of_no_answers
from spanwright.training.step import Learner
from spanwright.training.watcher import Silent, Watcher

_JOURNAL_STEPS = 20
"""Steps between loss lines in the journal."""


class RunResult(Tagger):
    """A finished run: a tagger with its best model, its folder, and how the model scored by split."""

    def __init__(self, folder: Path, model: TrainedModel, scores: dict[str, Scores]) -> None:
        super().__init__(model)
        self.folder = folder
        self.scores = scores


def train(
    recipe: str | Path | Settings,
    *,
    train: DocumentSource,
    dev: DocumentSource,
    test: DocumentSource = (),
    out: str | Path,
    encoder: str | Path | None = None,
    descriptions: str | Path | None = None,
    start_from: str | Path | None = None,
    keep_types: bool = False,
    set: Mapping[str, Any] | None = None,
    resume: bool = False,
    device: str = AUTO,
    watcher: Watcher | None = None,
) -> RunResult:
    """Train a recipe and keep the model with the best dev F1 in `out/model`.

    `train`, `dev` and `test` are files, or documents. `set` changes settings by their dotted keys, such as
    `{"training.epochs": 3}`; `encoder`, `descriptions` and `device` are as on the command line, `start_from`
    and `keep_types` as `--from` and `--keep-types` there. With `resume`, a run that was interrupted goes on
    from its last checkpoint and ends with the same weights as if it had not been. Processes that torchrun
    started train together; only the first writes, and reports to its watcher.
    """
    changes = {**({"start.keep_types": True} if keep_types else {}), **(set or {})}
    settings = load_settings(
        recipe, changes, encoder=encoder, descriptions=descriptions, start_from=start_from
    )
    if settings.start is None:
        check_known(settings.encoder.name)
    warnings: list[str] = []
    sources = {"train": train, "dev": dev, "test": test}
    documents = {name: documents_of(source, warnings) for name, source in sources.items()}
    folder = Path(out)
    with joined_processes(device) as processes, flushed_denormals(), kept_memory(), ExitStack() as held:
        processes.from_first(lambda: check_folder(folder, resume))
        processes.from_first(lambda: held.enter_context(locked_folder(folder)))
        setup = set_up(settings, documents["train"], documents["dev"], documents["test"], processes.device)
        values = {**provenance(setup.model.settings, documents), "processes": processes.count}
        check_same(processes, {key: values[key] for key in ("settings", "corpora")})
        processes.from_first(lambda: open_folder(folder, values, resume))
        watching = watcher if watcher is not None and processes.is_first else Silent()
        run = _Run(setup, folder, watching, processes)
        few = warn_of_few_steps(setup.steps, settings.training.epochs)
        run.start(resume, [*warnings, *setup.warnings, *few])
        run.finish_epochs()
        return run.result()


class _Run:
    """The state of a run between its steps."""

    def __init__(self, setup: Setup, folder: Path, watcher: Watcher, processes: Processes) -> None:
        self.setup = setup
        self.folder = folder
        self.watcher = watcher
        self.processes = processes
        self.training = setup.model.settings.training
        self.learner = Learner(setup, processes)
        self.position = Position()

    def start(self, resume: bool, warnings: list[str]) -> None:
        """Begin, or take up the run at its last checkpoint."""
        self.watcher.prepared(self.setup)
        learner = self.learner
        if resume:
            self.processes.from_first(lambda: restore_folder(self.folder / "model"))
            position, torn = load_checkpoint(self.folder / "checkpoints", learner.network, learner.optimiser)
            warnings += torn
            self.position = position or self.position
        self.processes.share_weights(learner.network)
        for warning in warnings:
            self.watcher.warned(warning)
        self.processes.from_first(self._open_journal)

    def _open_journal(self) -> None:
        self.journal = Journal(self.folder, size=self.position.journal_size)
        if self.position.step == 0:
            reports = {name: report.to_dict() for name, report in self.setup.reports.items()}
            self.journal.write("data", removed=self.setup.removed, leaked=self.setup.data.leaked, **reports)

    def finish_epochs(self) -> None:
        """Train the epochs that are left, unless patience ends first."""
        epochs = self.training.epochs
        while self.position.epoch < epochs and not self._patience_is_over:
            self._train_epoch()
            if self._patience_is_over:
                break
            self.position = replace(self.position, epoch=self.position.epoch + 1, batch=0)
            if self.training.score_steps is None or self.position.epoch == epochs:
                self._score(self.position.epoch)
            self._checkpoint()

    @property
    def _patience_is_over(self) -> bool:
        patience = self.training.patience
        return patience is not None and self.position.worse >= patience

    def _train_epoch(self) -> None:
        """Train on the batches that are left of an epoch, unless patience ends first."""
        batches, meter = self.setup.batches(self.position.epoch), Meter()
        done = sum(len(batch) for batch in batches[: self.position.batch])
        for group in _groups(batches, self.position.batch, self.training.accumulate):
            size = sum(len(batch) for batch in group)
            middle = self._epochs(done + size / 2)
            loss, words = self.learner.step(group, self.position, progress=middle / self.training.epochs)
            meter.add(words)
            done += size
            self.position = self.position.after(batches=len(group))
            self._report(loss, self._epochs(done), meter)
            if self._is_due(self.training.score_steps):
                self._score(self._epochs(done))
                if self._patience_is_over:
                    break
            if self._is_due(self.training.checkpoint_steps):
                self._checkpoint()
        if self.processes.is_first:
            epoch = self.position.epoch + 1
            self.journal.time("epoch", epoch=epoch, words_per_second=meter.speed, seconds=meter.seconds)

    def _epochs(self, windows: float) -> float:
        """Epochs, and parts of one, that are done after some windows of the present one."""
        return self.position.epoch + windows / self.setup.epoch_windows

    def _is_due(self, steps: int | None) -> bool:
        """Whether the step that was made is one of every so many."""
        return steps is not None and self.position.step % steps == 0

    def _report(self, loss: float, epochs: float, meter: Meter) -> None:
        epoch, share = self.position.epoch + 1, epochs / self.training.epochs
        self.watcher.progressed(epoch=epoch, share=share, loss=loss, words_per_second=meter.speed)
        if self.processes.is_first and self._is_due(_JOURNAL_STEPS):
            self.journal.write("step", step=self.position.step, epoch=epoch, loss=loss)

    def _score(self, epochs: float) -> None:
        """Score dev after so many epochs, or parts of one, and keep the best model."""
        self.position = self.processes.from_first(lambda: self._scored(epochs))

    def _scored(self, epochs: float) -> Position:
        """The position after dev is scored."""
        found, position, phased = score_dev(self.setup), self.position, self._phased_epochs
        check_weights(position.step, self.learner.network, f1=found.f1, rates=self.learner.rates)
        # While phases last, in which spans may not learn yet, the newest model is the best.
        best = found.f1 > position.best_f1 or epochs <= phased
        self.journal.write("epoch", epoch=epochs, best=best, **found.to_dict())
        self.watcher.scored(epoch=epochs, scores={"dev": found.scores, **found.corpora}, best=best)
        if not best:
            return replace(position, worse=position.worse + 1)
        self._save_model(self.setup.model, {"dev": found.scores})
        return replace(position, best_f1=found.f1, worse=0)

    @property
    def _phased_epochs(self) -> float:
        """Epochs after which all phases are over."""
        return self.setup.model.settings.objective.phased * self.training.epochs

    def _checkpoint(self) -> None:
        self.processes.from_first(self._save_checkpoint)

    def _save_checkpoint(self) -> None:
        self.position = replace(self.position, journal_size=self.journal.size)
        learner, folder = self.learner, self.folder / "checkpoints"
        save_checkpoint(folder, learner.network, learner.optimiser, self.position)

    def _save_model(self, model: TrainedModel, scores: dict[str, Scores], **more: dict[str, Any]) -> None:
        """Write the model with the facts that its card shows."""
        facts = {
            "data": {name: report.to_dict() for name, report in self.setup.reports.items()},
            "scores": {name: entry.micro.to_dict() for name, entry in scores.items()},
            **{key: value for key, value in more.items() if value},
        }
        artifact.save(replace(model.for_use(), facts=facts), self.folder / "model")

    def result(self) -> RunResult:
        """The best model and how it scores, in every process."""
        scores = self.processes.from_first(self._final_scores)
        if not scores["dev"].micro.predicted:
            self.watcher.warned(warn_of_no_answers(self.setup.steps, self.training.epochs))
        return RunResult(self.folder, self._best(), scores)

    def _best(self) -> TrainedModel:
        return artifact.load(self.folder / "model", self.processes.device)

    def _final_scores(self) -> dict[str, Scores]:
        """Score the best model on every split; write it calibrated, its answers and `scores.json`."""
        done = finish(self.setup, self._best())
        self._save_model(done.model, done.scores, confidence=done.confidence, pruning=done.pruning)
        for name, answers in done.answers.items():
            pairs = zip(self.setup.evaluation[name].source, answers, strict=True)
            write((document.tagged(own) for document, own in pairs), self.folder / f"{name}.jsonl")
        summary = {name: entry.to_dict() for name, entry in done.scores.items()}
        write_whole(self.folder / "scores.json", json.dumps(summary, indent=2) + "\n")
        return done.scores


def _groups(batches: list[Integers], start: int, size: int) -> Iterator[list[Integers]]:
    for position in range(start, len(batches), size):
        yield batches[position : position + size]
