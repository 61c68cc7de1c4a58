"""What the network found in documents: small arrays until all of it is there, then entities, run by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.batches.prepare import PreparedDocument
from spanwright.batches.steps import Steps
from spanwright.decoding.spans import decode_in_runs
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.text import Document, Entity

_NO_COLUMN = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Found:
    """Predictions in their documents, before decoding; each column is (predictions,)."""

    document: np.ndarray
    """Position of the document in the list that was prepared."""
    first: np.ndarray
    """Its first word in the document."""
    last: np.ndarray
    """Its last word (inclusive)."""
    type: np.ndarray
    confidence: np.ndarray
    rank: np.ndarray

    @classmethod
    def of(cls, *columns: np.ndarray) -> Found:
        """The columns in this order, with integers of 32 bits, which are enough for words and types."""
        return cls(*(column.astype(np.int32) if column.dtype == np.int64 else column for column in columns))

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """All predictions of several parts."""
        columns = [[getattr(part, name) for part in parts] or [_NO_COLUMN] for name in cls.__slots__]
        return cls(*map(np.concatenate, columns))


@dataclass(frozen=True, slots=True)
class Reporting:
    """How predictions are answered: as which types, and from which confidence on."""

    model: TaggingModel[Any]
    names: Sequence[str]
    """What each type is called; a type without a name is no answer."""
    lowest: Floats
    """(types,): the lowest confidence that an entity of each type may have."""

    def tagged(self, prepared: Sequence[PreparedDocument], found: Found) -> Steps[list[Document]]:
        """The documents with the entities that decoding leaves, in steps."""
        entities: list[list[Entity]] = [[] for _ in prepared]
        # Laid end to end, the documents' words do not overlap: one decoding serves them all.
        sizes = np.asarray([len(item.words) for item in prepared], dtype=np.int64)
        shift = (np.cumsum(sizes) - sizes)[found.document]
        columns = (found.first + shift, found.last + shift, found.type, found.rank)
        for run in decode_in_runs(*columns, self.model.decoding):
            for document, entity in self._entities(prepared, found, run):
                entities[document].append(entity)
            yield
        return [item.document.tagged(tuple(own)) for item, own in zip(prepared, entities, strict=True)]

    def _entities(
        self, prepared: Sequence[PreparedDocument], found: Found, run: Integers
    ) -> Iterator[tuple[int, Entity]]:
        """The entities of decoded predictions, in order, with the position of the document of each."""
        corpora = np.asarray([corpus for _, corpus in self.model.labels.keys])
        type_ = found.type[run]
        reported = self.model.reported(found.confidence[run], corpora[type_])
        # Dropped after decoding, so that no entity takes the place of a dropped one.
        kept = (reported >= self.lowest[type_]) & np.array([name != "" for name in self.names])[type_]
        columns = (found.document[run], found.first[run], found.last[run], type_, reported)
        rows = zip(*(column[kept].tolist() for column in columns), strict=True)
        for (document, first, last), same in groupby(rows, key=itemgetter(0, 1, 2)):
            words = prepared[document].words
            start, end = int(words[first, 0]), int(words[last, 1])
            # Two types of a corpus may be one shared type: the more confident answer stays.
            best: dict[str, float] = {}
            for *_, one, confidence in same:
                name = self.names[one]
                best[name] = max(confidence, best.get(name, 0.0))
            for name, confidence in best.items():
                yield document, Entity(start, end, name, confidence=confidence)
