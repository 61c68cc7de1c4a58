"""Strict scores: an entity is found if one with the same document, character ranges and type is predicted.

Every gold entity counts, whatever a model could have predicted: one that is too wide, discontinuous or in
a document that the prediction lacks is a miss. An entity that occurs twice in a document counts once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spanwright.evaluation.columns import Comparison, compare_documents
from spanwright.frames import frame
from spanwright.text import Document

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Counts:
    """How many entities were found, wrongly predicted and missed. Ratios over nothing are 0."""

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
        )

    @property
    def gold(self) -> int:
        """The number of gold entities."""
        return self.true_positives + self.false_negatives

    @property
    def predicted(self) -> int:
        """The number of predicted entities."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> float:
        """The share of predicted entities that are gold; 0 when nothing is predicted."""
        return _ratio(self.true_positives, self.predicted)

    @property
    def recall(self) -> float:
        """The share of gold entities that are predicted; 0 when there is no gold entity."""
        return _ratio(self.true_positives, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _ratio(2 * self.true_positives, self.gold + self.predicted)

    def to_dict(self) -> dict[str, float]:
        """Counts and ratios for JSON."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "gold": self.gold,
            "predicted": self.predicted,
            **asdict(self),
        }


@dataclass(frozen=True, slots=True)
class Averages:
    """Means over types: `f1` is the mean of the types' F1, not the F1 of the mean precision and recall."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The outcome of an evaluation."""

    per_type: dict[str, Counts]
    """Every type of gold or prediction, sorted by name."""
    documents: int
    """The number of gold documents."""
    missing_documents: tuple[str, ...] = ()
    """Ids of gold documents that the prediction lacks: their entities are misses."""
    extra_documents: tuple[str, ...] = ()
    """Ids of predicted documents that gold lacks: their entities are false positives."""
    gold_duplicates: int = 0
    """Gold entities left out because the same one was in the document already."""
    predicted_duplicates: int = 0
    """Predicted entities left out because the same one was in the document already."""
    remarks: tuple[str, ...] = ()
    """What was decided on the way, such as how documents were paired."""

    @property
    def micro(self) -> Counts:
        """The counts of all types together."""
        return sum(self.per_type.values(), Counts())

    def to_frame(self) -> Any:
        """A table of pandas with a row for each type, and one for all of them together."""
        counts = {**self.per_type, "all": self.micro}
        rows = (
            (type, each.precision, each.recall, each.f1, each.gold, each.predicted)
            for type, each in counts.items()
        )
        return frame(rows, ("type", "precision", "recall", "f1", "gold", "predicted"))

    @property
    def macro(self) -> Averages:
        """Means over the types that occur in gold."""
        types = [counts for counts in self.per_type.values() if counts.gold]
        return Averages(
            precision=_ratio(sum(counts.precision for counts in types), len(types)),
            recall=_ratio(sum(counts.recall for counts in types), len(types)),
            f1=_ratio(sum(counts.f1 for counts in types), len(types)),
        )

    @property
    def unseen_types(self) -> tuple[str, ...]:
        """Types that were predicted and never occur in gold."""
        return tuple(name for name, counts in self.per_type.items() if not counts.gold)

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for each thing that a reader of the numbers must know."""
        lines = []
        if names := self.missing_documents:
            lines.append(f"documents that the prediction lacks, all misses: {_named(names)}")
        if names := self.extra_documents:
            lines.append(f"documents that gold lacks, all false positives: {_named(names)}")
        if names := self.unseen_types:
            lines.append(f"types that gold lacks, all false positives: {_named(names)}")
        for side, number in (("gold", self.gold_duplicates), ("predicted", self.predicted_duplicates)):
            if number:
                lines.append(f"{side} entities that repeat one of their document, counted once: {number}")
        return (*self.remarks, *lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "documents": self.documents,
            "micro": self.micro.to_dict(),
            "macro": asdict(self.macro),
            "per_type": {name: counts.to_dict() for name, counts in self.per_type.items()},
            "missing_documents": list(self.missing_documents),
            "extra_documents": list(self.extra_documents),
            "unseen_types": list(self.unseen_types),
            "gold_duplicates": self.gold_duplicates,
            "predicted_duplicates": self.predicted_duplicates,
            "notes": list(self.notes),
        }


def evaluate(
    gold: Iterable[Document], predicted: Iterable[Document], *, ignore_types: Iterable[str] = ()
) -> Scores:
    """Strict scores of predicted documents against gold ones; `ignore_types` count on neither side.

    Documents are paired by id, or by text where ids say nothing (`spanwright.evaluation.pair_documents`
    tells the rules and the errors). The order of documents and entities does not matter.
    """
    return strict_scores(compare_documents(gold, predicted, ignore_types=ignore_types))


def strict_scores(comparison: Comparison) -> Scores:
    """Strict scores of a comparison, with what a reader of the numbers must know."""
    pairs, gold, predicted = comparison.pairs, comparison.gold, comparison.predicted
    found = gold.type[gold.matched]
    right, all_gold, all_predicted = (
        np.bincount(types, minlength=len(comparison.types)).tolist()
        for types in (found, gold.type, predicted.type)
    )
    return Scores(
        per_type={
            name: Counts(
                right[number], all_predicted[number] - right[number], all_gold[number] - right[number]
            )
            for number, name in enumerate(comparison.types)
        },
        documents=sum(pair.gold is not None for pair in pairs),
        missing_documents=tuple(pair.document.id for pair in pairs if pair.predicted is None),
        extra_documents=tuple(pair.document.id for pair in pairs if pair.gold is None),
        gold_duplicates=comparison.gold_duplicates,
        predicted_duplicates=comparison.predicted_duplicates,
        remarks=comparison.notes,
    )


def _named(names: tuple[str, ...]) -> str:
    """`3 ('a', 'b', 'c')`, with the first few names only."""
    more = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(map(repr, names[:_NAMED]))}{more})"


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
