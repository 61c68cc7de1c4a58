"""What travels through a model: a batch of windows, its candidate spans and its golds.

Words are *packed*: the words of all windows of a batch stand in one row without padding, and spans point
into that row. Only the encoder sees a padded tensor.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
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


@dataclass(frozen=True, slots=True)
class Golds:
    """Gold labels of a batch: pairs of a candidate span and a type. A span may have several types."""

    span: Tensor
    """(golds,): positions in the candidate list."""
    type: Tensor
    """(golds,): type ids."""


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
    word_offset: Tensor
    """(windows,): add it to a packed position to get the word's position in its document."""
    document: Tensor
    """(windows,): position of each window's document in the list that was prepared."""

    def to(self, device: torch.device) -> Batch:
        """The batch on a device; itself when it is there already."""
        return self if self.piece_ids.device == device else _moved(self, device)


def _moved(batch: Batch, device: torch.device) -> Batch:
    def move(part: Any) -> Any:
        if isinstance(part, Tensor):
            return part.to(device, non_blocking=True)
        return type(part)(**{entry.name: move(getattr(part, entry.name)) for entry in fields(part)})

    moved: Batch = move(batch)
    return moved
