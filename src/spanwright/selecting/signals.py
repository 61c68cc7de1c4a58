"""What a model makes of texts that nobody has annotated: its doubts, its two views, and vectors of spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spanwright.analysis.spans import unit_vectors
from spanwright.arrays import Floats, Floats32
from spanwright.batches.batch import Array, Batch
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.parts.batch import to_tensors
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.predictions import Predictions, as_arrays
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, words

Mention = tuple[int, int, int]
"""First word, last word (inclusive) and type."""

_LOWEST = 0.01
"""What is less likely to be an entity is no doubt: there are thousands of such spans in a text."""
_FOUND = 0.5
_PROBABLE = 0.1
"""From this probability on, a span is one of those that a text is about."""
_MOST_VECTORS = 8
"""Vectors that are kept of a text: those of the likeliest spans."""


@dataclass(slots=True)
class Signals:
    """What there is to learn from a text, as the model sees it."""

    document: Document
    words: frozenset[str]
    """Its word forms, without case."""
    mistakes: float = 0.0
    """How many mistakes the model expects to make: what it finds may be wrong (1 - its calibrated
    confidence), and what it does not find may be an entity (its probability)."""
    doubts: list[tuple[float, Mention]] = field(default_factory=list)
    """Each share of that, and where it is."""
    disagreements: list[tuple[float, Mention]] = field(default_factory=list)
    """What only one of tagger and spans finds, with its confidence."""
    vectors: Floats32 = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    """(spans, size): of the likeliest spans, with length one."""

    @property
    def disagreement(self) -> float:
        """How much tagger and spans differ: the sum of the confidences in what only one of them finds."""
        return sum(confidence for confidence, _ in self.disagreements)


def word_forms(document: Document) -> frozenset[str]:
    """The words of a text without case, as far as they have a letter."""
    forms = (document.text[start:end].casefold() for start, end in words(document))
    return frozenset(form for form in forms if any(map(str.isalpha, form)))


def has_two_views(model: TaggingModel[Any]) -> bool:
    """Whether a model has a tagger beside its spans."""
    return model.network.spans is not None and model.network.tagger is not None


def look_at(tagger: Tagger, documents: Iterable[Document]) -> list[Signals]:
    """The signals of texts, in their order."""
    found: list[Signals] = []
    for chunk in tagger.chunks(documents, lambda document: document):
        found += _Look(tagger, chunk).signals()
    return found


class _Look:
    """Looks at some documents together."""

    def __init__(self, tagger: Tagger, documents: Sequence[Document]) -> None:
        self._tagger = tagger
        self._model = tagger.model
        self._signals = [Signals(each, word_forms(each)) for each in documents]
        self._likely: list[list[tuple[float, Floats32]]] = [[] for _ in documents]

    @torch.inference_mode()
    def signals(self) -> list[Signals]:
        """What was found."""
        documents = [each.document for each in self._signals]
        for batch in self._tagger.batches(self._tagger.prepare(documents)):
            self._look_at_batch(batch)
        for signals, likely in zip(self._signals, self._likely, strict=True):
            best = sorted(likely, key=lambda each: -each[0])[:_MOST_VECTORS]
            if best:
                signals.vectors = unit_vectors(np.stack([vector for _, vector in best]))
        return self._signals

    def _look_at_batch(self, batch: Batch[Array]) -> None:
        network = self._model.network
        moved = to_tensors(batch, network.device)
        states = network.encoder(moved)
        if network.spans is None:
            assert network.tagger is not None  # build() sees to one of them
            self._add_doubts(network.tagger.predict(network.tagger(states), moved), batch)
            return
        self._look_at_spans(states, moved, batch)

    def _look_at_spans(self, states: WordStates, moved: Batch[Tensor], batch: Batch[Array]) -> None:
        network = self._model.network
        head = network.spans
        assert head is not None
        candidates = head.pruned(states, moved)
        vectors = head.representation(states, candidates.spans)
        scores = head.scorer(vectors, states, candidates)
        probabilities = head.scorer.probabilities(scores, candidates)
        span, type_ = (probabilities >= _LOWEST).nonzero().unbind(1)
        likely = probabilities[span, type_]
        taken = candidates.spans.take(span)
        self._add_doubts(Predictions.of(taken, type=type_, confidence=likely, rank=likely), batch)
        best, _ = probabilities.max(1)
        probable = (best >= _PROBABLE).nonzero().squeeze(1)
        window = candidates.spans.window[probable].cpu().numpy()
        rows = vectors.spans[probable].float().cpu().numpy()
        for document, p, row in zip(batch.document[window], best[probable].tolist(), rows, strict=True):
            self._likely[document].append((p, row))
        if network.tagger is not None:
            tags = network.tagger.predict(network.tagger(states), moved)
            self._add_disagreements(head.scorer.predict(scores, candidates), tags, batch)

    def _add_doubts(self, found: Predictions, batch: Batch[Array]) -> None:
        document, first, last, type_, confidence, _ = self._tagger.placed(as_arrays(found), batch)
        corpora = np.asarray([corpus for _, corpus in self._model.labels.keys])
        # A calibration is fitted on what is found: it says nothing about what is not.
        sure = self._model.reported(confidence, corpora[type_])
        doubt: Floats = np.where(confidence >= _FOUND, 1 - sure, confidence)
        for at, *mention, share in zip(document, first, last, type_, doubt.tolist(), strict=True):
            self._signals[at].mistakes += share
            self._signals[at].doubts.append((share, (int(mention[0]), int(mention[1]), int(mention[2]))))

    def _add_disagreements(self, spans: Predictions, tags: Predictions, batch: Batch[Array]) -> None:
        by_spans, by_tags = (_by_document(self._tagger, found, batch) for found in (spans, tags))
        for at in {*by_spans, *by_tags}:
            # Tags have one layer: what is inside of another entity is no disagreement.
            ours, theirs = _outermost(by_spans.get(at, {})), by_tags.get(at, {})
            different = [(p, key) for key, p in ours.items() if key not in theirs]
            different += [(p, key) for key, p in theirs.items() if key not in ours]
            self._signals[at].disagreements += different


def _by_document(tagger: Tagger, found: Predictions, batch: Batch[Array]) -> dict[int, dict[Mention, float]]:
    """The confidence of each mention, by document."""
    mentions: dict[int, dict[Mention, float]] = {}
    document, first, last, type_, confidence, _ = tagger.placed(as_arrays(found), batch)
    for at, *mention, p in zip(document, first, last, type_, confidence.tolist(), strict=True):
        key = int(mention[0]), int(mention[1]), int(mention[2])
        mentions.setdefault(int(at), {})[key] = p
    return mentions


def _outermost(mentions: dict[Mention, float]) -> dict[Mention, float]:
    """The mentions that are not inside of a longer one."""

    def is_inside(mention: Mention) -> bool:
        first, last, _ = mention
        return any(a <= first and last <= b and (a, b) != (first, last) for a, b, _ in mentions)

    return {mention: p for mention, p in mentions.items() if not is_inside(mention)}
