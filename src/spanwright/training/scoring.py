"""How good the model of a run is: on dev while it trains, and on every split when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import asdict, dataclass
from typing import Any

import torch

from spanwright.artifact import TrainedModel
from spanwright.evaluation import Comparison, Scores, collect_confidences, compare_documents, strict_scores
from spanwright.parts.batch import to_tensors
from spanwright.parts.precision import lowered
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity
from spanwright.training.confidence import calibrated, confidence_facts, reported, uncalibrated
from spanwright.training.data import Split
from spanwright.training.setup import Setup
from spanwright.training.thresholds import set_tuned_thresholds

_ANSWERED = ("dev", "test")
"""The splits whose answers are kept; those of single corpora are parts of them, or beside the target."""


@dataclass(frozen=True, slots=True)
class DevScores:
    """How the model of a run scores on dev."""

    scores: Scores
    corpora: dict[str, Scores]
    """With several corpora, the scores of each that has a dev split of its own."""
    f1: float
    """What chooses the model: the mean F1 of the splits that decide."""
    pruning: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the journal."""
        corpora = {name: scores.to_dict() for name, scores in self.corpora.items()}
        more = {"pruning": self.pruning, "corpora": corpora}
        return {"dev": self.scores.to_dict(), **{key: value for key, value in more.items() if value}}


def score_dev(setup: Setup) -> DevScores:
    """Score the model of a run on dev with the real decoder, after its thresholds are tuned there.

    In the precision of the steps: the scores of the finished model, in 32 bits, are those of `finish`.
    """
    model, evaluation = setup.model, setup.evaluation
    with lowered(model.network, model.settings.training.precision):
        set_tuned_thresholds(model, [evaluation[name] for name in setup.data.dev_splits])
        dev = {name: split for name, split in evaluation.items() if name.startswith("dev")}
        found = {name: score_model(model, split) for name, split in dev.items()}
        pruning = pruning_report(model, evaluation["dev"])
    scores = found.pop("dev")
    deciding = [found.get(name, scores).micro.f1 for name in setup.data.deciding]
    return DevScores(scores, found, sum(deciding) / len(deciding), pruning.to_dict() if pruning else {})


@dataclass(frozen=True, slots=True)
class FinishedModel:
    """The model of a run, calibrated, with its scores on all splits."""

    model: TrainedModel
    scores: dict[str, Scores]
    confidence: dict[str, Any]
    """How it was calibrated, and its calibration errors."""
    pruning: dict[str, dict[str, Any]]
    """What its pruner keeps of each split; empty without a pruner."""
    answers: dict[str, list[tuple[Entity, ...]]]
    """What it finds in each document of dev and, when given, test."""


def finish(setup: Setup, best: TrainedModel) -> FinishedModel:
    """Score the best model of a run on every split, and calibrate it on dev."""
    # A resumed run may have been calibrated already: it is fitted again, on the network's confidences.
    model, evaluation, data = uncalibrated(best), setup.evaluation, setup.data
    found = {
        name: _judged(_tagged(model, split), unjudged=set(setup.kept) - split.report.types.keys())
        for name, split in evaluation.items()
    }
    compared = {name: _compared(split, found[name]) for name, split in evaluation.items()}
    scores = {name: strict_scores(entry) for name, entry in compared.items()}
    confidences = {name: collect_confidences(entry) for name, entry in compared.items()}
    splits = {name: data.dev_split(name) for name in data.corpora}
    own = {name: confidences[split] for name, split in splits.items() if split in confidences}
    model = calibrated(model, confidences["dev"], own)
    pruned = {name: pruning_report(model, split) for name, split in evaluation.items()}
    pruning = {name: report.to_dict() for name, report in pruned.items() if report}
    answers = {
        name: [
            reported(model, entities, document.corpus)
            for document, entities in zip(evaluation[name].source, found[name], strict=True)
        ]
        for name in _ANSWERED
        if name in evaluation
    }
    return FinishedModel(model, scores, confidence_facts(model, confidences), pruning, answers)


def score_model(model: TrainedModel, split: Split) -> Scores:
    """Strict scores of a model on a split."""
    return strict_scores(compare_documents(split.source, _tagged(model, split)))


def _tagged(model: TrainedModel, split: Split) -> Iterator[Document]:
    """The documents of a split as a model answers them."""
    model.network.eval()
    return Tagger(model).tag_prepared(split.documents)


def _judged(found: Iterable[Document], *, unjudged: Set[str]) -> list[tuple[Entity, ...]]:
    """What was found in each document, but for kept types that nobody annotated in the split."""
    return [tuple(each for each in document.entities if each.type not in unjudged) for document in found]


def _compared(split: Split, found: Iterable[tuple[Entity, ...]]) -> Comparison:
    """What was found in a split beside its entities."""
    pairs = zip(split.source, found, strict=True)
    return compare_documents(split.source, (document.tagged(entities) for document, entities in pairs))


@dataclass(frozen=True, slots=True)
class PruningReport:
    """What is left of the candidates of a split."""

    candidates: int
    kept: int
    golds: int
    """Gold labels among the candidates."""
    golds_kept: int

    @property
    def recall(self) -> float:
        """The share of the golds that is kept: no model has a higher recall after the pruner."""
        return self.golds_kept / self.golds if self.golds else 1.0

    @property
    def kept_share(self) -> float:
        """The share of the candidates that is kept."""
        return self.kept / self.candidates if self.candidates else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The counts and shares, for JSON."""
        return asdict(self) | {"kept_share": self.kept_share, "recall": self.recall}


@torch.inference_mode()
def pruning_report(model: TrainedModel, split: Split) -> PruningReport | None:
    """What the pruner of a model keeps of a split; None for a model without one."""
    network = model.network.eval()
    if network.spans is None or network.spans.pruner is None:
        return None
    pruner = network.spans.pruner
    counts = torch.zeros(4, dtype=torch.long)
    for made in Tagger(model).batches(split.documents, split.golds):
        batch = to_tensors(made, network.device)
        kept = pruner.kept(pruner(network.encoder(batch), batch.spans), batch)
        found = (len(kept), int(kept.sum()), len(batch.golds.span), int(kept[batch.golds.span].sum()))
        counts += torch.tensor(found)
    return PruningReport(*counts.tolist())
