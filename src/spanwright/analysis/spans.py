"""A bounded sample of span vectors of a trained model: entities, other spans, and pairs that overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spanwright.arrays import Booleans, Floats32, Integers
from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Array, Batch, Spans
from spanwright.batches.prepare import gold_words
from spanwright.errors import InputError, counted
from spanwright.parts.batch import to_tensors
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.model import SpanHead
from spanwright.parts.spans.classes import OwnTypes
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document

Arrays = Sequence[Array]

NONE = -1
"""The type of spans that are no entity."""
NO_ENTITY = "no entity"
NEAR = 5
"""Words that a neighbour of an entity may be away from it."""
_CHUNK = 16
"""Documents that are looked at together; the search ends after the chunk that brings enough entities."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanSample:
    """What a model makes of spans of a corpus: of entities first, then of spans that are none."""

    types: tuple[str, ...]
    """The types of the model, by names that none shares with another."""
    vectors: Floats32
    """(spans, size): the vectors that the scorer gets; those of a bottleneck are its means."""
    evidence: Floats32 | None
    """(spans, evidence size): what these were before all transforms; None for models without any."""
    type: Integers
    """(spans,): the gold type id, or `NONE`. A span with two types is there twice."""
    scores: Floats32
    """(spans, types): with a bi-encoder the similarity to each type, else the logit of each type above its
    limit, which is the logit of no entity or, where there is no such class, that of the threshold. Types of
    other corpora than that of a span are no answers to it: nan."""
    thresholds: Floats32 | None
    """(windows, types): what the scores of a bi-encoder are compared with; nan at types of other corpora."""
    overlap: Floats32
    """(pairs,): words that an entity and a neighbour share / words that one of them has."""
    cosine: Floats32
    """(pairs,): the cosine between the vectors of such a pair."""
    classes: tuple[str, ...]
    """The classes that the model tells apart."""
    templates: Floats32
    """(classes, template size): what the scorer compares spans with, one vector for each class."""
    documents: int
    """How many documents were looked at."""

    @property
    def is_entity(self) -> Booleans:
        """(spans,): mask of the entities."""
        mask: Booleans = self.type != NONE
        return mask


def collect_spans(
    model: TrainedModel, documents: Sequence[Document], *, spans: int = 500, seed: int = 0
) -> SpanSample:
    """Look at documents in random order until `spans` entities are found, and draw up to `spans` others.

    An entity that is no candidate span of the model (too wide, cutting a word, of a type it does not know) is
    not looked at.
    """
    collector = _Collector(model, spans, np.random.default_rng(seed))
    for chunk in _chunks(documents, seed):
        collector.look_at(chunk)
        if collector.found >= spans:
            break
    return collector.sample()


def _chunks(documents: Sequence[Document], seed: int) -> Iterator[list[Document]]:
    order = np.random.default_rng(seed).permutation(len(documents))
    for start in range(0, len(order), _CHUNK):
        yield [documents[number] for number in order[start : start + _CHUNK]]


class _Draw:
    """A uniform sample of the rows that pass by: those with the lowest random keys."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self._size = size
        self._random = random
        self._keys = np.zeros(0)
        self.columns: list[Array] = []

    def add(self, rows: int, columns: Callable[[Integers], Arrays]) -> None:
        """Let rows pass by; `columns` makes those of the chosen rows, as most rows are never looked at."""
        known = len(self._keys)
        keys = np.concatenate([self._keys, self._random.random(rows)])
        kept = np.sort(np.argsort(keys)[: self._size])
        new = columns(kept[kept >= known] - known)
        before = self.columns or [column[:0] for column in new]
        stay = kept[kept < known]
        self.columns = [np.concatenate([old[stay], more]) for old, more in zip(before, new, strict=True)]
        self._keys = keys[kept]


class _Collector:
    """Runs a model over documents and keeps what a sample needs."""

    def __init__(self, model: TrainedModel, spans: int, random: np.random.Generator) -> None:
        self._model = model
        self._head = _span_head(model)
        self._own = OwnTypes(model.labels.sizes).to(model.network.device)
        self._is_transformed = isinstance(self._head.representation, Transformed)
        self._entities, self._others, self._thresholds = (_Draw(spans, random) for _ in range(3))
        self._pairs: list[Floats32] = []
        self._documents = 0
        self.found = 0

    @torch.inference_mode()
    def look_at(self, documents: Sequence[Document]) -> None:
        """Add the spans of documents to the sample."""
        model = self._model
        tagger = Tagger(model)
        prepared = tagger.prepare(documents)
        golds = [gold_words(item, model.labels).rows for item in prepared]
        for batch in tagger.batches(prepared, golds):
            self._look_at_batch(batch)
        self._documents += len(documents)

    def _look_at_batch(self, batch: Batch[Array]) -> None:
        moved = to_tensors(batch, self._model.network.device)
        states = self._model.network.encoder(moved)
        vectors, scores, thresholds = _vectors_and_scores(self._head, states, moved)
        own = self._own.of_windows(moved)
        if own is not None:
            scores = _only(scores, own[moved.spans.window])
            thresholds = None if thresholds is None else _only(thresholds, own)
        gold, type_ = batch.golds.span, batch.golds.type
        other = np.setdiff1d(np.arange(len(vectors)), gold)

        def columns(spans: Integers, types: Integers) -> Arrays:
            evidence = (self._evidence(states, moved.spans, spans),) if self._is_transformed else ()
            return vectors[spans], types, scores[spans], *evidence

        self._entities.add(len(gold), lambda rows: columns(gold[rows], type_[rows]))
        self._others.add(len(other), lambda rows: columns(other[rows], np.full(len(rows), NONE)))
        if thresholds is not None:
            self._thresholds.add(len(thresholds), lambda rows: (thresholds[rows],))
        self._pairs += [_near_pairs(batch.spans, vectors, span) for span in np.unique(gold).tolist()]
        self.found += len(gold)

    def _evidence(self, states: WordStates, spans: Spans[Tensor], positions: Integers) -> Floats32:
        """(positions, evidence size): what the vectors of some spans are before all transforms."""
        at = torch.from_numpy(positions).to(spans.first.device)
        return _array(self._head.representation.evidence(states, spans.take(at)))

    def sample(self) -> SpanSample:
        """What was found."""
        types = self._model.labels.names
        if not self.found:
            raise InputError(
                f"none of {counted(self._documents, 'document')} has an entity that is a candidate span of "
                f"the model; expected documents with entities of its types: {', '.join(types)}"
            )
        columns = zip(self._entities.columns, self._others.columns, strict=True)
        vectors, type_, scores, *evidence = (np.concatenate(pair) for pair in columns)
        overlap, cosine = np.concatenate(self._pairs).T
        classes, template_vectors = templates(self._model)
        return SpanSample(
            types=types,
            vectors=vectors,
            evidence=evidence[0] if evidence else None,
            type=type_,
            scores=scores,
            thresholds=self._thresholds.columns[0] if self._thresholds.columns else None,
            overlap=overlap,
            cosine=cosine,
            classes=classes,
            templates=template_vectors,
            documents=self._documents,
        )


def _span_head(model: TrainedModel) -> SpanHead[Any]:
    if model.network.spans is None:
        raise InputError(
            "the model has no span vectors to look at: it only tags words (scorer.kind is 'none', as in the "
            "recipe tagger); expected models that score spans"
        )
    return model.network.spans


def _vectors_and_scores(
    head: SpanHead[Any], states: WordStates, batch: Batch[Tensor]
) -> tuple[Floats32, Floats32, Floats32 | None]:
    """(spans, size), (spans, types) and, with a bi-encoder, (windows, types): vectors, scores, thresholds."""
    vectors = head.representation(states, batch.spans)
    found = head.scorer.span_scores(head.scorer(vectors, states, batch), batch)
    thresholds = None if found.threshold is None else _array(found.threshold)
    return _array(vectors.spans), _array(found.score), thresholds


def _near_pairs(spans: Spans[Array], vectors: Floats32, span: int) -> Floats32:
    """(pairs, 2): overlap and cosine of an entity with each other candidate of its window that is near."""
    window, first, last = spans.window, spans.first, spans.last
    shared = np.minimum(last, last[span]) - np.maximum(first, first[span]) + 1
    # Below zero, shared words are words between the two.
    near = np.flatnonzero((window == window[span]) & (shared >= -NEAR))
    near = near[near != span]
    shared = np.maximum(shared[near], 0)
    widths = spans.widths
    overlap = shared / (widths[near] + widths[span] - shared)
    unit = unit_vectors(vectors[[span, *near]])
    return np.column_stack([overlap, unit[1:] @ unit[0]]).astype(np.float32)


@torch.inference_mode()
def templates(model: TrainedModel) -> tuple[tuple[str, ...], Floats32]:
    """Class names and (classes, size): the rows of the last layer, or the type vectors of a bi-encoder."""
    found, labels = _span_head(model).scorer.templates(), model.labels
    several = int((found.type < 0).sum()) > 1
    none = iter([f"{NO_ENTITY} of {corpus}" for corpus in labels.corpora] if several else [NO_ENTITY])
    names = (labels.names[type_] if type_ >= 0 else next(none) for type_ in found.type.tolist())
    return tuple(names), _array(found.vector)


def unit_vectors(vectors: Floats32) -> Floats32:
    """(vectors, size): the vectors with length one; a vector of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats32 = vectors / np.maximum(norms, 1e-12)
    return unit


def _only(values: Floats32, own: Tensor) -> Floats32:
    """Values with nan where they are not own ones; a copy, as thresholds may be one row for all windows."""
    masked: Floats32 = np.where(own.cpu().numpy(), values, np.float32("nan"))
    return masked


def _array(tensor: Tensor) -> Floats32:
    array: Floats32 = tensor.detach().float().cpu().numpy()
    return array
