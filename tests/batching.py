"""Batches made by hand, without windows or a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import torch

from spanwright.batches import batch as arrays
from spanwright.batches.batch import Array
from spanwright.batches.collate import find_neighbours
from spanwright.parts.batch import Batch, Golds, Mentions, Spans, to_tensors

NOWHERE = torch.zeros(0, dtype=torch.long)
NO_MENTIONS = Mentions(NOWHERE, NOWHERE, NOWHERE, NOWHERE, *[NOWHERE.bool()] * 3)


def batch_of(
    word_counts: Sequence[int],
    spans: Sequence[tuple[int, int, int]] = (),
    golds: Sequence[tuple[int, int]] = (),
    *,
    mentions: Mentions = NO_MENTIONS,
    word_offset: Sequence[int] | None = None,
    owned_sums: Sequence[tuple[int, int]] | None = None,
    corpus: Sequence[int] | None = None,
    near: int = 0,
) -> Batch:
    """A batch of one piece per window: spans are (window, first, last), golds (span, type).

    Every window owns everything unless told otherwise. Neighbours are up to `near` from mentions.
    """
    windows = len(word_counts)
    words = torch.zeros(sum(word_counts), dtype=torch.long)
    made = Batch(
        piece_ids=torch.zeros(windows, 1, dtype=torch.long),
        piece_mask=torch.ones(windows, 1, dtype=torch.bool),
        word_counts=torch.tensor(word_counts, dtype=torch.long),
        first_piece=words,
        last_piece=words,
        spans=spans_of(spans),
        golds=Golds(*torch.tensor(golds, dtype=torch.long).reshape(-1, 2).t().contiguous()),
        mentions=mentions,
        word_offset=torch.tensor(word_offset or [0] * windows, dtype=torch.long),
        document=torch.zeros(windows, dtype=torch.long),
        owned_sums=torch.tensor(owned_sums or [(-1000, 1000)] * windows, dtype=torch.long).reshape(-1, 2),
        corpus=torch.tensor(corpus or [0] * windows, dtype=torch.long),
    )
    return with_neighbours(made, near) if near else made


def with_neighbours(batch: Batch, near: int) -> Batch:
    """The batch with the candidates up to a distance from its mentions."""
    spans, mentions = (as_arrays(part) for part in (batch.spans, batch.mentions))
    found = find_neighbours(spans, mentions, batch.word_counts.numpy(), near)
    return replace(batch, neighbours=to_tensors(found, torch.device("cpu")))


def as_arrays(part: Any) -> Any:
    """Spans or mentions with arrays in place of tensors."""
    return replace(part, **{column.name: getattr(part, column.name).numpy() for column in fields(part)})


def as_taken(batch: arrays.Batch[Array]) -> Batch:
    """A batch as a network on the processor takes it."""
    return to_tensors(batch, torch.device("cpu"))


def every_span(counts: Sequence[int], limit: int) -> list[tuple[int, int, int]]:
    """(window, first, last) of all spans up to a width in windows of so many words, in packed positions."""
    found, offset = [], 0
    for window, count in enumerate(counts):
        for first in range(count):
            for last in range(first, min(first + limit, count)):
                found.append((window, offset + first, offset + last))
        offset += count
    return found


def spans_of(triples: Sequence[tuple[int, int, int]]) -> Spans:
    """Candidate spans from (window, first, last)."""
    return Spans(*torch.tensor(triples, dtype=torch.long).reshape(-1, 3).unbind(1))
