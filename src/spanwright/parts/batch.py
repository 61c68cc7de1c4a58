"""Batches as networks take them: the dataclasses of `batches/batch.py` with tensors in place of arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from spanwright.batches import batch as arrays
from spanwright.batches.batch import Array

Batch = arrays.Batch[Tensor]
Golds = arrays.Golds[Tensor]
Mentions = arrays.Mentions[Tensor]
Neighbours = arrays.Neighbours[Tensor]
Rewrites = arrays.Rewrites[Tensor]
Spans = arrays.Spans[Tensor]


@overload
def to_tensors(part: arrays.Batch[Array], device: torch.device) -> Batch: ...


@overload
def to_tensors(part: arrays.Spans[Array], device: torch.device) -> Spans: ...


def to_tensors(part: Any, device: torch.device) -> Any:
    """A batch, or its spans, on the device of a network."""
    if part is None:
        return None
    if isinstance(part, np.ndarray):
        tensor = torch.from_numpy(part)
        # Only from pinned memory does a copy to a GPU go on while the next batch is made.
        return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)
    columns = {entry.name: getattr(part, entry.name) for entry in fields(part)}
    return type(part)(**{name: to_tensors(column, device) for name, column in columns.items()})


def arrays_of(*tensors: Tensor) -> tuple[Array, ...]:
    """Tensors as arrays, wherever they are."""
    return tuple(tensor.detach().cpu().numpy() for tensor in tensors)


def window_of_word(batch: Batch) -> Tensor:
    """(words,): the window of each packed word."""
    if torch.compiler.is_exporting():  # a graph must know the number of words before it counts them
        words = torch.arange(batch.first_piece.shape[0])
        return (words[:, None] >= batch.word_counts.cumsum(0)).sum(1)
    windows = torch.arange(len(batch.word_counts), device=batch.word_counts.device)
    return windows.repeat_interleave(batch.word_counts)
