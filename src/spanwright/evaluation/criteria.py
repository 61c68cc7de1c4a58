"""When is an entity found? Four answers, and the scores by each.

- `strict`: the same characters and type.
- `loose`: shares a character with an entity of its type on the other side; one entity may be matched by
  several. A prediction is correct if it overlaps a gold entity, a gold entity is found if a prediction
  overlaps it, so the two numbers may differ.
- `start`, `end`: the same first (last) character and type; places that several entities of a type share
  count once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from spanwright.arrays import Booleans, Floats, Integers
from spanwright.evaluation.columns import Columns, Comparison, distinct, is_among
from spanwright.evaluation.overlaps import overlapped
from spanwright.evaluation.scores import Averages

Criterion = Literal["strict", "loose", "start", "end"]
CRITERIA: tuple[Criterion, ...] = ("strict", "loose", "start", "end")


@dataclass(frozen=True, slots=True)
class Matches:
    """How many entities of each side have a match on the other. Ratios over nothing are 0."""

    gold: int = 0
    found: int = 0
    """Gold entities that were found."""
    predicted: int = 0
    correct: int = 0
    """Predicted entities that are correct."""

    def __add__(self, other: Matches) -> Matches:
        return Matches(
            self.gold + other.gold,
            self.found + other.found,
            self.predicted + other.predicted,
            self.correct + other.correct,
        )

    @property
    def precision(self) -> float:
        """The share of predicted entities that are correct."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold entities that were found."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def to_dict(self) -> dict[str, float]:
        """Counts and ratios for JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True, slots=True, eq=False)
class CriterionScores:
    """Scores by one criterion."""

    criterion: Criterion
    per_type: dict[str, Matches]
    """Every type of gold or prediction, sorted by name."""
    per_document: Integers
    """Gold, found, predicted and correct entities of each document: `(documents, 4)`.

    In the order of gold; then the documents that gold lacks.
    """
    gold_documents: int
    all_documents: bool
    """Whether documents without any entity count in `document_mean`, as 0."""

    @property
    def micro(self) -> Matches:
        """All types together."""
        return sum(self.per_type.values(), Matches())

    @property
    def macro(self) -> Averages:
        """Means over the types that occur in gold."""
        types = [(each.gold, each.found, each.predicted, each.correct) for each in self.per_type.values()]
        return _averages(np.array([row for row in types if row[0]], np.int64).reshape(-1, 4))

    @property
    def document_mean(self) -> Averages:
        """Means over documents; only n2c2 counts those without any entity, as 0."""
        rows = self.per_document
        if not self.all_documents:
            rows = rows[rows.any(axis=1)]
        return _averages(rows)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, but for the single documents."""
        return {
            "criterion": self.criterion,
            "micro": self.micro.to_dict(),
            "macro": asdict(self.macro),
            "document_mean": asdict(self.document_mean),
            "per_type": {name: matches.to_dict() for name, matches in self.per_type.items()},
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """What is counted on one side: entities, or the distinct places where they start or end."""

    document: Integers
    type: Integers
    hit: Booleans


def score(comparison: Comparison, criterion: Criterion = "strict") -> CriterionScores:
    """Scores by a criterion: per type, over all entities, over types and over documents."""
    gold, predicted = _marks(comparison, criterion)
    columns = (gold.type, gold.type[gold.hit], predicted.type, predicted.type[predicted.hit])
    by_type = np.stack([np.bincount(column, minlength=len(comparison.types)) for column in columns], axis=1)
    columns = (
        gold.document,
        gold.document[gold.hit],
        predicted.document,
        predicted.document[predicted.hit],
    )
    rows = [np.bincount(column, minlength=len(comparison.pairs)) for column in columns]
    return CriterionScores(
        criterion,
        {name: Matches(*row) for name, row in zip(comparison.types, by_type.tolist(), strict=True)},
        np.stack(rows, axis=1).astype(np.int64),
        gold_documents=sum(pair.gold is not None for pair in comparison.pairs),
        all_documents=comparison.n2c2,
    )


def _marks(comparison: Comparison, criterion: Criterion) -> Iterator[_Marks]:
    """What to count of gold, then of the prediction."""
    gold, predicted = comparison.gold, comparison.predicted
    for mine, theirs in ((gold, predicted), (predicted, gold)):
        match criterion:
            case "strict":
                yield _Marks(mine.document, mine.type, mine.matched)
            case "loose":
                hit = overlapped(mine, theirs, comparison.length, same_type=True)
                yield _Marks(mine.document, mine.type, hit)
            case "start" | "end":
                places = distinct(_places(mine, criterion, comparison.length))
                type_, offset = np.divmod(places, comparison.length)
                hit = is_among(places, _places(theirs, criterion, comparison.length))
                document = np.searchsorted(comparison.base, offset, side="right") - 1
                yield _Marks(document, type_, hit)


def _places(side: Columns, criterion: Literal["start", "end"], length: int) -> Integers:
    """A number for the type and the border of each entity, `(entities,)`."""
    return side.type * length + (side.start if criterion == "start" else side.end)


def _averages(counts: Integers) -> Averages:
    """Means of the ratios of rows of counts, 0 for no rows."""
    return Averages(*(ratios(counts).sum(axis=0) / max(len(counts), 1)).tolist())


def ratios(counts: Integers | Floats) -> Floats:
    """Precision, recall and F1 of rows of gold, found, predicted and correct entities: `(rows, 3)`."""
    gold, found, predicted, correct = counts.astype(np.float64).T
    precision, recall = _divide(correct, predicted), _divide(found, gold)
    return np.stack((precision, recall, _divide(2 * precision * recall, precision + recall)), axis=1)


def _divide(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
