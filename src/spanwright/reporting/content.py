"""Everything that the page shows, as numbers: made from gold documents and the predictions of systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isfinite
from statistics import fmean
from string import ascii_uppercase
from typing import Any

from spanwright.errors import InputError
from spanwright.evaluation import (
    CRITERIA,
    Breakdowns,
    Comparison,
    Confusion,
    Criterion,
    CriterionScores,
    Difference,
    Interval,
    Mistakes,
    Scores,
    break_down,
    compare_documents,
    confidence_intervals,
    find_confusions,
    find_mistakes,
    paired_randomisation,
    score,
    strict_scores,
)
from spanwright.evaluation.concepts import ConceptScores, score_concepts
from spanwright.evaluation.reliability import Reliability, find_reliability
from spanwright.text import Document
from spanwright.text.sentences import sentences
from spanwright.text.words import words

Point = tuple[float, float]

_MOST_POINTS = 400
MOST_SYSTEMS = 12
"""More would not fit beside each other."""


@dataclass(frozen=True, slots=True)
class Curves:
    """What a journal says of a training; all empty where there is no journal."""

    loss: tuple[Point, ...] = ()
    """Step and loss; means of neighbouring points where there are many."""
    dev_f1: tuple[Point, ...] = ()
    """Epochs done, and micro F1 on the dev documents."""
    best_epoch: float | None = None
    """How many epochs were done when the model that was kept was scored."""
    notes: tuple[str, ...] = ()


def read_curves(journal: Iterable[Mapping[str, Any]]) -> Curves:
    """The curves in the lines of a journal (see `spanwright.training.journal`)."""
    loss: list[Point] = []
    dev_f1: list[Point] = []
    best: float | None = None
    for line in journal:
        if line.get("event") == "step":
            loss.append((line["step"], line["loss"]))
        elif line.get("event") == "epoch":
            dev_f1.append((line["epoch"], line["dev"]["micro"]["f1"]))
            best = line["epoch"] if line["best"] else best
    finite = [point for point in loss if isfinite(point[1])]
    return Curves(_thinned(finite), tuple(dev_f1), best, tuple(_notes(len(loss), len(finite))))


def _thinned(points: list[Point]) -> tuple[Point, ...]:
    """At most `_MOST_POINTS` points, each the mean of its neighbours."""
    size = -(-len(points) // _MOST_POINTS) or 1
    groups = (points[begin : begin + size] for begin in range(0, len(points), size))
    return tuple((fmean(x for x, _ in group), fmean(y for _, y in group)) for group in groups)


def _notes(lines: int, finite: int) -> Iterable[str]:
    if lines > finite:
        yield f"losses that are not finite numbers, left out of the curve: {lines - finite}"
    if finite > _MOST_POINTS:
        yield f"losses in the journal: {finite}; each point of the curve is a mean of neighbours"


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What one system predicted, and what is known about it."""

    name: str
    documents: Sequence[Document]
    journal: Sequence[Mapping[str, Any]] = ()
    """The lines of its training's journal, where there was a training."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What to say about it, such as recipe and encoder."""
    notes: tuple[str, ...] = ()
    """What a reader of its scores must know, such as problems in reading its file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemContent:
    """The numbers of one system."""

    key: str
    """One letter, which stands for the system in charts."""
    system: System
    comparison: Comparison
    scores: Scores
    by_criterion: dict[Criterion, CriterionScores]
    intervals: dict[str, Interval]
    """Of strict precision, recall and F1."""
    breakdowns: Breakdowns
    mistakes: Mistakes
    confusion: Confusion
    reliability: Reliability | None
    reliability_note: str
    """Why there is no reliability; empty where there is."""
    curves: Curves
    concepts: ConceptScores | None
    """None where gold or the system has no concepts."""


@dataclass(frozen=True, slots=True)
class Identifiers:
    """What is known of the identifiers of concepts, as of a lexicon."""

    same: Callable[[str], str] = str
    """What stands for all identifiers that mean the same."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The preferred name of each."""

    def with_name(self, id: str) -> str:
        """An identifier with the name of its concept, where that is known."""
        name = self.names.get(self.same(id), self.names.get(id))
        return id if name is None else f"{id} ({name})"


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """Strict micro F1 of two systems side by side, by their keys."""

    first: str
    second: str
    difference: Difference


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """The numbers of all systems against the same gold documents."""

    systems: tuple[SystemContent, ...]
    differences: tuple[SystemDifference, ...]
    """Every two systems, by approximate randomisation over documents."""
    gold_documents: int
    gold_entities: int
    types: tuple[str, ...]
    """The types of gold and of every system: those with most gold entities first."""
    identifiers: Identifiers
    """What is known of identifiers of concepts."""


def gather(
    gold: Sequence[Document],
    systems: Sequence[System],
    *,
    training: Iterable[Document] | None = None,
    identifiers: Identifiers | None = None,
) -> Content:
    """Score every system; with training documents, breakdowns tell seen mentions from unseen ones, too."""
    _check_names([system.name for system in systems])
    known = None if training is None else list(training)
    identifiers = identifiers or Identifiers()
    bordered = [_with_borders(document) for document in gold]
    found = tuple(
        _gather_system(key, bordered, system, known, identifiers)
        for key, system in zip(ascii_uppercase[: len(systems)], systems, strict=True)
    )
    strict = {each.key: each.by_criterion["strict"] for each in found}
    differences = tuple(
        SystemDifference(first, second, paired_randomisation(strict[first], strict[second]))
        for first, second in combinations(strict, 2)
    )
    scores = found[0].scores
    return Content(found, differences, scores.documents, scores.micro.gold, _types(found), identifiers)


def _with_borders(document: Document) -> Document:
    """The document with its words and sentences, which are then found once and not for every system."""
    return replace(document, words=words(document), sentences=sentences(document))


def _gather_system(
    key: str,
    gold: Sequence[Document],
    system: System,
    training: list[Document] | None,
    identifiers: Identifiers,
) -> SystemContent:
    comparison = compare_documents(gold, system.documents)
    by_criterion = {criterion: score(comparison, criterion) for criterion in CRITERIA}
    reliability, note = find_reliability(comparison)
    return SystemContent(
        key=key,
        system=system,
        comparison=comparison,
        scores=strict_scores(comparison),
        by_criterion=by_criterion,
        intervals=confidence_intervals(by_criterion["strict"]),
        breakdowns=break_down(comparison, training),
        mistakes=find_mistakes(comparison),
        confusion=find_confusions(comparison),
        reliability=reliability,
        reliability_note=note,
        curves=read_curves(system.journal),
        concepts=_concepts(comparison, training, identifiers),
    )


def _concepts(
    comparison: Comparison, training: list[Document] | None, identifiers: Identifiers
) -> ConceptScores | None:
    found = score_concepts(comparison.pairs, same=identifiers.same, training=training)
    return found if found.mentions.gold and found.mentions.predicted else None


def _types(systems: Sequence[SystemContent]) -> tuple[str, ...]:
    golds = {
        name: counts.gold for system in reversed(systems) for name, counts in system.scores.per_type.items()
    }
    return tuple(sorted(golds, key=lambda name: (-golds[name], name)))


def _check_names(names: list[str]) -> None:
    if not 1 <= len(names) <= MOST_SYSTEMS:
        raise InputError(f"report: found {len(names)} systems; expected 1 to {MOST_SYSTEMS}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"report: several systems are called {', '.join(map(repr, twice))}; expected distinct names, "
            f"such as --name first --name second"
        )
