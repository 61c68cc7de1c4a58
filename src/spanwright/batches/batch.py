"""What travels through a model: a batch of windows, its candidate spans and its golds.

Words are *packed*: the words of all windows of a batch stand in one row without padding, and spans point
into that row. Only the encoder sees a padded tensor.

Columns are numpy arrays here, and tensors from where a network takes a batch (`parts/batch.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy.typing as npt

Array = npt.NDArray[Any]
Column = TypeVar("Column", bound=Any)
"""What holds the numbers of a batch: `Array` or a tensor. What both can do is written once, for both."""


@dataclass(frozen=True)
class Spans(Generic[Column]):
    """Candidate spans of a batch, in order of their first word and width."""

    window: Column
    """(spans,): the window of each span."""
    first: Column
    """(spans,): packed position of its first word."""
    last: Column
    """(spans,): packed position of its last word (inclusive: parts gather states there)."""

    @property
    def widths(self) -> Column:
        """(spans,): words of each span, at least 1."""
        widths: Column = self.last - self.first + 1
        return widths

    def __len__(self) -> int:
        return int(self.first.shape[0])

    def take(self, positions: Column) -> Spans[Column]:
        """The spans at some positions, or where a mask (spans,) is True."""
        return Spans(self.window[positions], self.first[positions], self.last[positions])


@dataclass(frozen=True)
class Golds(Generic[Column]):
    """Gold labels of a batch: pairs of a candidate span and a type. A span may have several types."""

    span: Column
    """(golds,): positions in the candidate list."""
    type: Column
    """(golds,): type ids."""
    probability: Column | None = None
    """(golds,): how likely each is, as 32-bit floats; None where all are certain."""


@dataclass(frozen=True)
class Mentions(Generic[Column]):
    """All gold entities that a window shows, also those too wide, cut by its border or owned by another.

    Parts that judge words instead of spans need them: the first word of an entity that a window cuts is still
    the first word of an entity.
    """

    window: Column
    """(mentions,): the window of each mention; an entity in two windows is two mentions."""
    first: Column
    """(mentions,): packed position of its first visible word."""
    last: Column
    """(mentions,): packed position of its last visible word (inclusive)."""
    type: Column
    """(mentions,): type ids."""
    starts: Column
    """(mentions,): True where the first visible word is the entity's first word."""
    ends: Column
    """(mentions,): True where the last visible word is the entity's last word."""
    outermost: Column
    """(mentions,): True for entities that cover their words alone: the layer that tags can express."""


@dataclass(frozen=True)
class Neighbours(Generic[Column]):
    """The candidates whose borders are those of a mention, or near: smoothing gives to them.

    Around each mention that its window shows whole are the same `places`, the first of which is its own.
    """

    mention: Column
    """(wholes,): positions of such mentions in the batch's mentions."""
    distance: Column
    """(places,): words between the first words, plus words between the last words; 0 at the mention."""
    inside: Column
    """(wholes, places): False where the window ends, or the last word would stand before the first."""
    candidate: Column
    """(wholes, places): True where the place is a candidate span."""
    span: Column
    """(candidates,): the positions of those, in the order of `candidate`."""


@dataclass(frozen=True)
class Rewrites(Generic[Column]):
    """What generating parts learn to write from gold spans: a span's own words, or those of a synonym.

    Words are numbers of a `Vocabulary`.
    """

    spans: Spans[Column]
    """The gold spans, each once, whatever the number of its types."""
    source: Column
    """(rewrites,): positions in `spans`."""
    synonym: Column
    """(rewrites,): True where the words are those of a synonym."""
    words: Column
    """(rewrites, longest): numbers of words, then the end, then padding."""


@dataclass(frozen=True)
class Batch(Generic[Column]):
    """Windows that go through the model together."""

    piece_ids: Column
    """(windows, pieces): with special pieces, padded."""
    piece_mask: Column
    """(windows, pieces): True at real pieces."""
    word_counts: Column
    """(windows,): words of each window."""
    first_piece: Column
    """(words,): where the first piece of each packed word stands in the flattened pieces."""
    last_piece: Column
    """(words,): the same for its last piece."""
    spans: Spans[Column]
    golds: Golds[Column]
    """Empty outside training."""
    mentions: Mentions[Column]
    """Empty outside training."""
    word_offset: Column
    """(windows,): add it to a packed position to get the word's position in its document."""
    document: Column
    """(windows,): position of each window's document in the list that was prepared."""
    owned_sums: Column
    """(windows, 2): a window owns the spans whose first + last + 1, in words of the document, lies above the
    first number and not above the second."""
    corpus: Column
    """(windows,): position of each window's corpus in the label space; 0 where there is only one."""
    neighbours: Neighbours[Column] | None = None
    """Only where spans near entities have a part of their targets."""
    rewrites: Rewrites[Column] | None = None
    """Only where a part of the model learns to write."""

    @property
    def corpus_of_span(self) -> Column:
        """(spans,): the corpus of each candidate."""
        corpus: Column = self.corpus[self.spans.window]
        return corpus

    def owns(self, window: Column, first: Column, last: Column) -> Column:
        """Mask of the spans, given by window and packed words, that their window owns."""
        sums = first + last + 1 + 2 * self.word_offset[window]
        owned: Column = (sums > self.owned_sums[window, 0]) & (sums <= self.owned_sums[window, 1])
        return owned

    def keeping(self, kept: Column) -> Batch[Column]:
        """The batch with the candidates where a mask (spans,) is True, among which are all golds and
        neighbours."""
        place = kept.cumsum(0) - 1
        near = self.neighbours
        return replace(
            self,
            spans=self.spans.take(kept),
            golds=replace(self.golds, span=place[self.golds.span]),
            neighbours=None if near is None else replace(near, span=place[near.span]),
        )
