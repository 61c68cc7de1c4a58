"""The one training loop, from the first batch to the scored model."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.batches.pieces import Integers
from spanwright.corpora.stored import DocumentView, StoredDocuments
from spanwright.devices import AUTO
from spanwright.errors import counted
from spanwright.evaluation import Comparison, Scores, collect_confidences, compare_documents, strict_scores
from spanwright.formats import files
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.formats.io.whole_files import write_whole
from spanwright.parts.batch import to_tensors
from spanwright.parts.encoder.pretrained import check_known
from spanwright.parts.precision import check_precision, lowered
from spanwright.predicting.tagger import Tagger
from spanwright.settings import Settings, load_settings
from spanwright.text import Document
from spanwright.training.checkpoint import Position, load_checkpoint, save_checkpoint
from spanwright.training.confidence import calibrated, confidence_facts, uncalibrated
from spanwright.training.data import Split
from spanwright.training.divergence import check_step, check_weights, rates_of, read_at_once
from spanwright.training.journal import Journal
from spanwright.training.objective import check_roles, check_terms, role_rates_at, total, weights_at
from spanwright.training.optimiser import limit_gradients, make_optimiser, rate_factor, set_rates
from spanwright.training.processes import BatchPart, Processes, check_same, joined_processes, parts_of
from spanwright.training.pruning import pruning_report
from spanwright.training.run_folder import check_folder, open_folder
from spanwright.training.runtime import flushed_denormals, kept_memory, seed_draws
from spanwright.training.setup import Setup, provenance, set_up, warn_of_few_steps, warn_of_no_answers
from spanwright.training.thresholds import set_tuned_thresholds
from spanwright.training.watcher import Silent, Watcher

DocumentSource = str | Path | Iterable[str | Path | Document | files.Corpus]
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
    started train together; only the first writes, and tells its watcher.
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
        values = {**provenance(setup, documents), "processes": processes.count}
        check_same(processes, {key: values[key] for key in ("settings", "corpora")})
        processes.from_first(lambda: open_folder(folder, values, resume))
        told = watcher if watcher is not None and processes.is_first else Silent()
        run = _Run(setup, folder, told, processes)
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
        self.settings = setup.model.settings
        self.network = setup.model.network.to(processes.device)
        self.roles = self.network.roles()
        self.optimiser = make_optimiser(self.roles, self.settings.optimiser)
        self._rates = rates_of(self.roles, self.optimiser)
        self.still: frozenset[str] = frozenset()
        self.position = Position()
        check_precision(self.settings.training.precision, processes.device)
        check_terms(self.settings.objective, self.network.terms, self.settings.shares)
        check_roles(self.settings.objective, set(self.roles))

    def start(self, resume: bool, warnings: list[str]) -> None:
        """Begin, or take up the run at its last checkpoint."""
        self.watcher.prepared(self.setup)
        if resume:
            self.processes.from_first(lambda: artifact.restore_folder(self.folder / "model"))
            position, torn = load_checkpoint(self.folder / "checkpoints", self.network, self.optimiser)
            warnings += torn
            self.position = position or self.position
        self.processes.share_weights(self.network)
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
        training = self.settings.training
        while self.position.epoch < training.epochs and not self._patience_is_over:
            self._train_epoch()
            if self._patience_is_over:
                break
            self.position = replace(self.position, epoch=self.position.epoch + 1, batch=0)
            if training.score_steps is None or self.position.epoch == training.epochs:
                self._score(self.position.epoch)
            self._checkpoint()

    @property
    def _patience_is_over(self) -> bool:
        patience = self.settings.training.patience
        return patience is not None and self.position.worse >= patience

    def _train_epoch(self) -> None:
        training, epoch = self.settings.training, self.position.epoch
        batches = self.setup.batches(epoch)
        done = sum(len(batch) for batch in batches[: self.position.batch])
        self.network.train()
        meter = _Meter()
        for group in _groups(batches, self.position.batch, training.accumulate):
            size = sum(len(batch) for batch in group)
            progress = (epoch + (done + size / 2) / self.setup.epoch_windows) / training.epochs
            loss = self._step(group, progress, meter)
            done += size
            self.position = replace(
                self.position, batch=self.position.batch + len(group), step=self.position.step + 1
            )
            share = (epoch + done / self.setup.epoch_windows) / training.epochs
            self.watcher.progressed(epoch=epoch + 1, share=share, loss=loss, words_per_second=meter.speed)
            if self.processes.is_first and self.position.step % _JOURNAL_STEPS == 0:
                self.journal.write("step", step=self.position.step, epoch=epoch + 1, loss=loss)
            if training.score_steps and self.position.step % training.score_steps == 0:
                self._score(epoch + done / self.setup.epoch_windows)
                if self._patience_is_over:
                    return
                self.network.train()
            if training.checkpoint_steps and self.position.step % training.checkpoint_steps == 0:
                self._checkpoint()
        if self.processes.is_first:
            self.journal.time("epoch", epoch=epoch + 1, words_per_second=meter.speed, seconds=meter.seconds)

    def _step(self, group: list[Integers], progress: float, meter: _Meter) -> float:
        """One optimiser step over the batches of a group; the mean loss."""
        settings = self.settings
        weights = weights_at(settings.objective, self.network.terms, settings.shares, progress=progress)
        of_roles = role_rates_at(settings.objective, progress=progress)
        self._hold(frozenset(role for role, rate in of_roles.items() if rate == 0))
        factor = rate_factor(progress, settings.optimiser.warmup, settings.objective.beginnings)
        set_rates(self.optimiser, factor, of_roles)
        parts = parts_of(
            group,
            draw=(settings.training.seed, self.position.epoch),
            first=self.position.batch,
            accumulate=settings.training.accumulate,
            processes=self.processes.count,
        )
        learnt = [self._learn(part, weights) for part in self.processes.own(parts)]
        self.processes.sum_gradients(self.network.parameters())
        total_norm = limit_gradients(self.optimiser, settings.optimiser.clip)
        losses, norm = read_at_once([row for row, _ in learnt], total_norm, size=1 + len(weights))
        words, mean, *terms = self.processes.sums(sum(count for _, count in learnt), *losses)
        named = dict(zip(weights, terms, strict=True))
        check_step(self.position.step + 1, loss=mean, terms=named, norm=norm, rates=self._rates)
        meter.add(words)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return mean

    def _learn(self, part: BatchPart, weights: dict[str, float]) -> tuple[Tensor, int]:
        """Add the gradients of a part to those that are there.

        Its share (1 + terms,) of the loss and of each term, before it is weighted, and its words.
        """
        made = self.setup.batch(part.positions, part.draw)
        batch = to_tensors(made, self.network.device)
        seed_draws(part.draw)
        with lowered(self.network, self.settings.training.precision):
            losses = self.network.losses(batch, weights)
        # By its share of the windows, so that a group is as good as one large batch.
        loss = total(losses, weights) * part.share
        torch.autograd.backward(loss)
        terms = (losses[term].detach() * part.share for term in weights)
        return torch.stack([loss.detach(), *terms]), int(made.word_counts.sum())

    def _hold(self, still: frozenset[str]) -> None:
        """Keep the weights of some roles as they are, and let all others learn."""
        if still == self.still:
            return
        for role, named in self.roles.items():
            for _, parameter in named:
                parameter.requires_grad_(role not in still)
        self.still = still

    def _score(self, epochs: float) -> None:
        """Score dev after so many epochs, or parts of one, and keep the best model."""
        self.position = self.processes.from_first(lambda: self._scored(epochs))

    def _scored(self, epochs: float) -> Position:
        """The position after dev is scored with the real decoder."""
        evaluation = self.setup.evaluation
        set_tuned_thresholds(self.setup.model, [evaluation[name] for name in self.setup.data.dev_splits])
        found = {
            name: score_model(self.setup.model, split)
            for name, split in evaluation.items()
            if name.startswith("dev")
        }
        scores = found.pop("dev")
        deciding = [found.get(name, scores).micro.f1 for name in self.setup.data.deciding]
        f1 = sum(deciding) / len(deciding)
        check_weights(self.position.step, self.network, f1=f1, rates=self._rates)
        # While phases last, in which spans may not learn yet, the newest model is the best.
        best = (
            f1 > self.position.best_f1
            or epochs <= self.settings.objective.phased * self.settings.training.epochs
        )
        pruning = pruning_report(self.setup.model, evaluation["dev"])
        more = {"pruning": pruning.to_dict()} if pruning else {}
        more |= {"corpora": {name: entry.to_dict() for name, entry in found.items()}} if found else {}
        self.journal.write("epoch", epoch=epochs, best=best, dev=scores.to_dict(), **more)
        self.watcher.scored(epoch=epochs, scores={"dev": scores, **found}, best=best)
        if not best:
            return replace(self.position, worse=self.position.worse + 1)
        self._save_model(self.setup.model, {"dev": scores})
        return replace(self.position, best_f1=f1, worse=0)

    def _checkpoint(self) -> None:
        self.processes.from_first(self._save_checkpoint)

    def _save_checkpoint(self) -> None:
        self.position = replace(self.position, journal_size=self.journal.size)
        save_checkpoint(self.folder / "checkpoints", self.network, self.optimiser, self.position)

    def _save_model(self, model: TrainedModel, scores: dict[str, Scores], **more: dict[str, Any]) -> None:
        """Write the model with what is to be told of it."""
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
            self.watcher.warned(warn_of_no_answers(self.setup.steps, self.settings.training.epochs))
        return RunResult(self.folder, self._best(), scores)

    def _best(self) -> TrainedModel:
        return artifact.load(self.folder / "model", self.processes.device)

    def _final_scores(self) -> dict[str, Scores]:
        """Score the best model on every evaluation split, calibrate it on dev and write `scores.json`."""
        # A resumed run may have been calibrated already: it is fitted anew, on the network's confidences.
        model = uncalibrated(self._best())
        evaluation = self.setup.evaluation
        compared = {name: compare_model(model, split, self.setup.kept) for name, split in evaluation.items()}
        scores = {name: strict_scores(entry) for name, entry in compared.items()}
        confidences = {name: collect_confidences(entry) for name, entry in compared.items()}
        data = self.setup.data
        splits = {name: data.dev_split(name) for name in data.corpora}
        own = {name: confidences[split] for name, split in splits.items() if split in confidences}
        model = calibrated(model, confidences["dev"], own)
        pruned = {name: pruning_report(model, split) for name, split in evaluation.items()}
        pruning = {name: report.to_dict() for name, report in pruned.items() if report}
        confidence = confidence_facts(model, confidences)
        self._save_model(model, scores, confidence=confidence, pruning=pruning)
        summary = {name: entry.to_dict() for name, entry in scores.items()}
        write_whole(self.folder / "scores.json", json.dumps(summary, indent=2) + "\n")
        return scores


class _Meter:
    """Words per second since the beginning of an epoch."""

    def __init__(self) -> None:
        self.words = 0.0
        self.started = time.perf_counter()

    def add(self, words: float) -> None:
        """Count words that have been trained on, by all processes."""
        self.words += words

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def speed(self) -> float:
        """Words per second."""
        return self.words / self.seconds


def score_model(model: TrainedModel, split: Split) -> Scores:
    """Strict scores of a model on a split."""
    return strict_scores(compare_model(model, split))


def compare_model(model: TrainedModel, split: Split, kept: Sequence[str] = ()) -> Comparison:
    """What a model finds in a split beside its entities, but for kept types that nobody annotated there."""
    model.network.eval()
    unjudged = {name for name in kept if name not in split.report.types}
    found = Tagger(model).tag_prepared(split.documents)
    return compare_documents(split.source, (_without(document, unjudged) for document in found))


def _without(document: Document, types: Collection[str]) -> Document:
    if not types:
        return document
    return document.with_entities(tuple(each for each in document.entities if each.type not in types))


def _groups(batches: list[Integers], start: int, size: int) -> Iterator[list[Integers]]:
    for position in range(start, len(batches), size):
        yield batches[position : position + size]


def documents_of(source: DocumentSource, warnings: list[str]) -> Sequence[Document]:
    """The documents of files, or those given; what was wrong in the files goes to the warnings."""
    if isinstance(source, StoredDocuments | DocumentView):
        return source
    items = [source] if isinstance(source, str | Path | files.Corpus) else list(source)
    documents: list[Document] = []
    for item in items:
        if isinstance(item, Document):
            documents.append(item)
            continue
        corpus = item if isinstance(item, files.Corpus) else files.read(item)
        corpus.check_to_train()
        documents += corpus
        if problems := corpus.problems:
            place = "" if corpus is item else f"{item}: "
            warnings.append(
                f"{place}{counted(len(problems), 'problem')} in reading, the first: {problems[0]}"
            )
    return documents
