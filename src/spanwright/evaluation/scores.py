"""Strict scores: an entity is found if one with the same document, character ranges and type is predicted.

Every gold entity counts, whatever a model could have predicted: one that is too wide, discontinuous or in
a document that the prediction lacks is a miss. An entity that occurs twice in a document counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from spanwright.evaluation.matching import Pair, Pairing, pair_documents
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


@dataclass(slots=True)
class _Tally:
    """Entities by type: as they are written, and distinct within their documents."""

    gold_written: Counter[str] = field(default_factory=Counter)
    predicted_written: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def add(self, pair: Pair) -> None:
        """Count the entities of a pair of documents."""
        gold, predicted = pair.gold_keys(), pair.predicted_keys()
        self.gold_written.update(type_ for _, type_ in gold)
        self.predicted_written.update(type_ for _, type_ in predicted)
        distinct_gold, distinct_predicted = set(gold), set(predicted)
        self.gold.update(type_ for _, type_ in distinct_gold)
        self.predicted.update(type_ for _, type_ in distinct_predicted)
        self.found.update(type_ for _, type_ in distinct_gold & distinct_predicted)

    def counts(self, type_: str) -> Counts:
        """The counts of one type."""
        found = self.found[type_]
        return Counts(found, self.predicted[type_] - found, self.gold[type_] - found)


def evaluate(
    gold: Iterable[Document], predicted: Iterable[Document], *, ignore_types: Iterable[str] = ()
) -> Scores:
    """Strict scores of predicted documents against gold ones; `ignore_types` count on neither side.

    Documents are paired by id, or by text where ids say nothing (`spanwright.evaluation.pair_documents`
    tells the rules and the errors). The order of documents and entities does not matter.
    """
    pairing = pair_documents(gold, predicted)
    tally = _Tally()
    for pair in pairing.pairs:
        tally.add(pair)
    ignored = set(ignore_types)
    found_types = tally.gold.keys() | tally.predicted.keys()
    types = sorted(found_types - ignored)
    missing, extra = _one_sided(pairing)
    return Scores(
        per_type={type_: tally.counts(type_) for type_ in types},
        documents=sum(pair.gold is not None for pair in pairing.pairs),
        missing_documents=missing,
        extra_documents=extra,
        gold_duplicates=sum(tally.gold_written[type_] - tally.gold[type_] for type_ in types),
        predicted_duplicates=sum(tally.predicted_written[type_] - tally.predicted[type_] for type_ in types),
        remarks=(
            *pairing.notes,
            *(f"ignored type {type_!r}: no entity has it" for type_ in sorted(ignored - found_types)),
        ),
    )


def _one_sided(pairing: Pairing) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of the documents that only gold has, and of those that only the prediction has."""
    missing = tuple(pair.gold.id for pair in pairing.pairs if pair.gold and not pair.predicted)
    extra = tuple(pair.predicted.id for pair in pairing.pairs if pair.predicted and not pair.gold)
    return missing, extra


def _named(names: tuple[str, ...]) -> str:
    """`3 ('a', 'b', 'c')`, with the first few names only."""
    more = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(map(repr, names[:_NAMED]))}{more})"


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
