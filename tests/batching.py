"""Batches made by hand, without windows or a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spanwright.batches.batch import Batch, Golds, Mentions, Spans

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
) -> Batch:
    """A batch of one piece per window: spans are (window, first, last), golds (span, type).

    Every window owns everything unless told otherwise.
    """
    windows = len(word_counts)
    words = torch.zeros(sum(word_counts), dtype=torch.long)
    return Batch(
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
