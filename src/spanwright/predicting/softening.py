"""Soft targets: documents whose entities are all that teachers think possible, each with its probability.

Probabilities are those of the networks themselves: not calibrated, not compared with thresholds, not decoded.
So entities overlap, and a span may have several types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch

from spanwright import artifact
from spanwright.arrays import Floats, Floats32, Integers
from spanwright.artifact import TrainedModel
from spanwright.devices import AUTO, chosen_device
from spanwright.errors import InputError
from spanwright.parts.batch import to_tensors
from spanwright.parts.spans.predictions import as_arrays
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity, words

LOWEST = 0.01
"""The lowest probability of a soft target by default."""
DIGITS = 6
"""Decimal places of probabilities."""
_OVERLOOKED = 0.01
"""What a teacher finds less likely than this share of the lowest probability counts as 0 in the mean: there
are millions of such spans, and together they could not change a mean by more than that share."""


class Teachers:
    """Models with the same types, which may differ in everything else."""

    def __init__(self, models: Sequence[TrainedModel], *, lowest: float = LOWEST) -> None:
        """What the models find less likely than `lowest`, on average, is no target."""
        if not models:
            raise InputError("there is no teacher: give at least one model")
        if not 0 < lowest <= 1:
            raise InputError(f"the lowest probability of soft targets is {lowest}; expected above 0, up to 1")
        for number, model in enumerate(models):
            _check_types(model, models[0], number)
        self.types = models[0].labels.types
        self._taggers = [Tagger(model) for model in models]
        self._lowest = lowest

    @classmethod
    def load(cls, folders: Sequence[str | Path], *, lowest: float = LOWEST, device: str = AUTO) -> Self:
        """The teachers of model directories."""
        place = chosen_device(device)
        return cls([artifact.load(folder, place) for folder in folders], lowest=lowest)

    def soften(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents of a stream with soft targets in place of their entities, in bounded memory."""
        for chunk in self._taggers[0].chunks(documents, lambda document: document):
            yield from self._soften_chunk(chunk)

    @torch.inference_mode()
    def _soften_chunk(self, documents: Sequence[Document]) -> list[Document]:
        found = [self._found(tagger, documents) for tagger in self._taggers]
        rows, mean = _mean([rows for rows, _ in found], [probability for _, probability in found])
        entities: list[list[Entity]] = [[] for _ in documents]
        # All teachers see the same words: only the pieces of these are a matter of the encoder.
        ranges = [words(document) for document in documents]
        kept = mean >= self._lowest
        for (document, first, last, type_), probability in zip(rows[kept].tolist(), mean[kept], strict=True):
            start, end = ranges[document][first][0], ranges[document][last][1]
            confidence = round(float(probability), DIGITS)
            entities[document].append(Entity(start, end, self.types[type_], confidence=confidence))
        return [document.with_entities(tuple(own)) for document, own in zip(documents, entities, strict=True)]

    def _found(self, tagger: Tagger, documents: Sequence[Document]) -> tuple[Integers, Floats]:
        """(targets, 4) and (targets,): document, first and last word and type of what a teacher thinks
        possible, and how likely it is."""
        network = tagger.model.network
        rows: list[Integers] = [np.zeros((0, 4), dtype=np.int64)]
        likely: list[Floats32] = [np.zeros(0, dtype=np.float32)]
        own = np.asarray([self.types.index(name) for name in tagger.model.labels.types])
        for batch in tagger.batches(tagger.prepare(documents)):
            found = network.likely(to_tensors(batch, network.device), _OVERLOOKED * self._lowest)
            document, first, last, type_, confidence, _ = tagger.placed(as_arrays(found), batch)
            rows.append(np.column_stack([document, first, last, own[type_]]))
            likely.append(confidence)
        return np.concatenate(rows), np.concatenate(likely).astype(np.float64)


def _mean(rows: Sequence[Integers], probabilities: Sequence[Floats]) -> tuple[Integers, Floats]:
    """(targets, 4) and (targets,): each row of the teachers once, and its mean; 0 where one has it not."""
    unique, place = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=np.concatenate(probabilities), minlength=len(unique))
    return unique, sums / len(rows)


def _check_types(model: TrainedModel, first: TrainedModel, number: int) -> None:
    """Refuse a teacher that has other types than the first one, or types of several corpora."""
    if model.labels.corpus:
        raise InputError(
            f"teacher {number + 1} has the types of each of its corpora {', '.join(model.labels.corpora)} "
            f"apart; expected a model whose types are those of one corpus"
        )
    mine, others = set(model.labels.types), set(first.labels.types)
    if mine != others:
        lacking = ", ".join(sorted(others - mine)) or "none"
        more = ", ".join(sorted(mine - others)) or "none"
        raise InputError(
            f"teacher {number + 1} has other types than the first: it lacks {lacking}, and also has "
            f"{more}; teachers must have the same types"
        )
