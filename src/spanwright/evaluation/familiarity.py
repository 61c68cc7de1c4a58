"""How well the training documents prepare for an entity: was its mention there, and how was it labelled?

A mention is the lower-cased words that an entity touches, from its first to its last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.evaluation.columns import Comparison, distinct, is_among
from spanwright.evaluation.mention_tree import Occurrences, find_mentions, grow_tree, occurrences
from spanwright.evaluation.running_text import RunningText
from spanwright.text import Document

Acquaintance = Literal["seen", "seen as another type", "unseen"]
ACQUAINTANCES: tuple[Acquaintance, ...] = ("seen", "seen as another type", "unseen")


@dataclass(frozen=True, slots=True, eq=False)
class Familiarity:
    """What training shows about the gold entities, then the predicted ones: `(entities,)` each."""

    acquaintance: Sequence[Integers]
    """Whether the mention is an entity in training, as the position in `ACQUAINTANCES`."""
    label_consistency: Sequence[Floats]
    """The share of the mention's words in training that are in an entity of its type.

    All places of the training text where the words of the mention stand count, whether they are an entity
    there or not. A mention that never stands there has 0.
    """


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Entities as runs of words; every array is `(entities,)`."""

    type: Integers
    """The position in the types of the comparison; -1 for a type that it lacks."""
    first: Integers
    """The first word."""
    width: Integers
    """The number of words."""


def familiarity(
    comparison: Comparison, text: RunningText, training: Sequence[Document], training_text: RunningText
) -> Familiarity:
    """Look up the mentions of both sides in the training documents."""
    sides = (comparison.gold, comparison.predicted)
    type_, start, end = (
        np.concatenate([getattr(side, name) for side in sides]) for name in ("type", "start", "end")
    )
    wanted = _ranges(type_, start, end, text)
    learnt = _training_ranges(comparison, training, training_text)
    tree, mention = grow_tree(text.word_number, wanted.first, wanted.width)
    learnt_mention = find_mentions(tree, training_text.word_number, learnt.first, learnt.width)
    acquaintance = _acquaintance(mention, wanted.type, learnt_mention, learnt.type)
    places = occurrences(tree, training_text, mention)
    consistency = _label_consistency(mention, wanted.type, learnt, places, len(training_text.word_start))
    border = [len(comparison.gold.entities)]
    return Familiarity(np.split(acquaintance, border), np.split(consistency, border))


def _ranges(type_: Integers, start: Integers, end: Integers, text: RunningText) -> _Ranges:
    first = text.first_word(start)
    return _Ranges(type_, first, np.maximum(text.stop_word(end) - first, 0))


def _training_ranges(comparison: Comparison, documents: Sequence[Document], text: RunningText) -> _Ranges:
    names = {entity.type for document in documents for entity in document.entities}
    numbers = {name: comparison.type_number(name) for name in names}
    rows = [
        (numbers[entity.type], entity.start + begin, entity.end + begin)
        for document, begin in zip(documents, text.base[:-1].tolist(), strict=True)
        for entity in document.entities
    ]
    type_, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return _ranges(type_, start, end, text)


def _acquaintance(
    mention: Integers, type_: Integers, learnt_mention: Integers, learnt_type: Integers
) -> Integers:
    # Types begin at -1.
    types = max(int(type_.max(initial=0)), int(learnt_type.max(initial=0))) + 2
    known = mention >= 0
    seen = known & is_among(mention, learnt_mention)
    as_this = known & is_among(mention * types + type_ + 1, learnt_mention * types + learnt_type + 1)
    return np.select([as_this, seen], [0, 1], 2)


def _label_consistency(
    mention: Integers, type_: Integers, learnt: _Ranges, places: Occurrences, words: int
) -> Floats:
    size = int(mention.max(initial=-1)) + 1
    seen_words = np.bincount(places.mention, places.width, size)
    consistency = np.zeros(len(mention))
    for number in distinct(type_).tolist():
        labelled = np.concatenate(([0], np.cumsum(_covered(learnt, number, words))))
        inside = labelled[places.first + places.width] - labelled[places.first]
        hits = np.bincount(places.mention, inside, size)
        share = np.divide(hits, seen_words, out=np.zeros(size), where=seen_words > 0)
        chosen = (type_ == number) & (mention >= 0)
        consistency[chosen] = share[mention[chosen]]
    return consistency


def _covered(learnt: _Ranges, type_: int, words: int) -> Integers:
    """1 for each word of training inside an entity of the type, else 0: `(words,)`."""
    chosen = learnt.type == type_
    opened = np.bincount(learnt.first[chosen], minlength=words + 1)
    closed = np.bincount((learnt.first + learnt.width)[chosen], minlength=words + 1)
    return (np.cumsum(opened - closed)[:words] > 0).astype(np.int64)
