"""From settings and documents to everything that a run needs: model, data and the truth about them."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch

import spanwright
from spanwright.artifact import TrainedModel
from spanwright.corpora.overlap import drop_shared
from spanwright.errors import InputError, SettingsError
from spanwright.parts.backbone import hidden_size, load_pretrained
from spanwright.parts.build import build
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
from spanwright.training.optimiser import default_rates

Documents = Sequence[Document]


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


def set_up(settings: Settings, train: Documents, dev: Documents, test: Documents) -> Setup:
    """Decide what settings leave open, load the encoder, prepare the data, build the model."""
    evaluation = {"dev": dev, "test": test} if test else {"dev": dev}
    kept, removed = drop_shared(train, [*dev, *test])
    _refuse_empty(train, kept, dev)
    labels, notes = label_space(settings, kept)
    torch.manual_seed(settings.training.seed)
    backbone, pieces = load_pretrained(settings.encoder.name, settings.encoder.dropout)
    settings = resolve(settings, kept, hidden_size(backbone))
    network = build(settings, backbone, labels=labels, pieces=pieces)
    model = TrainedModel(network, pieces, labels, settings)
    split = prepare_split(kept, pieces, model.plan, labels)
    if settings.windows.without_gold == "drop":
        split = without_empty_windows(split)
    reports = {"train": split.report}
    for name, documents in evaluation.items():
        reports[name] = prepare_split(documents, pieces, model.plan, labels).report
    return Setup(model, split, evaluation, reports, len(removed), [*notes, *_warnings(reports)])


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
    if settings.auxiliaries.tagger and settings.has_spans and "tags" not in settings.objective.weights:
        # Bundling Learning, section 4.1.2: the tagger's share of the loss is 0.1.
        weights = {**settings.objective.weights, "tags": 0.1}
        changes["objective"] = settings.objective.model_copy(update={"weights": weights, "convex": True})
    defaults = default_rates(encoder_width)
    if not settings.has_spans:
        del defaults["head"]
    rates = {**defaults, **settings.optimiser.learning_rates}
    changes["optimiser"] = settings.optimiser.model_copy(update={"learning_rates": rates})
    return settings.model_copy(update=changes)


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
