"""A model directory: JSON, safetensors and tokenizer.json. No pickle, ever.

    spanwright.json      format version, resolved settings, encoder configuration, calibration, scores, and
                         the digests of all files but the model card; written last
    labels.json          the label space
    model.safetensors    all weights, in 32 bits or, to be small, in 16; adapters are part of the encoder's,
                         and no weight is quantised
    tokenizer.json       the sub-word tokenizer
    vocabulary.json      the words of a writer, in models that keep one
    training-ids.json    the ids of the training documents of each corpus, in models that tell them
    README.md            the model card

A directory becomes visible only when it is complete, and loading runs no code from it. What files ask for is
compared with the weights, by their header, before it is built: a folder is refused in the time and memory
that its weights are worth.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.torch
from torch import Tensor

from spanwright import __version__
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import WindowPlan
from spanwright.batches.writer import Vocabulary
from spanwright.errors import DivergenceError, InputError, ModelError, SpanwrightError
from spanwright.evaluation import Calibration
from spanwright.evaluation.columns import Floats, Integers
from spanwright.formats.io.whole_files import sync
from spanwright.labels import LabelSpace
from spanwright.model_card import model_card
from spanwright.model_files import json_files
from spanwright.model_files.digests import (
    DESCRIPTION,
    LABELS,
    REQUIRED,
    TOKENIZER,
    VOCABULARY,
    WEIGHTS,
    Digests,
    write_description,
)
from spanwright.model_files.fitting import fitted
from spanwright.model_files.folders import model_folder
from spanwright.model_files.tokenizer_files import largest_file, pieces_from
from spanwright.model_files.weights import StoredWeights
from spanwright.parts.build import build, resolved_width_limit, with_types
from spanwright.parts.encoder import backbone
from spanwright.parts.encoder.adapters import merged
from spanwright.parts.encoder.kinds import check_direction
from spanwright.parts.finite import not_finite
from spanwright.parts.model import SpanModel
from spanwright.parts.spans.scorers.type_vectors import TEST_PROTOTYPES
from spanwright.settings import Settings, check
from spanwright.settings.auxiliaries import AuxiliarySettings
from spanwright.settings.settings import Decoding

FORMAT_VERSION = 3
READABLE = (1, 2, FORMAT_VERSION)
WITH_DIGESTS = 3
"""The first version whose files have digests."""
FILES = REQUIRED
_CONFIDENCE_DIGITS = 6
_LONGEST_REASON = 800
_MOST_LETTERS = 1_000_000
"""Of all texts about types, which become pieces when a model is loaded."""


@dataclass(frozen=True, slots=True)
class ConfidenceScale:
    """What confidences in the types of one corpus mean."""

    calibration: Calibration
    thresholds: dict[str, float]
    """By type, as those of `TrainedModel`."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A span model with everything needed to use it on text."""

    network: SpanModel
    pieces: PieceEncoder
    labels: LabelSpace
    settings: Settings
    """Resolved: no `auto` is left that the network or decoding depends on."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the model card tells: training data, scores, versions."""
    calibration: Calibration | None = None
    """From the network's confidences to probabilities; None for models made before there were any."""
    thresholds: dict[str, float] = field(default_factory=dict)
    """For each type of dev, the lowest calibrated confidence that gives its best F1 there."""
    scales: dict[str, ConfidenceScale] = field(default_factory=dict)
    """By corpus, where each has types of its own: what holds for these instead of calibration and thresholds.
    Without any, as in older models, types of one name have one threshold."""
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    """The words that a model with a writer can write."""

    def reported(self, confidence: npt.ArrayLike, corpus: Integers | int = 0) -> Floats:
        """The network's confidences as they stand on entities: calibrated, if the model is; same shape.

        `corpus` is the position of the corpus that all are from, or of that of each.
        """
        # Rounded before as well, so that it depends on nothing finer than what an uncalibrated model reports.
        rounded = np.asarray(confidence, np.float64).round(_CONFIDENCE_DIGITS)
        if self.calibration is None:
            return rounded
        shown = self.calibration.apply(rounded)
        for name, scale in self.scales.items():
            own = corpus == self.labels.corpora.index(name)
            shown = np.where(own, scale.calibration.apply(rounded), shown)
        return shown.round(_CONFIDENCE_DIGITS)

    def threshold(self, name: str, corpus: int = 0) -> float:
        """The threshold of a type, by its name and the position of its corpus; 0 where it has none."""
        return self._thresholds_of(corpus).get(name, 0.0)

    @property
    def tuned(self) -> dict[str, float]:
        """All thresholds, by the names of types that tell their corpora; empty if none were tuned on dev."""
        named = zip(self.labels.names, self.labels.keys, strict=True)
        return {
            name: own[type_]
            for name, (type_, corpus) in named
            if type_ in (own := self._thresholds_of(corpus))
        }

    def _thresholds_of(self, corpus: int) -> dict[str, float]:
        """The thresholds of the types of a corpus."""
        if not self.scales:
            return self.thresholds
        scale = self.scales.get(self.labels.corpora[corpus])
        return scale.thresholds if scale is not None else {}

    @property
    def plan(self) -> WindowPlan:
        """How texts are cut for this model."""
        windows = self.settings.windows
        return WindowPlan(
            context=windows.context,
            pieces=min(windows.pieces, backbone.longest_input(self.network.encoder.config)),
            overlap=windows.overlap,
            width_limit=resolved_width_limit(self.settings),
        )

    @property
    def decoding(self) -> Decoding:
        """The decoding rule."""
        return "nested" if self.settings.decoding == "auto" else self.settings.decoding

    def with_types(self, descriptions: Mapping[str, str]) -> TrainedModel:
        """This model, also looking for types that it was not trained on, by name and description."""
        labels = self.labels.with_types(descriptions)
        network = with_types(self.network, labels, self.pieces)
        # A tagger has no tag for a new type, and a writer finds none: both stay behind.
        settings = self.settings.model_copy(update={"auxiliaries": AuxiliarySettings(), "output": "spans"})
        return replace(self, network=network, labels=labels, settings=settings, vocabulary=Vocabulary())

    def for_use(self) -> TrainedModel:
        """This model without what finds no entities: auto-encoders, unless its settings keep them, and
        auxiliaries of other packages."""
        chosen, network = self.settings.auxiliaries, self.network
        parts = {"span_vae": chosen.span_vae, "cvae": chosen.cvae}
        idle = [name for name, part in parts.items() if part is not None and not part.keep]
        if not idle and not chosen.others:
            return self
        keeps_writer = "span_vae" not in idle
        bare = SpanModel(
            encoder=network.encoder,
            spans=network.spans.unconditioned() if network.spans and "cvae" in idle else network.spans,
            tagger=network.tagger,
            output=network.output,
            writer=network.writer if keeps_writer else None,
        )
        auxiliaries = chosen.model_copy(update={**dict.fromkeys(idle), "others": ()})
        settings = self.settings.model_copy(update={"auxiliaries": auxiliaries})
        vocabulary = self.vocabulary if keeps_writer else Vocabulary()
        return replace(self, network=bare, settings=settings, vocabulary=vocabulary)


def save(model: TrainedModel, folder: Path, *, bits: Literal[16, 32] = 32) -> None:
    """Write a model directory; an older one of that name is replaced when the new one is complete.

    Weights in 16 bits take half the room, and are rounded to 11 binary digits.
    """
    weights = _contiguous(model.network)
    if name := not_finite(weights):
        raise DivergenceError(
            f"{folder}: the model is not written, as its weights {name!r} are not finite: its training "
            f"diverged; train it again with lower optimiser.learning_rates"
        )
    if bits == 16:
        weights = {name: _halved(name, weight, folder) for name, weight in weights.items()}
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _write_files(model, weights, partial)
        replace_folder(partial, folder)
    except (OSError, safetensors.SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        restore_folder(folder)
        raise SpanwrightError(f"{folder}: the model could not be written: {error}") from error


def _halved(name: str, weight: Tensor, folder: Path) -> Tensor:
    """A tensor in 16 bits, if it is of floats."""
    half = weight.half() if weight.is_floating_point() else weight
    if not_finite({name: half}):
        raise InputError(
            f"{folder}: the model is not written, as some of its weights {name!r} are too large for 16 bits; "
            f"expected at most 65504: keep 32 bits"
        )
    return half


def _write_files(model: TrainedModel, weights: dict[str, Tensor], folder: Path) -> None:
    description = {
        "format_version": FORMAT_VERSION,
        "spanwright_version": __version__,
        "settings": model.settings.model_dump(mode="json"),
        "encoder_config": backbone.plain_config(model.network.encoder.config),
        "facts": model.facts,
    }
    if model.calibration is not None:
        description["calibration"] = _plain_confidence(model.calibration, model)
    json_files.write(folder / LABELS, model.labels.to_dict(TEST_PROTOTYPES))
    if model.vocabulary.entries:
        json_files.write(folder / VOCABULARY, model.vocabulary.to_dict())
    safetensors.torch.save_file(weights, folder / WEIGHTS)
    # safetensors lets nobody but the owner read its file: a model is as readable as the rest of its folder.
    shutil.copymode(folder / LABELS, folder / WEIGHTS)
    model.pieces.tokenizer.save(str(folder / TOKENIZER))
    card = model_card(model.settings, model.labels, model.facts)
    (folder / "README.md").write_text(card, encoding="utf-8")
    write_description(folder, description)
    for file in folder.iterdir():
        sync(file)
    sync(folder)


def seal(folder: Path, **values: str) -> None:
    """Write the digests of a model directory anew, after files were added; older formats have none.

    `values` are written down as well.
    """
    description = _described(folder)
    if description["format_version"] >= WITH_DIGESTS:
        write_description(folder, {**description, **values})


def load(model: str | Path) -> TrainedModel:
    """Load a model directory, given by its path or by the name of an installed model."""
    folder = model_folder(model)
    description = _described(folder)
    try:
        return _loaded(description, digests_of(folder, description))
    except Exception as error:  # a stranger's files can be wrong in any way: one clear error for all of them
        reason = str(error).strip().partition("\n")[0][:_LONGEST_REASON] or type(error).__name__
        if isinstance(error, SpanwrightError) and str(folder) in reason:
            raise ModelError(reason) from error
        raise ModelError(f"{folder}: not a model that can be loaded: {reason}") from error


def _described(folder: Path) -> dict[str, Any]:
    """The values of `spanwright.json`, of a version that can be read."""
    path = folder / DESCRIPTION
    description = json_files.parse(json_files.content_of(path), path)
    version = description.get("format_version")
    if version not in READABLE or not isinstance(version, int):
        raise ModelError(
            f"{folder}: the model has format version {version!r:.20}; spanwright {__version__} "
            f"reads versions {READABLE[0]} to {FORMAT_VERSION}. It was written by version "
            f"{description.get('spanwright_version')!r:.20}"
        )
    return description


def digests_of(folder: Path, description: dict[str, Any] | None = None) -> Digests:
    """What the files of a model directory must be."""
    values = _described(folder) if description is None else description
    return Digests.stored(values, folder, expected=values["format_version"] >= WITH_DIGESTS)


def _loaded(description: dict[str, Any], files: Digests) -> TrainedModel:
    """The model of files that are looked at one by one, the smallest first."""
    path = files.folder / DESCRIPTION
    plain = json_files.section(description, "settings", path)
    config = json_files.section(description, "encoder_config", path)
    weights = StoredWeights.at(files.folder / WEIGHTS)
    if description["format_version"] == 1:
        weights = _from_version_1(plain, weights)
    settings, most = check(plain, str(path)), weights.largest_size
    labels = _stored_labels(files)
    confidence = _stored_confidence(description, labels, path)
    vocabulary = _stored_vocabulary(settings, files, most)
    content = files.content(TOKENIZER, largest_file(most))
    pieces = pieces_from(
        content, files.folder / TOKENIZER, most_pieces=most, names_corpus=settings.names_corpus
    )

    def made() -> SpanModel:
        encoder = backbone.from_config(config)
        return build(settings, encoder, labels=labels, pieces=pieces, vocabulary=len(vocabulary))

    network = fitted(made, weights)
    backbone.check_pieces(network.encoder.backbone, pieces, str(files.folder / TOKENIZER))
    network.load_state_dict(_finite_tensors(weights, files), assign=True)
    check_direction(network.encoder.backbone, str(config.get("model_type")))
    facts = description.get("facts", {})
    return TrainedModel(network.eval(), pieces, labels, settings, facts, vocabulary=vocabulary, **confidence)


def _finite_tensors(weights: StoredWeights, files: Digests) -> dict[str, Tensor]:
    tensors, digest = weights.read()
    files.check(WEIGHTS, digest)
    if name := not_finite(tensors):
        raise ModelError(f"the weights {name!r} in {WEIGHTS} are not finite: they answer nonsense")
    return tensors


def _stored_labels(files: Digests) -> LabelSpace:
    path = files.folder / LABELS
    values = json_files.parse(files.content(LABELS), path)
    try:
        labels = LabelSpace.from_dict(values)
    except (InputError, KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelError(f"{path}: {reason}") from None
    contexts = (text for own in labels.prototypes for instance in own for text in instance)
    letters = sum(map(len, (*labels.texts, *contexts)))
    if letters > _MOST_LETTERS:
        raise ModelError(
            f"{path}: has {letters} characters of texts about types; expected are at most {_MOST_LETTERS}"
        )
    return labels


def _stored_vocabulary(settings: Settings, files: Digests, most_words: int) -> Vocabulary:
    """The vocabulary of a model; empty without a writer."""
    if settings.auxiliaries.span_vae is None:
        return Vocabulary()
    path, values = files.folder / VOCABULARY, json_files.MOST_VALUES + most_words
    content = files.content(VOCABULARY, json_files.LARGEST + largest_file(most_words))
    return Vocabulary.from_dict(json_files.parse(content, path, values))


def _plain_confidence(calibration: Calibration, model: TrainedModel) -> dict[str, Any]:
    """What `_stored_confidence` reads; models without scales are written as before there were any."""
    scales = {
        name: {**scale.calibration.to_dict(), "thresholds": scale.thresholds}
        for name, scale in model.scales.items()
    }
    plain = {**calibration.to_dict(), "thresholds": model.thresholds}
    return {**plain, "corpora": scales} if scales else plain


def _stored_confidence(description: dict[str, Any], labels: LabelSpace, path: Path) -> dict[str, Any]:
    """The calibration, thresholds and scales of corpora that a model has, by the names of its fields."""
    if "calibration" not in description:
        return {}
    stored = dict(description["calibration"])
    corpora = dict(stored.pop("corpora", {}))
    if unknown := sorted(corpora.keys() - (set(labels.corpora) if labels.corpus else set())):
        raise ModelError(
            f"{path}: there is a calibration of the corpus {unknown[0]!r}, which has no types in labels.json"
        )
    common = _stored_scale(stored, path)
    scales = {name: _stored_scale(dict(scale), path) for name, scale in corpora.items()}
    return {"calibration": common.calibration, "thresholds": common.thresholds, "scales": scales}


def _stored_scale(stored: dict[str, Any], path: Path) -> ConfidenceScale:
    thresholds = dict(stored.pop("thresholds", {}))
    for type_, value in thresholds.items():
        if not 0 <= value <= 1:
            raise ModelError(f"{path}: the threshold of {type_!r} is {value}; it must be from 0 to 1")
    try:
        return ConfidenceScale(Calibration.from_dict(stored), thresholds)
    except InputError as error:
        raise ModelError(f"{path}: {error}") from None


def _from_version_1(settings: dict[str, Any], weights: StoredWeights) -> StoredWeights:
    """Weights under their present names; version 1 had one representation, and no part beside the spans."""
    settings["representation"]["kind"] = "composed"
    return weights.renamed(
        {name: name if name.startswith("encoder.") else f"spans.{name}" for name in weights.tensors}
    )


def replace_folder(new: Path, old: Path) -> None:
    """Put a complete folder in the place of another; at no moment is there a half-written one."""
    retired = _retired(old)
    shutil.rmtree(retired, ignore_errors=True)
    if old.exists():
        old.rename(retired)
    new.rename(old)
    sync(old.parent)
    shutil.rmtree(retired, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Put back the old folder of a replacement that was cut off between its two renames."""
    if not folder.exists() and _retired(folder).is_dir():
        _retired(folder).rename(folder)


def _retired(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.retired")


def _contiguous(network: SpanModel) -> dict[str, Tensor]:
    return {name: tensor.contiguous() for name, tensor in merged(network).state_dict().items()}
