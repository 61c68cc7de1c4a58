"""From settings and documents to everything that a run needs: model, data and the truth about them."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import torch

import spanwright
from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Batch
from spanwright.batches.collate import Sampling, collate
from spanwright.batches.pieces import Integers
from spanwright.batches.vocabulary import Vocabulary
from spanwright.corpora.overlap import drop_shared
from spanwright.errors import InputError, SettingsError
from spanwright.parts.auxiliaries.span_vae import DIVERGENCE, RECONSTRUCTION, SYNONYMS, SpanVaeSettings
from spanwright.parts.backbone import hidden_size, load_pretrained
from spanwright.parts.build import build
from spanwright.parts.model import COMPRESSION
from spanwright.settings import Settings
from spanwright.text import Document
from spanwright.training.data import (
    Split,
    SplitReport,
    automatic_decoding,
    automatic_width_limit,
    prepare_split,
    without_empty_windows,
)
from spanwright.training.label_space import label_space
from spanwright.training.objective import LinearSchedule, LogisticSchedule, ObjectiveSettings, Weight
from spanwright.training.optimiser import default_rates
from spanwright.training.writing import Writing, prepare_writing, word_vectors

Documents = Sequence[Document]

_WRITING = 1e-3
"""Joint-IB's gamma, which the paper searches for each corpus."""
_COMPRESSION = 5e-4
"""Joint-IB's beta, as in its recipe."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A run that is ready to start."""

    model: TrainedModel
    train: Split
    evaluation: dict[str, Documents]
    """Documents of `dev` and, when given, `test`."""
    reports: dict[str, SplitReport]
    removed: int
    """Training documents left out because they stand in an evaluation split."""
    warnings: list[str]
    writing: Writing | None = None
    """What a writer learns; None for a model without one."""

    def batch(self, positions: Sequence[int] | Integers, draw: tuple[int, ...]) -> Batch:
        """Some training windows as a batch; what is random in it depends on the draw alone."""
        split, settings = self.train, self.model.settings
        negatives = settings.candidates.negatives
        batch = collate(
            [split.windows[position] for position in positions],
            split.documents,
            self.model.pieces,
            width_limit=self.model.plan.width_limit,
            golds=split.golds,
            sampling=None if negatives == "all" else Sampling(negatives, draw, settings.near),
        )
        if self.writing is None:
            return batch
        # One number more than the draw of negatives, so that the two do not follow each other.
        return replace(batch, rewrites=self.writing.rewrites(batch, (*draw, 1)))


def set_up(settings: Settings, train: Documents, dev: Documents, test: Documents) -> Setup:
    """Decide what settings leave open, load the encoder, prepare the data, build the model."""
    evaluation = {"dev": dev, "test": test} if test else {"dev": dev}
    kept, removed = drop_shared(train, [*dev, *test])
    _refuse_empty(train, kept, dev)
    model, notes = new_model(settings, kept)
    split = prepare_split(kept, model.pieces, model.plan, model.labels)
    if settings.windows.without_gold == "drop":
        split = without_empty_windows(split)
    reports = {"train": split.report}
    for name, documents in evaluation.items():
        reports[name] = prepare_split(documents, model.pieces, model.plan, model.labels).report
    generating = model.settings.auxiliaries.span_vae
    writing = prepare_writing(generating, kept, split, model.vocabulary) if generating else None
    notes = [*notes, *_warnings(reports), *(writing.notes if writing else ())]
    return Setup(model, split, evaluation, reports, len(removed), notes, writing)


def new_model(settings: Settings, train: Documents) -> tuple[TrainedModel, list[str]]:
    """An untrained model, as settings and training documents decide, and what a user should know of it."""
    labels, notes = label_space(settings, train)
    torch.manual_seed(settings.training.seed)
    backbone, pieces = load_pretrained(settings.encoder.name, settings.encoder.dropout)
    settings = resolve(settings, train, hidden_size(backbone))
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


def resolve(settings: Settings, train: Documents, encoder_width: int) -> Settings:
    """Replace every `auto` by what the training data and the encoder suggest."""
    changes: dict[str, Any] = {}
    if settings.candidates.width_limit == "auto":
        limit = automatic_width_limit(train)
        changes["candidates"] = settings.candidates.model_copy(update={"width_limit": limit})
    decoding = automatic_decoding(train)
    if settings.decoding == "auto":
        changes["decoding"] = decoding
    if settings.output == "tags" and decoding != "flat":
        raise SettingsError(
            "output is 'tags', but entities of the training corpus overlap, and a word has only one tag: "
            "legal is output='spans', where the tagger learns the outermost entities beside the spans"
        )
    changes["objective"] = _resolved_objective(settings)
    defaults = default_rates(encoder_width)
    if settings.auxiliaries.span_vae:
        # A writer starts from nothing, like the head, where a tagger is hardly more than the encoder.
        defaults["auxiliary"] = defaults["head"]
    if not settings.has_spans:
        del defaults["head"]
    rates = {**defaults, **settings.optimiser.learning_rates}
    changes["optimiser"] = settings.optimiser.model_copy(update={"learning_rates": rates})
    return settings.model_copy(update=changes)


def _resolved_objective(settings: Settings) -> ObjectiveSettings:
    """The objective with the usual weights of terms that settings do not name."""
    usual = _compression_weights(settings) | _writing_weights(settings)
    objective = settings.objective.model_copy(update={"weights": usual | settings.objective.weights})
    if settings.auxiliaries.tagger and settings.has_spans and "tags" not in objective.weights:
        # Bundling Learning, section 4.1.2: the tagger's share of the loss is 0.1.
        weights = {**objective.weights, "tags": 0.1}
        objective = objective.model_copy(update={"weights": weights, "convex": True})
    return objective


def _compression_weights(settings: Settings) -> dict[str, Weight]:
    """A weight of the divergence behind a bottleneck that rises over the whole run (Joint-IB)."""
    if not settings.has_spans or all(transform.kind != "bottleneck" for transform in settings.transforms):
        return {}
    return {COMPRESSION: LinearSchedule(kind="linear", start=0.0, end=_COMPRESSION)}


def _writing_weights(settings: Settings) -> dict[str, Weight]:
    """Small weights of what a writer learns; its divergences join over the whole run (Joint-IB)."""
    if settings.auxiliaries.span_vae is None:
        return {}
    names = (RECONSTRUCTION, SYNONYMS) if settings.auxiliaries.span_vae.synonyms else (RECONSTRUCTION,)
    rising = LogisticSchedule(kind="logistic", end=_WRITING)
    weights: dict[str, Weight] = dict.fromkeys(names, _WRITING)
    return weights | {name + DIVERGENCE: rising for name in names}


def _with_word_size(settings: Settings, generating: SpanVaeSettings, size: int) -> Settings:
    """Settings whose writer reads embeddings of the size that a file of word vectors has."""
    chosen = generating.model_copy(update={"word_size": size})
    auxiliaries = settings.auxiliaries.model_copy(update={"span_vae": chosen})
    return settings.model_copy(update={"auxiliaries": auxiliaries})


def provenance(setup: Setup, documents: Mapping[str, Documents]) -> dict[str, Any]:
    """What a reader needs to repeat a run: settings, versions and digests of the data."""
    packages = ("torch", "transformers", "tokenizers", "numpy")
    versions = {"python": platform.python_version(), "spanwright": spanwright.__version__}
    return {
        "settings": setup.model.settings.model_dump(mode="json"),
        "corpora": {name: digest(split) for name, split in documents.items()},
        "versions": {**versions, **{name: version(name) for name in packages}},
        "threads": torch.get_num_threads(),
    }


def digest(documents: Documents) -> str:
    """A digest of the ids, texts, entities, words and sentences of documents."""
    state = hashlib.blake2b(digest_size=16)
    for document in documents:
        borders = (document.words, document.sentences)
        state.update(repr((document.id, document.text, document.entities, *borders)).encode())
    return state.hexdigest()


def _refuse_empty(train: Documents, kept: Documents, dev: Documents) -> None:
    if not train or not dev:
        raise InputError(f"the {'dev' if train else 'training'} corpus is empty: no document could be read")
    if not kept:
        raise InputError("every training document also stands in the evaluation data; give other files")
    if not any(document.entities for document in kept):
        raise InputError(
            f"the training corpus has no entity in its {len(kept)} documents: nothing can be learnt from it"
        )


def _warnings(reports: dict[str, SplitReport]) -> list[str]:
    """What a user should know before waiting for a training."""
    warnings: list[str] = []
    for split, report in reports.items():
        if report.unknown_types:
            named = ", ".join(f"{name} ({count})" for name, count in sorted(report.unknown_types.items()))
            warnings.append(f"{split} has types that train lacks; they count as misses: {named}")
        if not report.entities:
            warnings.append(f"{split} has no entity: its scores say nothing")
    return warnings
