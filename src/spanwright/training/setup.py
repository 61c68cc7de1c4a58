"""From settings and documents to everything that a run needs: model, data and the truth about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from spanwright.arrays import Integers
from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Array, Batch
from spanwright.batches.collate import Sampling, collate
from spanwright.batches.order import Portion, training_order
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import window_lengths
from spanwright.batches.writer import Vocabulary
from spanwright.errors import SettingsError, counted
from spanwright.parts.build import build
from spanwright.parts.encoder.backbone import hidden_size, load_pretrained, trained_further
from spanwright.settings import Settings
from spanwright.settings.auxiliaries import SpanVaeSettings
from spanwright.text import Document
from spanwright.training.corpora import portions
from spanwright.training.data import (
    Split,
    SplitReport,
    automatic_decoding,
    likely_entities,
    prepare_split,
    without_empty_windows,
)
from spanwright.training.kept_types import kept_types, with_kept_types
from spanwright.training.label_space import label_space
from spanwright.training.resolving import resolve
from spanwright.training.selection import TrainingData, select
from spanwright.training.start import Taken, load_start, take
from spanwright.training.writer.writing import Writing, prepare_writing, word_vectors

Documents = Sequence[Document]

_FEW_STEPS = 200
"""With fewer, a model hardly learns that there are entities."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A run that is ready to start."""

    model: TrainedModel
    train: Split
    evaluation: Mapping[str, Split]
    """`dev` and, when given, `test`; with several corpora also those of each."""
    data: TrainingData
    warnings: list[str]
    lengths: Integers
    """(windows,): the pieces of each training window."""
    portions: tuple[Portion, ...] = ()
    """What an epoch takes of each corpus; all windows once where there are none."""
    writing: Writing | None = None
    """What a writer learns; None for a model without one."""
    taken: Taken | None = None
    """What the model has from the one that the training starts from; None where it starts from none."""
    kept: tuple[str, ...] = ()
    """The types of that model which are answered as before, though the documents do not annotate them."""

    @property
    def reports(self) -> dict[str, SplitReport]:
        """What is in each split, and how much of it a model can find at best."""
        return {name: split.report for name, split in {"train": self.train, **self.evaluation}.items()}

    @property
    def removed(self) -> int:
        """Training documents left out because they stand in an evaluation split."""
        return 0 if self.model.settings.training.leaked == "keep" else sum(self.data.leaked.values())

    @property
    def epoch_windows(self) -> int:
        """Windows that an epoch trains on."""
        return sum(portion.count for portion in self.portions) or len(self.train.windows)

    def batches(self, epoch: int) -> list[Integers]:
        """The training windows of each batch of an epoch, in order; seed and epoch decide it."""
        training = self.model.settings.training
        return training_order(
            self.lengths,
            self.portions,
            seed=training.seed,
            epoch=epoch,
            windows=training.batch_windows,
            pieces=max(1, training.batch_pieces // training.accumulate),
        )

    @property
    def steps(self) -> int:
        """Optimiser steps of the whole run; epochs may differ by a few, as their batches do."""
        training = self.model.settings.training
        return training.epochs * -(-len(self.batches(0)) // training.accumulate)

    def batch(self, positions: Sequence[int] | Integers, draw: tuple[int, ...]) -> Batch[Array]:
        """Some training windows as a batch; what is random in it depends on the draw alone."""
        split, settings = self.train, self.model.settings
        negatives = settings.candidates.negatives
        batch = collate(
            [split.windows[position] for position in positions],
            split.documents,
            self.model.pieces,
            width_limit=self.model.plan.width_limit,
            golds=split.golds,
            probabilities=split.probabilities,
            near=settings.scorer.near,
            sampling=None if negatives == "all" else Sampling(negatives, draw),
        )
        if self.writing is None:
            return batch
        # One number more than the draw of negatives, so that the two do not follow each other.
        return replace(batch, rewrites=self.writing.rewrites(batch, (*draw, 1)))


def set_up(
    settings: Settings,
    train: Documents,
    dev: Documents,
    test: Documents,
    device: torch.device | None = None,
) -> Setup:
    """Decide what settings leave open, load the encoder, prepare the data, build the model.

    The model that a training starts from runs on the device while it finds the types that are kept; the new
    model is still on the CPU.
    """
    data, start = select(settings, train, dev, test), load_start(settings)
    model, notes = new_model(settings, data, start)
    settings = model.settings
    taken = take(model, start, settings.start.model) if start and settings.start else None
    kept = _kept(settings, data, start)
    if start is not None and kept:
        start.network.to(device or "cpu")
        data = with_kept_types(data, start, kept, soft=settings.training.targets == "soft")

    def prepared(documents: Documents, *, soft: bool = False) -> Split:
        stored = settings.corpora is not None
        return prepare_split(documents, model.pieces, model.plan, model.labels, stored=stored, soft=soft)

    split = prepared(data.train, soft=settings.soft_targets)
    if settings.windows.without_gold == "drop":
        split = without_empty_windows(split)
    evaluation = {name: prepared(documents) for name, documents in data.evaluation.items()}
    generating = model.settings.auxiliaries.span_vae
    writing = prepare_writing(generating, data.train, split, model.vocabulary) if generating else None
    lengths = window_lengths(split.windows, split.documents, model.pieces.special_count)
    warnings = [*notes, *data.warnings, *_warnings({"train": split, **evaluation})]
    warnings += writing.notes if writing else ()
    parts = _portions(settings, data, split)
    return Setup(model, split, evaluation, data, warnings, lengths, parts, writing, taken, kept)


def _kept(settings: Settings, data: TrainingData, start: TrainedModel | None) -> tuple[str, ...]:
    return kept_types(start, data.train) if start is not None and settings.keeps_types else ()


def _portions(settings: Settings, data: TrainingData, split: Split) -> tuple[Portion, ...]:
    if settings.corpora is None:
        return ()
    corpus = np.asarray([split.documents[window.document].corpus for window in split.windows], dtype=np.int64)
    return portions(settings.corpora, corpus, data.corpora)


def new_model(
    settings: Settings, data: TrainingData, start: TrainedModel | None = None
) -> tuple[TrainedModel, list[str]]:
    """An untrained model, as settings and training documents decide, and what a user should know of it.

    It has the encoder and the tokenizer of the model that it starts from, and none of its other weights yet.
    """
    check_tags(settings, data)
    train = data.train
    labels, notes = label_space(settings, data, _kept(settings, data, start))
    torch.manual_seed(settings.training.seed)
    backbone, pieces = _encoder(settings, start)
    if settings.names_corpus:
        pieces = pieces.naming_corpus()
    settings = resolve(settings, data, hidden_size(backbone), start)
    generating, words = settings.auxiliaries.span_vae, Vocabulary()
    vectors = None
    if generating is not None:
        words = Vocabulary.of(train)
        vectors = word_vectors(generating, words)
    if generating is not None and vectors is not None:
        settings = _with_word_size(settings, generating, vectors.shape[1])
    network = build(
        settings, backbone, labels=labels, pieces=pieces, vocabulary=len(words), word_vectors=vectors
    )
    return TrainedModel(network, pieces, labels, settings, vocabulary=words), notes


def check_tags(settings: Settings, data: TrainingData) -> None:
    """Refuse to answer with tags where the entities of the training corpus overlap."""
    targets = likely_entities(data.target_documents) if settings.soft_targets else data.target_documents
    if settings.output == "tags" and automatic_decoding(targets) != "flat":
        raise SettingsError(
            "output is 'tags', but entities of the training corpus overlap, and a word has only one tag: "
            "expected output='spans', where the tagger learns the outermost entities beside the spans"
        )


def _encoder(settings: Settings, start: TrainedModel | None) -> tuple[nn.Module, PieceEncoder]:
    """The backbone that learns, and its tokenizer: those of the model to start from, or pretrained ones."""
    chosen = settings.encoder
    options: dict[str, Any] = {
        "attention_dropout": chosen.attention_dropout,
        "lora": chosen.lora,
        "checkpointing": chosen.checkpointing,
    }
    if start is None:
        return load_pretrained(chosen.name, chosen.dropout, quantised=chosen.quantised, **options)
    backbone = trained_further(start.network.encoder.backbone, chosen.name, chosen.dropout, **options)
    return backbone, PieceEncoder(start.pieces.tokenizer)


def _with_word_size(settings: Settings, generating: SpanVaeSettings, size: int) -> Settings:
    """Settings whose writer reads embeddings of the size that a file of word vectors has."""
    chosen = generating.model_copy(update={"word_size": size})
    auxiliaries = settings.auxiliaries.model_copy(update={"span_vae": chosen})
    return settings.model_copy(update={"auxiliaries": auxiliaries})


def _warnings(splits: dict[str, Split]) -> list[str]:
    """What a user should know before waiting for a training."""
    warnings: list[str] = []
    for name, split in splits.items():
        if unknown := split.report.unknown_types:
            named = ", ".join(f"{type_} ({count})" for type_, count in sorted(unknown.items()))
            warnings.append(f"{name} has types that train lacks; they count as misses: {named}")
        if not split.report.entities:
            warnings.append(f"{name} has no entity: its scores say nothing")
    return warnings


def warn_of_few_steps(steps: int, epochs: int) -> list[str]:
    """The warning about a run that is too short to learn much; none for others."""
    if steps >= _FEW_STEPS:
        return []
    enough = -(-_FEW_STEPS * epochs // max(1, steps))
    return [
        f"this run has only {counted(steps, 'step')}, in which a model learns little: "
        f"try --set training.epochs={enough}"
    ]


def warn_of_no_answers(steps: int, epochs: int) -> str:
    """The warning about a model that finds nothing in dev, with the likely reason."""
    reason = warn_of_few_steps(steps, epochs) or [
        "its learning rates may be too low or too high (optimiser.learning_rates), or dev may have other "
        "types than train"
    ]
    return f"the model finds no entity in dev, so it is of no use: {reason[0]}"
