"""What went wrong: every wrong prediction and every gold entity that was not found, by kind.

A wrong prediction is of the first kind that fits:

- `type`: a gold entity has exactly its characters, with another type.
- `boundary`: it shares characters with a gold entity of its type.
- `both`: it shares characters with gold entities, all of other types.
- `spurious`: it shares characters with none.

A gold entity that was not found is `overlapped` if some prediction shares characters with it, whatever
its type, else `missed`. So the first four kinds add up to the false positives, and the last two to the
false negatives. Joint-IB calls the first kind category errors and the other wrong predictions span errors.

Which types are taken for which is seen from gold and predicted entities of the same span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.errors import InputError
from spanwright.evaluation.columns import Columns, Comparison, is_among
from spanwright.evaluation.overlaps import overlapped, partners
from spanwright.text import Entity

Kind = Literal["type", "boundary", "both", "spurious", "overlapped", "missed"]
PREDICTION_KINDS: tuple[Kind, ...] = ("type", "boundary", "both", "spurious")
GOLD_KINDS: tuple[Kind, ...] = ("overlapped", "missed")


@dataclass(frozen=True, slots=True)
class Example:
    """One entity that a number counts, or two that stand opposite each other."""

    kind: str
    document: str
    """The id of the document."""
    gold: Entity | None
    """The gold entity; for a wrong prediction the one that is nearest to it."""
    predicted: Entity | None
    """The predicted entity; for a gold entity that was not found the one that is nearest to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Mistakes:
    """The mistakes of a comparison."""

    comparison: Comparison
    prediction_kind: Integers
    """0 for correct, then the position in `PREDICTION_KINDS` plus 1: `(predicted entities,)`."""
    nearest_gold: Integers
    """The gold entity that a wrong prediction should have been, -1 for none: `(predicted entities,)`."""
    gold_kind: Integers
    """0 for found, then the position in `GOLD_KINDS` plus 1: `(gold entities,)`."""
    nearest_prediction: Integers
    """The prediction nearest to a gold entity that was not found, -1 for none: `(gold entities,)`."""

    @property
    def counts(self) -> dict[Kind, int]:
        """How many mistakes of each kind."""
        of_predictions = np.bincount(self.prediction_kind, minlength=len(PREDICTION_KINDS) + 1)[1:]
        of_golds = np.bincount(self.gold_kind, minlength=len(GOLD_KINDS) + 1)[1:]
        numbers = (*of_predictions.tolist(), *of_golds.tolist())
        return dict(zip((*PREDICTION_KINDS, *GOLD_KINDS), numbers, strict=True))

    @property
    def rates(self) -> dict[str, float]:
        """Bundling's rates: kinds as a share of false positives and false negatives together.

        `any boundary` is boundary and both. A wrong boundary mostly makes one false positive and one false
        negative, so its rate hardly exceeds a half.
        """
        counts = self.counts
        named = {str(kind): number for kind, number in counts.items()}
        named["any boundary"] = counts["boundary"] + counts["both"]
        return {name: _ratio(number, sum(counts.values())) for name, number in named.items()}

    @property
    def category_and_span(self) -> dict[str, dict[str, float]]:
        """Joint-IB's two kinds of wrong predictions: count, share of the wrong and of all predictions."""
        counts = self.counts
        wrong = sum(counts[kind] for kind in PREDICTION_KINDS)
        return {
            name: {
                "count": number,
                "share_of_wrong": _ratio(number, wrong),
                "share_of_predicted": _ratio(number, len(self.prediction_kind)),
            }
            for name, number in (("category", counts["type"]), ("span", wrong - counts["type"]))
        }

    def examples(self, kind: Kind) -> Iterator[Example]:
        """The mistakes of a kind, in the order of documents; made one by one, as there may be many."""
        if kind in GOLD_KINDS:
            gold = np.flatnonzero(self.gold_kind == GOLD_KINDS.index(kind) + 1)
            predicted = self.nearest_prediction[gold]
        else:
            predicted = np.flatnonzero(self.prediction_kind == PREDICTION_KINDS.index(kind) + 1)
            gold = self.nearest_gold[predicted]
        return examples(self.comparison, kind, gold, predicted)

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON, without the examples."""
        return {
            "counts": self.counts,
            "rates": self.rates,
            "category_and_span": self.category_and_span,
        }


def find_mistakes(comparison: Comparison) -> Mistakes:
    """Find the kind of every wrong prediction and of every gold entity that was not found."""
    gold, predicted, length = comparison.gold, comparison.predicted, comparison.length
    of_predictions = np.select(
        [
            predicted.matched,
            is_among(predicted.span, gold.span),
            overlapped(predicted, gold, length, same_type=True),
            overlapped(predicted, gold, length, same_type=False),
        ],
        [0, 1, 2, 3],
        default=4,
    )
    of_golds = np.select([gold.matched, overlapped(gold, predicted, length, same_type=False)], [0, 1], 2)
    nearest_gold = np.full(len(of_predictions), -1, np.int64)
    same_span = of_predictions == 1
    nearest_gold[same_span] = _on_span(comparison, predicted.span[same_span])
    for kind, same_type in ((2, True), (3, False)):
        chosen = of_predictions == kind
        found = partners(predicted, gold, length, same_type=same_type, chosen=chosen)
        nearest_gold[chosen] = found[chosen]
    nearest_prediction = partners(gold, predicted, length, same_type=False, chosen=of_golds == 1)
    return Mistakes(comparison, of_predictions, nearest_gold, of_golds, nearest_prediction)


def examples(comparison: Comparison, kind: str, gold: Integers, predicted: Integers) -> Iterator[Example]:
    """Pairs of positions as entities; -1 stands for none, on one side at most."""
    golds, predictions = comparison.gold, comparison.predicted
    for left, right in zip(gold.tolist(), predicted.tolist(), strict=True):
        document = golds.document[left] if left >= 0 else predictions.document[right]
        yield Example(
            kind,
            comparison.pairs[document].document.id,
            golds.entities[left] if left >= 0 else None,
            predictions.entities[right] if right >= 0 else None,
        )


def _on_span(comparison: Comparison, spans: Integers) -> Integers:
    """A gold entity with each of these spans: one that was not found, if there is any."""
    gold = comparison.gold
    order = np.lexsort((gold.matched, gold.span))
    return order[np.searchsorted(gold.span[order], spans)]


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Every gold and every predicted entity once, with the entity that stands opposite."""

    comparison: Comparison
    gold: Integers
    """Positions of gold entities, -1 for none: `(pairs,)`."""
    predicted: Integers
    """Positions of predicted entities, -1 for none: `(pairs,)`."""

    @property
    def matrix(self) -> Integers:
        """Gold types (rows) by predicted types (columns), none last: `(types + 1, types + 1)`."""
        size = len(self.comparison.types) + 1
        cells = np.bincount(self._rows() * size + self._columns(), minlength=size * size)
        return cells.reshape(size, size)

    def examples(self, gold_type: str | None, predicted_type: str | None) -> Iterator[Example]:
        """The entities that a cell counts of the matrix; None stands for no entity."""
        row, column = self._number(gold_type), self._number(predicted_type)
        chosen = (self._rows() == row) & (self._columns() == column)
        kind = f"{gold_type or 'none'} as {predicted_type or 'none'}"
        return examples(self.comparison, kind, self.gold[chosen], self.predicted[chosen])

    def to_dict(self) -> dict[str, Any]:
        """The matrix for JSON; the last row and column are none."""
        return {"types": list(self.comparison.types), "gold_by_predicted": self.matrix.tolist()}

    def _rows(self) -> Integers:
        return np.append(self.comparison.gold.type, len(self.comparison.types))[self.gold]

    def _columns(self) -> Integers:
        return np.append(self.comparison.predicted.type, len(self.comparison.types))[self.predicted]

    def _number(self, type_: str | None) -> int:
        if type_ is None:
            return len(self.comparison.types)
        if type_ not in self.comparison.types:
            known = ", ".join(map(repr, self.comparison.types))
            raise InputError(
                f"confusion: no entity has type {type_!r}; expected None (no entity) or one of {known}"
            )
        return self.comparison.types.index(type_)


def find_confusions(comparison: Comparison) -> Confusion:
    """Put entities of the same span opposite each other.

    Equal types come first; then what is left on a span, in the order of types. The rest is opposite none.
    So the rows of the matrix add up to the gold entities of each type and the columns to the predicted.
    """
    gold, predicted = comparison.gold, comparison.predicted
    right_gold, right_predicted = (_ordered(side, side.matched) for side in (gold, predicted))
    rest_gold, rest_predicted = (_ordered(side, ~side.matched) for side in (gold, predicted))
    gold_numbers, predicted_numbers = _ranked(gold.span[rest_gold], predicted.span[rest_predicted])
    _, at_gold, at_predicted = np.intersect1d(
        gold_numbers, predicted_numbers, assume_unique=True, return_indices=True
    )
    alone_gold, alone_predicted = np.delete(rest_gold, at_gold), np.delete(rest_predicted, at_predicted)
    return Confusion(
        comparison,
        np.concatenate((right_gold, rest_gold[at_gold], alone_gold, np.full(len(alone_predicted), -1))),
        np.concatenate(
            (right_predicted, rest_predicted[at_predicted], np.full(len(alone_gold), -1), alone_predicted)
        ),
    )


def _ordered(side: Columns, chosen: Booleans) -> Integers:
    """The positions of chosen entities by span, then type."""
    positions = np.flatnonzero(chosen)
    return positions[np.lexsort((side.type[positions], side.span[positions]))]


def _ranked(gold: Integers, predicted: Integers) -> tuple[Integers, Integers]:
    """For each side, numbers that tell a span and the rank of an entity on it; spans are sorted."""
    gold_rank, predicted_rank = (
        np.arange(len(side)) - np.searchsorted(side, side) for side in (gold, predicted)
    )
    most = max(int(gold_rank.max(initial=0)), int(predicted_rank.max(initial=0))) + 1
    return gold * most + gold_rank, predicted * most + predicted_rank
