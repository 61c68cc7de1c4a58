"""Counts by the definitions, pair by pair: the reference of `buckets_and_errors.npz`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from golden.references.drawing import Arrays, Case, Draw, rows, whole

Row = tuple[int, int, int, int]
"""Document, type, first word, word after the last."""
Attribute = Callable[[Row], float]

BORDERS = {
    "eLen": (1, 2, 4),
    "tLen": (7, 16, 31),
    "eDen": (0.01, 0.025, 0.05),
}
"""The largest values of all buckets but the last."""


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    documents: tuple[tuple[int, int], ...]
    """Words and gold entities of each document."""
    types: int
    unused: tuple[int, ...] = ()
    """Types that no entity has."""
    widest: int = 6


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    inputs = {
        "document_length": whole([words for words, _ in shape.documents]),
        "num_types": whole(shape.types),
    }
    outputs: Arrays = {}
    for kind in ("nested", "flat"):
        gold = drawn_golds(draw, shape, flat=kind == "flat")
        predicted = drawn_predictions(draw, shape, gold, flat=kind == "flat")
        inputs |= {f"{kind}_gold": rows(gold, 4), f"{kind}_pred": rows(predicted, 4)}
        counted = {
            **dict(criteria(gold, predicted, shape.types)),
            **mistakes(gold, predicted),
            **dict(buckets(gold, predicted, shape)),
        }
        outputs |= {f"{kind}_{name}": array for name, array in counted.items()}
    return inputs, {**outputs, "flat_seqeval_strict_micro_prf": outputs["flat_strict_micro_prf"]}


def drawn_entity(draw: Draw, shape: Shape, document: int) -> Row:
    words = shape.documents[document][0]
    first = draw.integer(0, words - 1)
    end = draw.integer(first + 1, min(words, first + shape.widest))
    (type_,) = draw.chosen(sorted(set(range(shape.types)) - set(shape.unused)), 1)
    return document, type_, first, end


def drawn_golds(draw: Draw, shape: Shape, *, flat: bool) -> list[Row]:
    found: list[Row] = []
    for document, (_, count) in enumerate(shape.documents):
        own: list[Row] = []
        while len(own) < count:
            add(own, drawn_entity(draw, shape, document), flat=flat)
        found += own
    return found


def drawn_predictions(draw: Draw, shape: Shape, gold: list[Row], *, flat: bool) -> list[Row]:
    """Golds, golds with another type or end, and entities from nowhere."""
    found: list[Row] = []
    for document, type_, first, end in gold:
        other = drawn_entity(draw, shape, document)
        longer = min(end + 1, shape.documents[document][0])
        add(
            found,
            [
                (document, type_, first, end),
                (document, type_, first, end),
                (document, other[1], first, end),
                (document, type_, first, longer),
                (document, other[1], first, longer),
                other,
            ][draw.integer(0, 5)],
            flat=flat,
        )
    for document in range(len(shape.documents)):
        if draw.integer(0, 2) == 0:
            add(found, drawn_entity(draw, shape, document), flat=flat)
    return found


def add(entities: list[Row], entity: Row, *, flat: bool) -> None:
    """Add an entity unless it is there, or overlaps one where none may."""
    if entity not in entities and not (flat and any(overlap(entity, other) for other in entities)):
        entities.append(entity)


def overlap(one: Row, other: Row) -> bool:
    return one[0] == other[0] and one[2] < other[3] and other[2] < one[3]


def criteria(gold: list[Row], predicted: list[Row], types: int) -> Iterator[tuple[str, Tensor]]:
    """Counts of each type and of all together, by each criterion, and ratios over all."""
    marks: dict[str, Callable[[Row], Row | tuple[int, int, int]]] = {
        "strict": lambda row: row,
        "start_only": lambda row: row[:3],
        "end_only": lambda row: (row[0], row[1], row[3]),
    }
    for name, mark in marks.items():
        counts = []
        for type_ in range(types):
            sides = ({mark(row) for row in side if row[1] == type_} for side in (gold, predicted))
            golds, predictions = sides
            counts.append((len(golds & predictions), len(predictions - golds), len(golds - predictions)))
        right, wrong, missed = (sum(column) for column in zip(*counts, strict=True))
        yield name, whole([*counts, (right, wrong, missed)])
        yield f"{name}_micro_prf", ratios(right, right + wrong, right, right + missed)
    counts = []
    for type_ in range(types):
        golds, predictions = ([row for row in side if row[1] == type_] for side in (gold, predicted))
        hit = sum(any(overlap(row, other) for other in golds) for row in predictions)
        found = sum(any(overlap(row, other) for other in predictions) for row in golds)
        counts.append((hit, len(predictions) - hit, found, len(golds) - found))
    hit, wrong, found, missed = (sum(column) for column in zip(*counts, strict=True))
    yield "loose", whole([*counts, (hit, wrong, found, missed)])
    yield "loose_micro_prf", ratios(hit, hit + wrong, found, found + missed)


def ratios(correct: int, predicted: int, found: int, gold: int) -> Tensor:
    """(3,): precision, recall and F1; ratios over nothing are 0."""
    precision, recall = correct / max(1, predicted), found / max(1, gold)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return torch.tensor([precision, recall, f1], dtype=torch.float64)


def mistakes(gold: list[Row], predicted: list[Row]) -> Arrays:
    """The class of each entity, and counts and rates of mistakes."""
    of_predictions = [prediction_class(row, gold) for row in predicted]
    of_golds = [
        0 if row in predicted else 1 if any(overlap(row, other) for other in predicted) else 2 for row in gold
    ]
    false = sum(each > 0 for each in (*of_predictions, *of_golds))
    type_, boundary, both, spurious = (of_predictions.count(each) for each in range(1, 5))
    counts = [type_, boundary, both, spurious, of_golds.count(2), of_golds.count(1)]
    rates = [each / max(1, false) for each in (type_, boundary, both, boundary + both)]
    return {
        "pred_class": whole(of_predictions),
        "gold_class": whole(of_golds),
        "error_counts": whole(counts),
        "error_rates": torch.tensor(rates, dtype=torch.float64),
        "category_and_span_errors": whole([type_, boundary + both + spurious]),
    }


def prediction_class(row: Row, gold: list[Row]) -> int:
    touching = [other for other in gold if overlap(row, other)]
    if row in gold:
        return 0
    if any(other[2:] == row[2:] for other in touching):
        return 1
    if any(other[1] == row[1] for other in touching):
        return 2
    return 3 if touching else 4


def buckets(gold: list[Row], predicted: list[Row], shape: Shape) -> Iterator[tuple[str, Tensor]]:
    """Golds, predictions and correct ones by attributes."""
    lengths = [words for words, _ in shape.documents]
    density = [sum(row[0] == document for row in gold) / words for document, words in enumerate(lengths)]
    yield "entity_density", torch.tensor(density, dtype=torch.float64)
    attributes: dict[str, Attribute] = {
        "eLen": lambda row: row[3] - row[2],
        "tLen": lambda row: lengths[row[0]],
        "eDen": lambda row: density[row[0]],
    }
    for name, attribute in attributes.items():
        counts = [[0, 0, 0] for _ in range(len(BORDERS[name]) + 1)]
        for column, side in enumerate((gold, predicted, [row for row in predicted if row in gold])):
            for row in side:
                counts[sum(attribute(row) > border for border in BORDERS[name])][column] += 1
        yield f"bucket_{name}", whole(counts)
        yield (
            f"bucket_{name}_prf",
            torch.stack([ratios(right, told, right, golds) for golds, told, right in counts]),
        )
