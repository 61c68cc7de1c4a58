"""What travels through a model: a batch of windows, its candidate spans and its golds.

Words are *packed*: the words of all windows of a batch stand in one row without padding, and spans point
into that row. Only the encoder sees a padded tensor.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Spans:
    """Candidate spans of a batch, in order of their first word and width."""

    window: Tensor
    """(spans,): the window of each span."""
    first: Tensor
    """(spans,): packed position of its first word."""
    last: Tensor
    """(spans,): packed position of its last word (inclusive: parts gather states there)."""

    @property
    def widths(self) -> Tensor:
        """(spans,): words of each span, at least 1."""
        return self.last - self.first + 1

    def __len__(self) -> int:
        return int(self.first.shape[0])

    def take(self, positions: Tensor) -> Spans:
        """The spans at some positions."""
        return Spans(*(column.index_select(0, positions) for column in (self.window, self.first, self.last)))


@dataclass(frozen=True, slots=True)
class Golds:
    """Gold labels of a batch: pairs of a candidate span and a type. A span may have several types."""

    span: Tensor
    """(golds,): positions in the candidate list."""
    type: Tensor
    """(golds,): type ids."""
    probability: Tensor | None = None
    """(golds,): how likely each is, as 32-bit floats; None where all are certain."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """All gold entities that a window shows, also those too wide, cut by its border or owned by another.

    Parts that judge words instead of spans need them: the first word of an entity that a window cuts is still
    the first word of an entity.
    """

    window: Tensor
    """(mentions,): the window of each mention; an entity in two windows is two mentions."""
    first: Tensor
    """(mentions,): packed position of its first visible word."""
    last: Tensor
    """(mentions,): packed position of its last visible word (inclusive)."""
    type: Tensor
    """(mentions,): type ids."""
    starts: Tensor
    """(mentions,): True where the first visible word is the entity's first word."""
    ends: Tensor
    """(mentions,): True where the last visible word is the entity's last word."""
    outermost: Tensor
    """(mentions,): True for entities that cover their words alone: the layer that tags can express."""


@dataclass(frozen=True, slots=True)
class Rewrites:
    """What generating parts learn to write from gold spans: a span's own words, or those of a synonym.

    Words are numbers of a `Vocabulary`.
    """

    spans: Spans
    """The gold spans, each once, whatever the number of its types."""
    source: Tensor
    """(rewrites,): positions in `spans`."""
    synonym: Tensor
    """(rewrites,): True where the words are those of a synonym."""
    words: Tensor
    """(rewrites, longest): numbers of words, then the end, then padding."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows that go through the model together."""

    piece_ids: Tensor
    """(windows, pieces): with special pieces, padded."""
    piece_mask: Tensor
    """(windows, pieces): True at real pieces."""
    word_counts: Tensor
    """(windows,): words of each window."""
    first_piece: Tensor
    """(words,): where the first piece of each packed word stands in the flattened pieces."""
    last_piece: Tensor
    """(words,): the same for its last piece."""
    spans: Spans
    golds: Golds
    """Empty outside training."""
    mentions: Mentions
    """Empty outside training."""
    word_offset: Tensor
    """(windows,): add it to a packed position to get the word's position in its document."""
    document: Tensor
    """(windows,): position of each window's document in the list that was prepared."""
    owned_sums: Tensor
    """(windows, 2): a window owns the spans whose first + last + 1, in words of the document, lies above the
    first number and not above the second."""
    corpus: Tensor
    """(windows,): position of each window's corpus in the label space; 0 where there is only one."""
    rewrites: Rewrites | None = None
    """Only where a part of the model learns to write."""

    @property
    def window_of_word(self) -> Tensor:
        """(words,): the window of each packed word."""
        windows = torch.arange(len(self.word_counts), device=self.word_counts.device)
        return windows.repeat_interleave(self.word_counts)

    @property
    def corpus_of_span(self) -> Tensor:
        """(spans,): the corpus of each candidate."""
        return self.corpus[self.spans.window]

    def owns(self, window: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Mask of the spans, given by window and packed words, that their window owns."""
        sums = first + last + 1 + 2 * self.word_offset[window]
        return (sums > self.owned_sums[window, 0]) & (sums <= self.owned_sums[window, 1])

    def keeping(self, positions: Tensor) -> Batch:
        """The batch with some of its candidates, given by sorted positions, among which are all golds."""
        golds = replace(self.golds, span=torch.searchsorted(positions, self.golds.span))
        return replace(self, spans=self.spans.take(positions), golds=golds)

    def to(self, device: torch.device) -> Batch:
        """The batch on a device; itself when it is there already."""
        return self if self.piece_ids.device == device else _moved(self, device)


def _moved(batch: Batch, device: torch.device) -> Batch:
    def move(part: Any) -> Any:
        if isinstance(part, Tensor):
            return part.to(device, non_blocking=True)
        if part is None:
            return None
        return type(part)(**{entry.name: move(getattr(part, entry.name)) for entry in fields(part)})

    moved: Batch = move(batch)
    return moved
