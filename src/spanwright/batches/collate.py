"""Windows to batches: pieces padded, words packed, candidate spans enumerated, golds looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.batches.batch import Array, Batch, Golds, Mentions, Neighbours, Spans
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import PreparedDocument
from spanwright.batches.windows import NO_LOWER_BOUND, NO_UPPER_BOUND, Window

NO_GOLDS: Integers = np.zeros((0, 4), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which negatives to keep in training: a number per window, drawn again for each draw."""

    negatives: int
    draw: tuple[int, ...]
    """What the choice depends on: seed, epoch and batch."""


def collate(
    windows: Sequence[Window],
    documents: Sequence[PreparedDocument],
    encoder: PieceEncoder,
    *,
    width_limit: int,
    golds: Sequence[Integers] | None = None,
    probabilities: Sequence[Floats] | None = None,
    near: int = 0,
    sampling: Sampling | None = None,
) -> Batch[Array]:
    """Make a batch of windows; `golds` holds the gold rows (golds, 4) of each document.

    `probabilities` (golds,) of each document say how likely these are; all are certain without. `near` is the
    distance from entities up to which spans have a part of their targets.
    """
    # Each once: they may have to be read from a file.
    prepared = [documents[window.document] for window in windows]
    ids, mask, first_piece, last_piece = _pieces(windows, prepared, encoder)
    layout = _layout(windows)
    spans, cells = _candidates(windows, layout, width_limit)
    rows, probability = _gold_rows(windows, layout, golds, probabilities, width_limit)
    mentions = _mentions(windows, layout, golds)
    batch: Batch[Array] = Batch(
        piece_ids=ids,
        piece_mask=mask,
        word_counts=layout.counts,
        first_piece=first_piece,
        last_piece=last_piece,
        spans=spans,
        golds=Golds(_lookup(cells, rows, width_limit), rows[:, 2].copy(), probability),
        mentions=mentions,
        word_offset=layout.word_offset,
        document=np.asarray([window.document for window in windows]),
        owned_sums=np.asarray([(window.own_above, window.own_to) for window in windows]),
        corpus=np.asarray([document.corpus for document in prepared]),
        neighbours=find_neighbours(spans, mentions, layout.counts, near) if near else None,
    )
    return batch if sampling is None else _sampled(batch, sampling)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the words of each window stand in the packed row."""

    counts: Integers
    starts: Integers
    word_offset: Integers


def _layout(windows: Sequence[Window]) -> _Layout:
    counts = np.asarray([window.end - window.first for window in windows], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    return _Layout(counts, starts, np.asarray([window.first for window in windows]) - starts)


def _pieces(
    windows: Sequence[Window], prepared: Sequence[PreparedDocument], encoder: PieceEncoder
) -> tuple[Integers, np.ndarray, Integers, Integers]:
    """Padded piece ids and mask, and the first and last piece of each word in the flattened pieces.

    `prepared` is the document of each window.
    """
    before, after = len(encoder.prefix), len(encoder.suffix)
    starts = [
        document.piece_starts[window.first : window.end + 1]
        for window, document in zip(windows, prepared, strict=True)
    ]
    lengths = [int(start[-1] - start[0]) for start in starts]
    total = max(lengths) + before + after
    ids = np.full((len(windows), total), encoder.padding, dtype=np.int64)
    mask = np.zeros((len(windows), total), dtype=bool)
    first: list[Integers] = []
    last: list[Integers] = []
    for row, (document, start, length) in enumerate(zip(prepared, starts, lengths, strict=True)):
        ids[row, :before] = encoder.prefix
        ids[row, before : before + length] = document.piece_ids[start[0] : start[-1]]
        ids[row, before + length : before + length + after] = encoder.suffix
        mask[row, : before + length + after] = True
        shift = row * total + before - start[0]
        first.append(start[:-1] + shift)
        last.append(start[1:] + (shift - 1))
    return ids, mask, np.concatenate(first), np.concatenate(last)


def _candidates(
    windows: Sequence[Window], layout: _Layout, width_limit: int
) -> tuple[Spans[Array], Integers]:
    """All owned spans, and their cells in the (words x widths) grid."""
    words = int(layout.counts.sum())
    window_of_word = np.repeat(np.arange(len(windows)), layout.counts)
    ends = (layout.starts + layout.counts)[window_of_word]
    first = np.arange(words)[:, None]
    last = first + np.arange(width_limit)
    valid = last < ends[:, None]
    above = np.asarray([window.own_above for window in windows])
    to = np.asarray([window.own_to for window in windows])
    if (above > NO_LOWER_BOUND).any() or (to < NO_UPPER_BOUND).any():
        sums = first + last + 1 + 2 * layout.word_offset[window_of_word][:, None]
        valid &= (sums > above[window_of_word][:, None]) & (sums <= to[window_of_word][:, None])
    cells = np.flatnonzero(valid)
    first_of_cell = cells // width_limit
    last_of_cell = first_of_cell + cells % width_limit
    return Spans(window_of_word[first_of_cell], first_of_cell, last_of_cell), cells


def _gold_rows(
    windows: Sequence[Window],
    layout: _Layout,
    golds: Sequence[Integers] | None,
    probabilities: Sequence[Floats] | None,
    width_limit: int,
) -> tuple[Integers, Array | None]:
    """(golds, 4) and (golds,): gold rows of the candidates, in packed words, and how likely they are."""
    if golds is None:
        return NO_GOLDS, None
    parts, likely = [NO_GOLDS], [np.zeros(0)]
    for window, offset in zip(windows, layout.word_offset, strict=True):
        rows = golds[window.document]
        owned = window.owns(rows[:, 0], rows[:, 1]) & (rows[:, 1] - rows[:, 0] < width_limit)
        parts.append(rows[owned] - np.asarray([offset, offset, 0, 0]))
        if probabilities is not None:
            likely.append(probabilities[window.document][owned])
    probability = np.concatenate(likely).astype(np.float32)
    return np.concatenate(parts), probability if probabilities is not None else None


def _mentions(
    windows: Sequence[Window], layout: _Layout, golds: Sequence[Integers] | None
) -> Mentions[Array]:
    """What each window shows of the golds, no matter which window owns them."""
    parts = [np.zeros((0, 7), dtype=np.int64)]
    if golds is not None:
        for number, (window, offset) in enumerate(zip(windows, layout.word_offset, strict=True)):
            parts.append(_visible(golds[window.document], window, number, int(offset)))
    columns = np.concatenate(parts).T
    return Mentions(*columns[:4], *columns[4:].astype(bool))


def _visible(rows: Integers, window: Window, number: int, offset: int) -> Integers:
    """(mentions, 7): the columns of `Mentions` for the golds of a document that a window shows."""
    seen = rows[(rows[:, 1] >= window.first) & (rows[:, 0] < window.end)]
    first = np.maximum(seen[:, 0], window.first)
    last = np.minimum(seen[:, 1], window.end - 1)
    whole = (first == seen[:, 0], last == seen[:, 1])
    return np.column_stack(
        [np.full(len(seen), number), first - offset, last - offset, seen[:, 2], *whole, seen[:, 3]]
    )


def _lookup(cells: Integers, rows: Integers, width_limit: int) -> Integers:
    """Positions of gold rows in the candidate list."""
    return np.searchsorted(cells, rows[:, 0] * width_limit + rows[:, 1] - rows[:, 0])


def _sampled(batch: Batch[Array], sampling: Sampling) -> Batch[Array]:
    """The batch with all golds, the spans near them, and at most `negatives` others of each window."""
    window = batch.spans.window
    positive = np.zeros(len(window), dtype=bool)
    positive[batch.golds.span] = True
    if batch.neighbours is not None:
        positive[batch.neighbours.span] = True
    draw = np.random.default_rng(sampling.draw).random(len(window))
    draw[positive] = 2.0
    # Rank the negatives of each window by their draw; keep the lowest.
    order = np.lexsort((draw, window))
    starts = np.searchsorted(window, np.arange(len(batch.word_counts)))
    rank = np.empty(len(window), dtype=np.int64)
    rank[order] = np.arange(len(window)) - starts[window[order]]
    return batch.keeping(positive | (rank < sampling.negatives))


def find_neighbours(
    spans: Spans[Array], mentions: Mentions[Array], word_counts: Integers, distance: int
) -> Neighbours[Array]:
    """All places up to a distance from the mentions that their window (of `word_counts`) shows whole."""
    whole = np.flatnonzero(mentions.starts & mentions.ends)
    moves = _moves(distance)
    first = mentions.first[whole, None] + moves[:, 0]
    last = mentions.last[whole, None] + moves[:, 1]
    end = np.cumsum(word_counts)
    window = mentions.window[whole]
    inside = (first <= last) & (first >= (end - word_counts)[window, None]) & (last < end[window, None])
    span, found = _positions(spans, first, last)
    candidate = found & inside
    return Neighbours(whole, np.abs(moves).sum(1), inside, candidate, span[candidate])


def _positions(spans: Spans[Array], first: Integers, last: Integers) -> tuple[Integers, Array]:
    """Positions of spans, given by their words, in the candidate list, and which of them are in it."""
    if not len(spans):
        return np.zeros_like(first), np.zeros_like(first, dtype=bool)
    # One number per span: no two have the same as long as the stride is beyond all last words. Candidates
    # stand in the order of their numbers.
    stride = int(max(spans.last.max(), last.max(initial=0))) + 2
    known, asked = spans.first * stride + spans.last, first * stride + last
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return place, known[place] == asked


def _moves(distance: int) -> Integers:
    """(places, 2): how far first and last words move in all ways up to a distance, standing still first."""
    reach = range(-distance, distance + 1)
    moves = [(first, last) for first, last in product(reach, reach) if 0 < abs(first) + abs(last) <= distance]
    return np.asarray([(0, 0), *moves], dtype=np.int64)
