"""The entities of each document, gold and predicted, with the kind of mistake that each one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Integers
from spanwright.evaluation.columns import Columns
from spanwright.evaluation.matching import Pair
from spanwright.evaluation.mistakes import GOLD_KINDS, PREDICTION_KINDS
from spanwright.reporting.content import SystemContent
from spanwright.text import Document, Entity, Range

KINDS: tuple[str, ...] = ("right", *PREDICTION_KINDS, *GOLD_KINDS)
"""What a mark can be, by the number that stands for it."""


@dataclass(frozen=True, slots=True)
class GoldMark:
    """A gold entity; kinds are those of each system, in their order."""

    type: str
    ranges: tuple[Range, ...]
    kinds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PredictedMark:
    """A predicted entity, in the offsets of the document that is shown."""

    type: str
    ranges: tuple[Range, ...]
    kind: int
    confidence: float | None
    nearest: int
    """The position of the gold mark that a wrong prediction should have been, -1 for none."""


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A document with the marks of all systems."""

    document: Document
    golds: tuple[GoldMark, ...]
    predictions: tuple[tuple[PredictedMark, ...], ...]
    """The predictions of each system."""
    note: str = ""
    """What is odd about it: that gold lacks it, or that a system does."""


def marked_documents(systems: Sequence[SystemContent]) -> Iterator[MarkedDocument]:
    """The gold documents in their order, then those that gold lacks, system by system."""
    sides = [_Side(system) for system in systems]
    for position in range(systems[0].scores.documents):
        yield _marked_gold(sides, position)
    for number, (system, side) in enumerate(zip(systems, sides, strict=True)):
        for position in range(system.scores.documents, len(system.comparison.pairs)):
            predictions: list[tuple[PredictedMark, ...]] = [()] * len(systems)
            predictions[number] = side.predictions(position)
            note = f"not among the gold documents, only among those of {system.key}"
            yield MarkedDocument(side.pair(position).document, (), tuple(predictions), note)


def _marked_gold(sides: Sequence[_Side], position: int) -> MarkedDocument:
    kinds = [side.gold_kinds(position) for side in sides]
    golds = tuple(
        GoldMark(entity.type, entity.ranges, tuple(kind.get(entity.key, 0) for kind in kinds))
        for entity in sides[0].golds(position)
    )
    lacking = [side.system.key for side in sides if side.pair(position).predicted is None]
    return MarkedDocument(
        sides[0].pair(position).document,
        golds,
        tuple(side.predictions(position) for side in sides),
        f"no prediction of {', '.join(lacking)} for this document" if lacking else "",
    )


class _Side:
    """The columns of one system, cut by document."""

    def __init__(self, system: SystemContent) -> None:
        self.system = system
        self._gold, self._predicted = system.comparison.gold, system.comparison.predicted
        documents = len(system.comparison.pairs)
        self._gold_borders = _borders(self._gold.document, documents)
        self._predicted_borders = _borders(self._predicted.document, documents)
        self._gold_kind = np.where(
            system.mistakes.gold_kind > 0, system.mistakes.gold_kind + len(PREDICTION_KINDS), 0
        )

    def pair(self, position: int) -> Pair:
        return self.system.comparison.pairs[position]

    def golds(self, position: int) -> tuple[Entity, ...]:
        begin, end = self._gold_borders[position : position + 2]
        return self._gold.entities[begin:end]

    def gold_kinds(self, position: int) -> dict[object, int]:
        """The kind of each gold entity of a document."""
        begin, end = self._gold_borders[position : position + 2]
        kinds = self._gold_kind[begin:end].tolist()
        return {entity.key: kind for entity, kind in zip(self._gold.entities[begin:end], kinds, strict=True)}

    def predictions(self, position: int) -> tuple[PredictedMark, ...]:
        begin, end = self._predicted_borders[position : position + 2]
        mistakes, first_gold = self.system.mistakes, self._gold_borders[position]
        kinds, nearest = mistakes.prediction_kind[begin:end], mistakes.nearest_gold[begin:end]
        return tuple(
            PredictedMark(entity.type, ranges, kind, entity.confidence, max(gold - first_gold, -1))
            for entity, ranges, kind, gold in zip(
                self._predicted.entities[begin:end],
                self._ranges(position, begin, end),
                kinds.tolist(),
                nearest.tolist(),
                strict=True,
            )
        )

    def _ranges(self, position: int, begin: int, end: int) -> list[tuple[Range, ...]]:
        """The ranges of predicted entities in the text that is shown, which is that of gold."""
        pair = self.pair(position)
        if not pair.blank_free:
            return [entity.ranges for entity in self._predicted.entities[begin:end]]
        base = int(self.system.comparison.base[position])
        visible = [place for place, character in enumerate(pair.document.text) if not character.isspace()]
        return [
            tuple((visible[start - base], visible[stop - base - 1] + 1) for start, stop in ranges)
            for ranges in _running_ranges(self._predicted, begin, end)
        ]


def _running_ranges(side: Columns, begin: int, end: int) -> Iterator[list[Range]]:
    """The ranges of each of some entities in the running text."""
    borders = np.searchsorted(side.ranges.owner, np.arange(begin, end + 1))
    for first, stop in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        yield list(
            zip(side.ranges.start[first:stop].tolist(), side.ranges.end[first:stop].tolist(), strict=True)
        )


def _borders(document: Integers, documents: int) -> list[int]:
    """Where the entities of each document begin, and where those of the last one end."""
    borders: list[int] = np.searchsorted(document, np.arange(documents + 1)).tolist()
    return borders
