"""Training and evaluation data as a model sees them, and the truth about what it can reach of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import (
    GoldWords,
    PreparedDocument,
    WindowPlan,
    gold_words,
    prepare,
    windows_of,
)
from spanwright.batches.store import PreparedStore
from spanwright.batches.windows import Window
from spanwright.corpora.stored import DocumentView
from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.settings.settings import Decoding
from spanwright.text import Document, Entity, words

_COVERED = 0.995
"""Share of the training entities that an automatic width limit covers."""
_LIKELY = 0.5


@dataclass(slots=True)
class SplitReport:
    """What a split holds, and how much of it a model with these candidates can find at best."""

    documents: int = 0
    words: int = 0
    entities: int = 0
    types: Counter[str] = field(default_factory=Counter)
    reachable: int = 0
    """Entities that are candidate spans of a known type: the recall ceiling, as a count."""
    too_wide: int = 0
    cutting_words: int = 0
    discontinuous: int = 0
    unknown_types: Counter[str] = field(default_factory=Counter)
    across_windows: int = 0
    """Entities that no window holds, as a sentence border runs through them."""
    repeated: int = 0
    """Entities that stand in the file twice with the same type."""
    second_types: int = 0
    """Entities on a span that has another type too."""
    shortened_words: int = 0
    """Words too long for a window, of which the encoder sees both ends."""

    @property
    def ceiling(self) -> float:
        """The highest recall that the candidates allow; scoring counts a repeated entity once."""
        return self.reachable / (self.entities - self.repeated) if self.entities else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain = {key: dict(value) if isinstance(value, Counter) else value for key, value in values.items()}
        return {**plain, "ceiling": self.ceiling}


@dataclass(frozen=True, slots=True)
class Split:
    """A split, prepared: its documents, windows, golds and report."""

    source: Sequence[Document]
    """The documents as they were given."""
    documents: Sequence[PreparedDocument]
    windows: list[Window]
    golds: list[Integers]
    """The gold rows (golds, 4) of each document."""
    report: SplitReport
    probabilities: list[Floats] | None = None
    """The probabilities (golds,) of each document's golds; None where all are certain."""


def prepare_split(
    documents: Sequence[Document],
    pieces: PieceEncoder,
    plan: WindowPlan,
    labels: LabelSpace,
    *,
    stored: bool = False,
    soft: bool = False,
) -> Split:
    """Prepare the documents of a split and count what is in them; `stored` keeps them in a file.

    With `soft`, the confidences of entities are the probabilities of golds.
    """
    report = SplitReport(documents=len(documents))
    made: PreparedStore | list[PreparedDocument] = PreparedStore(documents) if stored else []
    split = Split(documents, made, [], [], report, [] if soft else None)
    for index, document in enumerate(documents):
        prepared = prepare(document, pieces, plan, corpus=labels.corpus_id(document.corpus))
        windows = list(windows_of(prepared, index, plan, pieces.special_count))
        golds = gold_words(prepared, labels)
        _count(report, prepared, windows, golds, plan.width_limit)
        made.append(prepared)
        split.windows.extend(windows)
        split.golds.append(golds.rows)
        if split.probabilities is not None:
            _check_confidences(document)
            split.probabilities.append(golds.probability)
    return split


def _check_confidences(document: Document) -> None:
    """Refuse confidences that are no probabilities."""
    for entity in document.entities:
        if entity.confidence is not None and not 0 <= entity.confidence <= 1:
            raise InputError(
                f"document {document.id!r}: entity {entity.type!r} at [{entity.start}, {entity.end}) has the "
                f"confidence {entity.confidence}, but soft targets are probabilities: expected 0 to 1, or "
                f"training.targets='hard'"
            )


def without_empty_windows(split: Split) -> Split:
    """The split without the windows that own no gold."""
    kept = [
        window
        for window in split.windows
        if window.owns(split.golds[window.document][:, 0], split.golds[window.document][:, 1]).any()
    ]
    return replace(split, windows=kept)


def _count(
    report: SplitReport, prepared: PreparedDocument, windows: list[Window], golds: GoldWords, limit: int
) -> None:
    entities = prepared.document.entities
    rows = golds.rows
    narrow = rows[rows[:, 1] - rows[:, 0] < limit]
    reachable = sum(int(window.owns(narrow[:, 0], narrow[:, 1]).sum()) for window in windows)
    report.words += len(prepared.words)
    report.shortened_words += prepared.shortened
    report.entities += len(entities)
    report.types.update(entity.type for entity in entities)
    report.reachable += reachable
    report.too_wide += len(rows) - len(narrow)
    report.across_windows += len(narrow) - reachable
    report.cutting_words += len(golds.cutting)
    report.discontinuous += len(golds.discontinuous)
    report.unknown_types.update(entity.type for entity in golds.unknown)
    unfit = len(golds.cutting) + len(golds.discontinuous) + len(golds.unknown)
    report.repeated += len(entities) - unfit - len(rows)
    report.second_types += len(rows) - len(np.unique(rows[:, :2], axis=0))


def likely_entities(documents: Sequence[Document]) -> Sequence[Document]:
    """The documents with those of their entities that are at least as likely as not."""

    def likely(document: Document) -> Document:
        kept = (each for each in document.entities if each.confidence is None or each.confidence >= _LIKELY)
        return document.with_entities(tuple(kept))

    return DocumentView(documents, change=likely)


def automatic_width_limit(documents: Sequence[Document]) -> int:
    """The number of words that covers 99.5 % of the entities."""
    widths = sorted(width for document in documents for width in _widths(document))
    return widths[math.ceil(_COVERED * len(widths)) - 1] if widths else 1


def _widths(document: Document) -> list[int]:
    """Words that each entity in one piece touches; no width limit reaches the others."""
    entities = _in_one_piece(document)
    if not entities:
        return []
    ranges = np.asarray(words(document), dtype=np.int64).reshape(-1, 2)
    starts = [entity.start for entity in entities]
    ends = [entity.end for entity in entities]
    first = np.searchsorted(ranges[:, 1], starts, side="right")
    end = np.searchsorted(ranges[:, 0], ends, side="left")
    return [max(1, int(width)) for width in end - first]


def _in_one_piece(document: Document) -> list[Entity]:
    return [entity for entity in document.entities if not entity.fragments]


def automatic_decoding(documents: Sequence[Document]) -> Decoding:
    """The strictest rule that all annotated entities in one piece obey."""
    nested = False
    for document in documents:
        entities = _in_one_piece(document)
        spans = sorted({(entity.start, -entity.end) for entity in entities})
        nested |= len(spans) < len({entity.key for entity in entities})
        open_ends: list[int] = []
        for start, negative_end in spans:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and -negative_end > open_ends[-1]:
                return "nested"
            nested |= bool(open_ends)
            open_ends.append(-negative_end)
    return "non-crossing" if nested else "flat"
