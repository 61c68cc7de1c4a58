"""Boundary smoothing by a loop over all spans: the reference of `boundary_smoothing.npz`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from golden.references.drawing import Arrays, Case, Draw, rows, whole

Gold = tuple[int, int, int]
"""First word, last word, type."""
Table = dict[tuple[int, int], list[float]]
"""Probabilities of no entity and of each type, by first and last word of a span."""


@dataclass(frozen=True)
class Shape:
    """Sizes of the file, and the settings that its names tell."""

    lengths: tuple[int, ...]
    golds: tuple[int, ...]
    """How many each sentence has."""
    types: int
    smoothings: tuple[float, ...]
    distances: tuple[int, ...]
    limits: tuple[int, ...]
    """Widths of the widest spans that enter a loss."""


def smoothed(words: int, golds: list[Gold], types: int, smoothing: float, distance: int) -> Table:
    """The targets of all spans of a text."""
    table = {(i, j): [0.0] * (types + 1) for i in range(words) for j in range(i, words)}
    for first, last, type_ in golds:
        kept = 1.0
        for (begin, finish), row in table.items():
            away = abs(begin - first) + abs(finish - last)
            if 0 < away <= distance:
                row[type_ + 1] += smoothing / (4 * away * distance)
                kept -= smoothing / (4 * away * distance)
        table[first, last][type_ + 1] += kept
    for row in table.values():
        row[1:] = [min(1.0, value) for value in row[1:]]
        total = max(1.0, sum(row[1:]))
        row[1:] = [value / total for value in row[1:]]
        row[0] = 1 - sum(row[1:])
    return table


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    golds = [drawn_golds(draw, *each, shape.types) for each in zip(shape.lengths, shape.golds, strict=True)]
    logits = {
        f"logits_sentence{sentence}": draw.normal(length, length, shape.types + 1)
        for sentence, length in enumerate(shape.lengths)
    }
    inputs = {
        "sentence_length": whole(shape.lengths),
        "num_classes": whole(shape.types + 1),
        "gold": rows(
            (
                (sentence, type_ + 1, first, last + 1)
                for sentence, own in enumerate(golds)
                for first, last, type_ in own
            ),
            4,
        ),
        **logits,
    }
    outputs: Arrays = {}
    for smoothing in shape.smoothings:
        for distance in shape.distances:
            tables = [
                smoothed(length, own, shape.types, smoothing, distance)
                for length, own in zip(shape.lengths, golds, strict=True)
            ]
            outputs |= dict(named(f"eps{smoothing}_D{distance}", tables, list(logits.values()), shape))
    return inputs, outputs


def drawn_golds(draw: Draw, words: int, count: int, types: int) -> list[Gold]:
    every = [(i, j, type_) for i in range(words) for j in range(i, words) for type_ in range(types)]
    return draw.chosen(every, count)


def named(name: str, tables: list[Table], logits: list[Tensor], shape: Shape) -> Iterator[tuple[str, Tensor]]:
    """Targets and losses by one smoothing and distance."""
    for sentence, (table, length) in enumerate(zip(tables, shape.lengths, strict=True)):
        grid = torch.zeros(length, length, shape.types + 1, dtype=torch.float64)
        grid[:, :, 0] = 1
        for (first, last), row in table.items():
            grid[first, last] = torch.tensor(row, dtype=torch.float64)
        yield f"target_{name}_sentence{sentence}", grid
    for suffix, limit in [("", max(shape.lengths)), *((f"_maxsize{each}", each) for each in shape.limits)]:
        each = torch.stack([loss(*pair, limit) for pair in zip(tables, logits, strict=True)])
        yield f"loss_{name}{suffix}_per_sentence", each
        yield f"loss_{name}{suffix}_batch", each.mean()


def loss(table: Table, logits: Tensor, limit: int) -> Tensor:
    """The cross entropy summed over spans up to a width."""
    total = torch.zeros((), dtype=torch.float64)
    for (first, last), row in table.items():
        if last - first < limit:
            total = total - torch.tensor(row, dtype=torch.float64) @ logits[first, last].log_softmax(0)
    return total
