"""Scores of parts of the entities: short and long ones, seen and unseen ones, and so on.

Matches are strict. Recall is over the gold entities of a bucket and precision over its predicted ones,
each by its own attribute; so a bucket's found and correct entities may differ, and the counts of the
buckets of an attribute add up to those of all entities. The unit of text is the sentence that an entity
begins in: that of the corpus, else one found by rule. Attributes and their limits:

- width: words that the entity touches; width to 10: the same in more buckets (DSpERT, Figure 2).
- text length: words of the sentence.
- entity density: gold entities that begin in the sentence / its words.
- nesting, relative to gold for both sides (DSpERT, section 4.5): inside a gold entity that covers others,
  around a gold entity that is nested in others, both, or neither.
- position: the third of the document that the entity begins in.
- label consistency, mention: see `spanwright.evaluation.familiarity`.
- out-of-vocabulary density: words of the sentence that no training document has / its words.

The limits of width, text length, label consistency and entity density are those of bundling learning
(Table 5); it gives none for out-of-vocabulary density.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanwright.arrays import Booleans, Floats, Integers
from spanwright.evaluation.columns import Columns, Comparison
from spanwright.evaluation.criteria import Matches
from spanwright.evaluation.familiarity import ACQUAINTANCES, Familiarity, familiarity
from spanwright.evaluation.running_text import (
    UNKNOWN,
    FoldedWords,
    RunningText,
    text_of_comparison,
    text_of_training,
)
from spanwright.text import Document


@dataclass(frozen=True, slots=True)
class _Scale:
    """Names of buckets and the highest value of each but the last."""

    names: tuple[str, ...]
    highest: tuple[float, ...]

    def place(self, values: Iterable[Integers | Floats]) -> _Placed:
        """The bucket of each value of gold and of the prediction."""
        return self.names, [np.searchsorted(self.highest, side, side="left") for side in values]


_WIDTH = _Scale(("1", "2", "3-4", "5+"), (1, 2, 4))
_WIDTH_TO_TEN = _Scale((*map(str, range(1, 10)), "10+"), tuple(range(1, 10)))
_LENGTH = _Scale(("1-7", "8-16", "17-31", "32+"), (7, 16, 31))
_DENSITY = _Scale(("0-0.01", "0.01-0.025", "0.025-0.05", "0.05+"), (0.01, 0.025, 0.05))
_CONSISTENCY = _Scale(("0-0.1", "0.1-0.5", "0.5-0.9", "0.9-1"), (0.1, 0.5, 0.9))
_UNKNOWN_WORDS = _Scale(("0", "0-0.1", "0.1-0.25", "0.25-1"), (0, 0.1, 0.25))
_NESTING = ("flat", "nested", "covering", "both")
_THIRDS = ("first third", "second third", "last third")


@dataclass(frozen=True, slots=True)
class Breakdowns:
    """For each attribute, the counts and ratios of each of its buckets, in order."""

    attributes: dict[str, dict[str, Matches]]
    notes: tuple[str, ...]
    """Which attributes were left out, and why."""

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        buckets = {
            attribute: {name: matches.to_dict() for name, matches in found.items()}
            for attribute, found in self.attributes.items()
        }
        return {"attributes": buckets, "notes": list(self.notes)}


def break_down(comparison: Comparison, training: Iterable[Document] | None = None) -> Breakdowns:
    """Counts and ratios by every attribute; those that compare with training need its documents."""
    if training is None:
        placed = _by_itself(comparison, text_of_comparison(comparison))
        missing = "label consistency, mention, out-of-vocabulary density"
        notes: tuple[str, ...] = (f"left out for want of training documents: {missing}",)
    else:
        vocabulary = FoldedWords({})
        documents = tuple(training)
        training_text = text_of_training(documents, vocabulary)
        text = text_of_comparison(comparison, vocabulary)
        known = familiarity(comparison, text, documents, training_text)
        placed = _by_itself(comparison, text) | _by_training(comparison, text, known)
        notes = ()
    counts = {name: _count(comparison, *buckets) for name, buckets in placed.items()}
    return Breakdowns(counts, notes)


_Placed = tuple[tuple[str, ...], Sequence[Integers]]
"""The names of buckets, and the bucket of each entity: of gold, then of the prediction."""


def _by_itself(comparison: Comparison, text: RunningText) -> dict[str, _Placed]:
    """Attributes that need nothing but the two sides."""
    sides = (comparison.gold, comparison.predicted)
    sentences = [text.sentence(side.start) for side in sides]
    lengths = _sentence_lengths(text)
    density = _ratio(np.bincount(sentences[0], minlength=len(lengths)), lengths)
    widths = [_widths(side, text) for side in sides]
    return {
        "width": _WIDTH.place(widths),
        "width to 10": _WIDTH_TO_TEN.place(widths),
        "text length": _LENGTH.place(lengths[at] for at in sentences),
        "entity density": _DENSITY.place(density[at] for at in sentences),
        "nesting": (_NESTING, [_nesting(_bounds(side), _bounds(comparison.gold)) for side in sides]),
        "position": (_THIRDS, [_third(side, comparison) for side in sides]),
    }


def _by_training(comparison: Comparison, text: RunningText, known: Familiarity) -> dict[str, _Placed]:
    """Attributes that compare with the training documents."""
    density = _ratio(text.sentence_words(text.word_number == UNKNOWN), _sentence_lengths(text))
    sentences = [text.sentence(side.start) for side in (comparison.gold, comparison.predicted)]
    return {
        "label consistency": _CONSISTENCY.place(known.label_consistency),
        "mention": (ACQUAINTANCES, known.acquaintance),
        "out-of-vocabulary density": _UNKNOWN_WORDS.place(density[at] for at in sentences),
    }


def _count(comparison: Comparison, names: tuple[str, ...], buckets: Sequence[Integers]) -> dict[str, Matches]:
    """The counts of each bucket."""
    gold, predicted = buckets
    columns = (
        gold,
        gold[comparison.gold.matched],
        predicted,
        predicted[comparison.predicted.matched],
    )
    counts = zip(*(np.bincount(column, minlength=len(names)).tolist() for column in columns), strict=True)
    return {name: Matches(*row) for name, row in zip(names, counts, strict=True)}


def _sentence_lengths(text: RunningText) -> Integers:
    """The number of words of each sentence, `(sentences,)`."""
    return text.sentence_words(np.ones(len(text.word_start), np.bool_))


def _widths(side: Columns, text: RunningText) -> Integers:
    """The number of words that each entity touches, `(entities,)`."""
    ranges = side.ranges
    touched = np.maximum(text.stop_word(ranges.end) - text.first_word(ranges.start), 0)
    return np.bincount(ranges.owner, touched, len(side.entities)).astype(np.int64)


def _bounds(side: Columns) -> Integers:
    """Where each entity begins and ends, `(entities, 2)`."""
    return np.column_stack([side.start, side.end])


def _nesting(spans: Integers, gold: Integers) -> Integers:
    """The position in `_NESTING` of each span: `(spans,)`."""
    covering, nested = gold[_cover(gold, gold)], gold[_lie_in(gold, gold)]
    return _lie_in(spans, covering) + 2 * _cover(spans, nested)


def _lie_in(spans: Integers, others: Integers) -> Booleans:
    """Whether each span lies in another one of other bounds: `(spans,)`."""
    # Of those that stand before it in order, one reaches as far.
    others = others[np.argsort(_order(others))]
    furthest = np.concatenate([[-1], np.maximum.accumulate(others[:, 1])])
    return furthest[np.searchsorted(_order(others), _order(spans), side="left")] >= spans[:, 1]


def _cover(spans: Integers, others: Integers) -> Booleans:
    """Whether each span covers another one of other bounds: `(spans,)`."""
    # Of those that stand after it in order, one ends as early.
    others = others[np.argsort(_order(others))]
    never = np.iinfo(np.int64).max
    nearest = np.concatenate([np.minimum.accumulate(others[::-1, 1])[::-1], [never]])
    return nearest[np.searchsorted(_order(others), _order(spans), side="right")] <= spans[:, 1]


def _order(spans: Integers) -> Integers:
    """Numbers by which spans stand in the order of their starts, and of these the longest first."""
    ordered: Integers = (spans[:, 0] << 32) - spans[:, 1]
    return ordered


def _third(side: Columns, comparison: Comparison) -> Integers:
    """The third of its document that each entity begins in, `(entities,)`."""
    begin, end = comparison.base[side.document], comparison.base[side.document + 1] - 1
    third: Integers = 3 * (side.start - begin) // np.maximum(end - begin, 1)
    return np.minimum(third, 2)


def _ratio(part: Integers | Floats, whole: Integers) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
