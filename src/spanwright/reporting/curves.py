"""Training curves from the journal of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Any

Point = tuple[float, float]

_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class Curves:
    """What a journal tells of a training; all empty where there is no journal."""

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
