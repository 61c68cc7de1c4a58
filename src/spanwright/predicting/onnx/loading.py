"""Loading a model whose whole network is graphs: nothing of torch is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from spanwright.batches.batch import Array, Batch
from spanwright.batches.predictions import Predictions
from spanwright.batches.type_texts import described_pieces
from spanwright.devices import Processor, TaggingLoad, tagging_load
from spanwright.errors import ModelError, SettingsError
from spanwright.model_files import json_files
from spanwright.model_files.digests import DESCRIPTION, TOKENIZER, Digests
from spanwright.model_files.stored import described, digests_of, refusal, stored_confidence, stored_labels
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.model_files.tokenizer_files import largest_file, pieces_from
from spanwright.predicting.onnx.files import (
    DESCRIPTIONS,
    ENCODER,
    HEAD,
    TYPES,
    Graph,
    Runtime,
    file_name,
    graph_file,
    stored_weights_digest,
    usual_threads,
)
from spanwright.predicting.onnx.network import VECTORS, GraphNetwork
from spanwright.settings import check
from spanwright.settings.auxiliaries import AuxiliarySettings
from spanwright.settings.scorers import NO_NEW_TYPES

LONGEST = "longest_input"
"""In the description of an export: the most pieces that its encoder reads at once."""
_PIECES_OF_DEEP_HEADS = 512
"""Pieces of a batch where heads are span Transformers, whose graphs have the states of all words of all spans
in memory at a time: 150 MB with MiniLM and spans of up to 10 words."""
_BYTES_OF_PIECE = 16
"""Bytes of a graph that a piece takes at least, by its embedding."""


@dataclass(frozen=True, slots=True)
class _Graphs:
    """The graphs of a folder that are loaded with one runtime."""

    files: Digests
    runtime: Runtime
    threads: int

    @property
    def by_window(self) -> bool:
        """Whether windows are run one by one, each by one thread."""
        return self.runtime == "onnx-int8"

    def __call__(self, part: str) -> Graph:
        name, weights = graph_file(self.files.folder, part, self.runtime), stored_weights_digest(self.files)
        return Graph(name, self.files, weights=(weights,), threads=1 if self.by_window else self.threads)


@dataclass(frozen=True, slots=True)
class _GraphFields:
    """What a model has because its network is graphs."""

    graphs: _Graphs
    longest: int


@dataclass(frozen=True, slots=True)
class GraphModel(TaggingModel[GraphNetwork]):
    """A model that onnxruntime runs."""

    made_of: _GraphFields | None = None

    @property
    def longest_input(self) -> int:
        """The most pieces that the encoder reads at once."""
        return self._made_of.longest

    @property
    def device(self) -> Processor:
        """What the network runs on."""
        return Processor()

    @property
    def load(self) -> TaggingLoad:
        """How much is tagged at once.

        Batches in 8 bits are single windows: a batch has one scale for all its numbers, and what is found in
        a text must not depend on other texts. Threads then work on a window each.
        """
        usual, graphs = graph_load(deep_head=self.network.has_deep_head), self._made_of.graphs
        return replace(usual, windows=1, batches=graphs.threads) if graphs.by_window else usual

    def predict(self, batch: Batch[Array]) -> Predictions[Array]:
        """What the network predicts of a batch."""
        return self.network.predict(batch)

    def with_types(self, descriptions: Mapping[str, str]) -> Self:
        """This model, also looking for types that it was not trained on, by name and description."""
        labels = self.labels.with_types(descriptions)
        self._check_new_types()
        pieces, mask = described_pieces(labels.texts, self.pieces, self.longest_input)
        found = self._made_of.graphs(DESCRIPTIONS)({"pieces": pieces, "mask": mask.astype("int64")})
        settings = self.settings.model_copy(update={"auxiliaries": AuxiliarySettings()})
        network = self.network.with_types(found[VECTORS])
        return replace(self, network=network, labels=labels, settings=settings)

    def _check_new_types(self) -> None:
        if not self.settings.scorer.reads_descriptions:
            raise SettingsError(NO_NEW_TYPES)
        if self.network.answers_with_tags:
            raise SettingsError(
                "this export answers with tags, which new types have none of; load it with runtime 'torch'"
            )

    @property
    def _made_of(self) -> _GraphFields:
        assert self.made_of is not None  # only fields with defaults may follow those of all models
        return self.made_of


def graph_load(*, deep_head: bool) -> TaggingLoad:
    """How much graphs tag at once; less where the head is a span Transformer."""
    usual = tagging_load(Processor())
    return replace(usual, pieces=_PIECES_OF_DEEP_HEADS) if deep_head else usual


def has_all_graphs(folder: Path, runtime: Runtime) -> bool:
    """Whether the whole network of a model is graphs; exports of older versions have the encoder alone."""
    return (folder / graph_file(folder, HEAD, runtime)).is_file()


def load_graphs(folder: Path, runtime: Runtime, threads: int | None) -> GraphModel:
    """The model of a folder with graphs of its whole network."""
    description = described(folder)
    files = digests_of(folder, description)
    try:
        return _loaded(description, _Graphs(files, runtime, threads or usual_threads()))
    except Exception as error:  # a stranger's files can be wrong in any way: one clear error for all of them
        raise refusal(folder, error) from error


def _loaded(description: dict[str, Any], graphs: _Graphs) -> GraphModel:
    """The model of files that are looked at one by one, the smallest first."""
    folder, files = graphs.files.folder, graphs.files
    path = folder / DESCRIPTION
    settings = check(json_files.section(description, "settings", path), str(path))
    labels = stored_labels(files)
    confidence = stored_confidence(description, labels, path)
    encoder = graphs(ENCODER)
    most = (folder / graph_file(folder, ENCODER, graphs.runtime)).stat().st_size // _BYTES_OF_PIECE
    content = files.content(TOKENIZER, largest_file(most))
    pieces = pieces_from(content, folder / TOKENIZER, most_pieces=most, names_corpus=settings.names_corpus)
    types = graphs(TYPES)({}) if (folder / file_name(TYPES, "onnx")).exists() else {}
    network = GraphNetwork(encoder, graphs(HEAD), types)
    made_of = _GraphFields(graphs, _stored_longest(description, path))
    facts = description.get("facts", {})
    return GraphModel(network, pieces, labels, settings, facts, made_of=made_of, **confidence)


def _stored_longest(description: dict[str, Any], path: Path) -> int:
    found = description.get(LONGEST)
    if not isinstance(found, int) or found < 1:
        raise ModelError(
            f"{path}: {LONGEST} is {found!r:.20}; expected the most pieces that the encoder reads"
        )
    return found
