"""A model directory: JSON, safetensors and tokenizer.json. No pickle, ever.

    spanwright.json      format version, resolved settings, encoder configuration, calibration, scores, and
                         the digests of all files but the model card; written last
    labels.json          the label space
    model.safetensors    all weights, in 32 bits or, to be small, in 16; adapters are part of the encoder's,
                         and no weight is quantised
    tokenizer.json       the sub-word tokenizer
    vocabulary.json      the words of a writer, in models that keep one
    training-ids.json    the ids of the training documents of each corpus, in models that list them
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

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from spanwright import __version__
from spanwright.batches.batch import Array, Batch
from spanwright.batches.predictions import Predictions
from spanwright.batches.writer import Vocabulary
from spanwright.errors import DivergenceError, InputError, ModelError, SpanwrightError
from spanwright.formats.io.whole_folders import whole_folder
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
from spanwright.model_files.stored import (
    FORMAT_VERSION,
    WITH_DIGESTS,
    described,
    digests_of,
    plain_confidence,
    refusal,
    stored_confidence,
    stored_labels,
)
from spanwright.model_files.tagging_model import ConfidenceScale, TaggingModel
from spanwright.model_files.tokenizer_files import largest_file, pieces_from
from spanwright.model_files.weights import StoredWeights
from spanwright.parts.batch import to_tensors
from spanwright.parts.build import build, with_types
from spanwright.parts.encoder import backbone
from spanwright.parts.encoder.adapters import merged
from spanwright.parts.encoder.kinds import check_direction
from spanwright.parts.finite import not_finite
from spanwright.parts.model import SpanModel
from spanwright.parts.spans.predictions import as_arrays
from spanwright.parts.spans.scorers.type_vectors import TEST_PROTOTYPES
from spanwright.settings import Settings, check
from spanwright.settings.auxiliaries import AuxiliarySettings

FILES = REQUIRED
__all__ = ["FILES", "FORMAT_VERSION", "ConfidenceScale", "TrainedModel", "digests_of", "load", "save", "seal"]


@dataclass(frozen=True, slots=True)
class TrainedModel(TaggingModel[SpanModel]):
    """A span model with all of its weights, by torch."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    """The words that a model with a writer can write."""

    @property
    def longest_input(self) -> int:
        """The most pieces that the encoder reads at once."""
        return backbone.longest_input(self.network.encoder.config)

    @property
    def device(self) -> torch.device:
        """What the network runs on."""
        return self.network.device

    @torch.inference_mode()
    def predict(self, batch: Batch[Array]) -> Predictions[Array]:
        """What the network predicts of a batch."""
        found = self.network.predict(to_tensors(batch, self.network.device))
        return as_arrays(found)

    def with_types(self, descriptions: Mapping[str, str]) -> TrainedModel:
        """This model, also looking for types that it was not trained on, by name and description."""
        labels = self.labels.with_types(descriptions)
        network = with_types(self.network, labels, self.pieces)
        # A tagger has no tag for a new type, and a writer finds none: both are left out.
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
    if not isinstance(model, TrainedModel):
        raise SpanwrightError(
            f"{folder}: the model is not written, because it is made of graphs, which lack its weights; load "
            f"it with runtime 'torch' to save it"
        )
    weights = _contiguous(model.network)
    if name := not_finite(weights):
        raise DivergenceError(
            f"{folder}: the model is not written, as its weights {name!r} are not finite: its training "
            f"diverged; train it again with lower optimiser.learning_rates"
        )
    if bits == 16:
        weights = {name: _halved(name, weight, folder) for name, weight in weights.items()}
    try:
        with whole_folder(folder) as partial:
            _write_files(model, weights, partial)
    except (OSError, safetensors.SafetensorError) as error:
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
        description["calibration"] = plain_confidence(model.calibration, model)
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


def seal(folder: Path, **values: str | int | None) -> None:
    """Write the digests of a model directory again, after files were added; older formats have none.

    `values` are written down as well; None takes one away.
    """
    description = described(folder) | values
    if description["format_version"] >= WITH_DIGESTS:
        write_description(folder, {key: value for key, value in description.items() if value is not None})


def load(model: str | Path, device: torch.device | None = None) -> TrainedModel:
    """Load a model directory, given by its path or by the name of an installed model, onto a device."""
    folder = model_folder(model)
    description = described(folder)
    try:
        loaded = _loaded(description, digests_of(folder, description))
    except Exception as error:  # a stranger's files can be wrong in any way: one clear error for all of them
        raise refusal(folder, error) from error
    if device is not None:
        loaded.network.to(device)  # not a fault of the files: what goes wrong here is raised as it is
    return loaded


def _loaded(description: dict[str, Any], files: Digests) -> TrainedModel:
    """The model of files that are looked at one by one, the smallest first."""
    path = files.folder / DESCRIPTION
    plain = json_files.section(description, "settings", path)
    config = json_files.section(description, "encoder_config", path)
    weights = StoredWeights.at(files.folder / WEIGHTS)
    if description["format_version"] == 1:
        weights = _from_version_1(plain, weights)
    settings, most = check(plain, str(path)), weights.largest_size
    labels = stored_labels(files)
    confidence = stored_confidence(description, labels, path)
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


def _stored_vocabulary(settings: Settings, files: Digests, most_words: int) -> Vocabulary:
    """The vocabulary of a model; empty without a writer."""
    if settings.auxiliaries.span_vae is None:
        return Vocabulary()
    path, values = files.folder / VOCABULARY, json_files.MOST_VALUES + most_words
    content = files.content(VOCABULARY, json_files.LARGEST + largest_file(most_words))
    return Vocabulary.from_dict(json_files.parse(content, path, values))


def _from_version_1(settings: dict[str, Any], weights: StoredWeights) -> StoredWeights:
    """Weights under their present names; version 1 had one representation, and no part beside the spans."""
    settings["representation"]["kind"] = "composed"
    return weights.renamed(
        {name: name if name.startswith("encoder.") else f"spans.{name}" for name in weights.tensors}
    )


def _contiguous(network: SpanModel) -> dict[str, Tensor]:
    return {name: tensor.cpu().contiguous() for name, tensor in merged(network).state_dict().items()}
