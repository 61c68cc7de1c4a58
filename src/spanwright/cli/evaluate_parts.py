"""What `spanwright evaluate` tells beyond scores: each part for JSON and as tables of the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from spanwright.cli.tables.scores import (
    breakdown_tables,
    confusion_table,
    criteria_tables,
    difference_table,
    example_table,
    mistake_tables,
    reliability_table,
)
from spanwright.evaluation.breakdowns import break_down
from spanwright.evaluation.columns import Comparison
from spanwright.evaluation.confusion import find_confusions
from spanwright.evaluation.criteria import CRITERIA, Criterion, score
from spanwright.evaluation.mistake_passages import find_passages
from spanwright.evaluation.mistakes import find_mistakes
from spanwright.evaluation.reliability import find_reliability
from spanwright.evaluation.scores import strict_scores
from spanwright.evaluation.significance import (
    Difference,
    confidence_intervals,
    paired_bootstrap,
    paired_randomisation,
)
from spanwright.text import Document

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Part:
    """One analysis."""

    values: dict[str, Any]
    """All of it for JSON."""
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the numbers must know."""


def criteria_part(comparison: Comparison) -> Part:
    """Scores by every criterion, with intervals by bootstrap over documents."""
    scores = {criterion: score(comparison, criterion) for criterion in CRITERIA}
    intervals = {criterion: confidence_intervals(found) for criterion, found in scores.items()}
    values: dict[str, Any] = {
        criterion: found.to_dict()
        | {"intervals": {name: asdict(interval) for name, interval in intervals[criterion].items()}}
        for criterion, found in scores.items()
    }
    return Part(values, tuple(criteria_tables(scores, intervals)))


def breakdowns_part(comparison: Comparison, training: Iterable[Document] | None) -> Part:
    """Scores by attributes of entities; those that compare with training need its documents."""
    breakdowns = break_down(comparison, training)
    return Part(breakdowns.to_dict(), tuple(breakdown_tables(breakdowns)), breakdowns.notes)


def mistakes_part(comparison: Comparison, examples: int) -> Part:
    """Kinds of mistakes, confused types, and so many examples of each kind."""
    mistakes, confusion = find_mistakes(comparison), find_confusions(comparison)
    passages = {kind: find_passages(mistakes, kind, examples) for kind in mistakes.counts} if examples else {}
    told = [example_table(kind, found, mistakes.counts[kind]) for kind, found in passages.items() if found]
    values = mistakes.to_dict() | {
        "confusion": confusion.to_dict(),
        "examples": {kind: [passage.to_dict() for passage in found] for kind, found in passages.items()},
    }
    return Part(values, (*mistake_tables(mistakes), confusion_table(confusion), *told))


def confidence_part(comparison: Comparison) -> Part | None:
    """How far the confidences are from being probabilities; None if no prediction has one."""
    if all(entity.confidence is None for entity in comparison.predicted.entities):
        return None
    reliability, reason = find_reliability(comparison)
    if reliability is None:
        note = f"confidences left out: {reason}"
        return Part({"notes": [note]}, (), (note,))
    return Part(reliability.to_dict() | {"notes": []}, (reliability_table(reliability),))


def against_part(comparison: Comparison, other: Comparison, criteria: Sequence[Criterion]) -> Part:
    """Whether two systems differ by more than chance, by each of these criteria."""
    tests: dict[Criterion, tuple[Difference, Difference]] = {}
    for criterion in criteria:
        first, second = score(comparison, criterion), score(other, criterion)
        tests[criterion] = (paired_randomisation(first, second), paired_bootstrap(first, second))
    values: dict[str, Any] = {
        criterion: {
            "f1": randomised.first,
            "other_f1": randomised.second,
            "difference": randomised.difference,
            "p_randomisation": randomised.p_value,
            "p_bootstrap": resampled.p_value,
        }
        for criterion, (randomised, resampled) in tests.items()
    }
    notes = tuple(f"other system: {note}" for note in strict_scores(other).notes)
    return Part(values, (difference_table(tests),), notes)
