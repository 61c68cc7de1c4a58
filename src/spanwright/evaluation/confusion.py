"""Which types are taken for which: gold and predicted entities of the same span, opposite each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanwright.errors import InputError
from spanwright.evaluation.columns import Booleans, Columns, Comparison, Integers
from spanwright.evaluation.mistakes import Example, examples


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
        """The entities behind a cell of the matrix; None stands for no entity."""
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
            legal = ", ".join(map(repr, self.comparison.types))
            raise InputError(
                f"confusion: no entity has type {type_!r}; legal are None (no entity) and {legal}"
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
