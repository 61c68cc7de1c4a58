"""A network that is graphs: from batches to predictions, without torch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from spanwright.batches.batch import Array, Batch, Column
from spanwright.batches.predictions import Predictions
from spanwright.decoding.tags import Chain, tagged_entities
from spanwright.predicting.onnx.files import Graph

EMISSIONS = "emissions"
"""The output of a head that answers with tags."""
VECTORS, LIMITS = "type_vectors", "type_thresholds"


@dataclass(frozen=True, slots=True)
class GraphNetwork:
    """The encoder and the head of a network."""

    encoder: Graph
    head: Graph
    types: dict[str, Array]
    """What the head compares spans with, by the names of its inputs; empty where it compares with nothing."""

    @property
    def answers_with_tags(self) -> bool:
        """Whether tags of words are the answer."""
        return EMISSIONS in self.head.outputs

    @property
    def has_deep_head(self) -> bool:
        """Whether the head is a span Transformer, which reads what the encoder's blocks read."""
        return "read_by_0" in self.head.inputs

    def predict(self, batch: Batch[Array]) -> Predictions[Array]:
        """What the network predicts of a batch."""
        if not len(batch.first_piece) or not (self.answers_with_tags or len(batch.spans)):
            return _nothing()
        pieces = {"pieces": batch.piece_ids, "mask": batch.piece_mask.astype(np.int64)}
        states = self.encoder({**pieces, "corpus": batch.corpus})
        found = self.head({**states, **head_inputs(batch), **self.types})
        if self.answers_with_tags:
            return _tagged(found, batch)
        return Predictions(**{column.name: found[column.name] for column in fields(Predictions)})

    def with_types(self, vectors: Array) -> GraphNetwork:
        """This network with vectors of other types, (kinds, types, size), which begin with its own.

        A type that was not trained has no number of its own for a threshold: it gets the mean of the others.
        """
        types = {VECTORS: vectors}
        if (limits := self.types.get(LIMITS)) is not None:
            new = vectors.shape[1] - limits.shape[1]
            types[LIMITS] = np.concatenate([limits, np.repeat(limits.mean(1, keepdims=True), new, 1)], 1)
        return replace(self, types=types)


def head_inputs(batch: Batch[Column]) -> dict[str, Column]:
    """What a head may read of a batch, by the names of its inputs."""
    spans = batch.spans
    return {
        "first_piece": batch.first_piece,
        "last_piece": batch.last_piece,
        "word_counts": batch.word_counts,
        "corpus": batch.corpus,
        "span_window": spans.window,
        "span_first": spans.first,
        "span_last": spans.last,
    }


def _tagged(found: dict[str, Array], batch: Batch[Array]) -> Predictions[Array]:
    """The tagged entities that their window owns."""
    weights = [found[name] for name in ("start", "end", "transitions") if name in found]
    chain = Chain(*weights) if weights else None
    tagged = tagged_entities(found[EMISSIONS], batch.word_counts, chain)
    columns = (tagged.window, tagged.first, tagged.last, tagged.type, tagged.confidence)
    predictions: Predictions[Array] = Predictions(*columns, rank=tagged.confidence)
    return predictions.take(batch.owns(tagged.window, tagged.first, tagged.last))


def _nothing() -> Predictions[Array]:
    whole, rest = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    return Predictions(whole, whole, whole, whole, rest, rest)
