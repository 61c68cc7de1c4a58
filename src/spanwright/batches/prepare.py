"""From documents to prepared documents: words, pieces, windows and gold spans as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from spanwright.arrays import Booleans, Floats, Integers
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.steps import Steps, finished
from spanwright.batches.windows import Window, cut_windows, fit_counts
from spanwright.labels import LabelSpace
from spanwright.settings.data import Context
from spanwright.text import Document, Entity, iter_words, sentences

_STEP_WORDS = 10_000
_NO_WORDS = tuple(np.zeros(shape, dtype=np.int64) for shape in ((0, 2), 0, 0))


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """How texts are cut: where windows may reach, their size, and the widest span."""

    context: Context
    pieces: int
    """Pieces of a window, with the special ones."""
    overlap: int
    """Words that neighbouring windows share, at least the width limit."""
    width_limit: int
    """Words of the widest candidate span."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """One document as arrays."""

    document: Document
    words: Integers
    """(words, 2): half-open character ranges."""
    piece_ids: Integers
    """(pieces,): the pieces of all words in a row."""
    piece_starts: Integers
    """(words + 1,): where the pieces of each word begin in `piece_ids`."""
    shortened: int
    """Words that have more pieces than a window can hold, and keep the two ends of them."""
    corpus: int = 0
    """Position of its corpus in the label space."""


def prepare(
    document: Document, encoder: PieceEncoder, plan: WindowPlan, *, corpus: int = 0
) -> PreparedDocument:
    """Split a document into words and pieces."""
    return finished(prepare_in_steps(document, encoder, plan, corpus=corpus))


def prepare_in_steps(
    document: Document, encoder: PieceEncoder, plan: WindowPlan, *, corpus: int = 0
) -> Steps[PreparedDocument]:
    """The same in steps: words that are no arrays yet are large, so a long text has few at a time."""
    parts: list[tuple[Integers, Integers, Integers]] = []
    following = iter_words(document)
    while ranges := list(islice(following, _STEP_WORDS)):
        parts.append((np.asarray(ranges, dtype=np.int64), *encoder.encode(document.text, ranges)))
        yield
    words, ids, counts = (np.concatenate(column) for column in zip(_NO_WORDS, *parts, strict=True))
    fitted = fit_counts(counts, plan.width_limit, plan.pieces - encoder.special_count)
    shortened = int((fitted < counts).sum())
    if shortened:
        ids = _keep_ends(ids, counts, fitted)
    starts = np.concatenate([[0], np.cumsum(fitted)])
    return PreparedDocument(document, words, ids, starts, shortened, corpus)


def _keep_ends(ids: Integers, counts: Integers, fitted: Integers) -> Integers:
    """Leave out the middle pieces of words that have more than they may keep."""
    word = np.repeat(np.arange(len(counts)), counts)
    position = np.arange(len(ids)) - np.repeat(np.cumsum(counts) - counts, counts)
    from_end = counts[word] - position
    head = (fitted[word] + 1) // 2
    tail = fitted[word] // 2
    return ids[(position < head) | (from_end <= tail)]


def windows_of(
    prepared: PreparedDocument, index: int, plan: WindowPlan, special_count: int
) -> Iterator[Window]:
    """The windows of a prepared document, which is number `index` of its list."""
    return cut_windows(
        index,
        np.diff(prepared.piece_starts),
        _segments(prepared, plan.context),
        capacity=plan.pieces - special_count,
        overlap=max(plan.overlap, plan.width_limit),
    )


def window_lengths(
    windows: Sequence[Window], prepared: Sequence[PreparedDocument], special_count: int
) -> Integers:
    """(windows,): pieces of each window, with the special ones."""
    lengths = [
        starts[window.end] - starts[window.first] + special_count
        for window in windows
        for starts in (prepared[window.document].piece_starts,)
    ]
    return np.asarray(lengths, dtype=np.int64)


def _segments(prepared: PreparedDocument, context: Context) -> Iterator[tuple[int, int]]:
    """Word ranges that no window leaves."""
    total = len(prepared.words)
    if context == "document" or total == 0:
        return iter([(0, total)])
    # A word belongs to the last sentence that begins at or before it, so none is lost between sentences.
    borders = np.searchsorted(prepared.words[:, 0], [start for start, _ in sentences(prepared.document)])
    cuts: list[int] = np.unique(np.concatenate([[0], borders, [total]])).tolist()
    return pairwise(cuts)


@dataclass(frozen=True, slots=True)
class GoldWords:
    """The entities of a document as words, and those that words cannot express."""

    rows: Integers
    """(golds, 4): first word, last word, type id, and 1 for those of the outermost layer."""
    probability: Floats
    """(golds,): the confidence of each, 1 where an entity has none; of repeated ones, the highest."""
    cutting: tuple[Entity, ...]
    """Entities whose border lies inside a word."""
    discontinuous: tuple[Entity, ...]
    unknown: tuple[Entity, ...]
    """Entities of a type that the label space does not have."""


def gold_words(prepared: PreparedDocument, labels: LabelSpace) -> GoldWords:
    """Map the entities of a document to its words."""
    first_word = {start: position for position, start in enumerate(prepared.words[:, 0].tolist())}
    last_word = {end: position for position, end in enumerate(prepared.words[:, 1].tolist())}
    rows: list[tuple[int, int, int]] = []
    confidences: list[float] = []
    cutting: list[Entity] = []
    discontinuous: list[Entity] = []
    unknown: list[Entity] = []
    for entity in prepared.document.entities:
        first, last = first_word.get(entity.start), last_word.get(entity.end)
        if len(entity.ranges) > 1:
            discontinuous.append(entity)
        elif (type_ := labels.find(entity.type, prepared.corpus)) is None:
            unknown.append(entity)
        elif first is None or last is None:
            cutting.append(entity)
        else:
            rows.append((first, last, type_))
            confidences.append(1.0 if entity.confidence is None else entity.confidence)
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 3)
    unique, place = np.unique(table, axis=0, return_inverse=True)
    probability = np.full(len(unique), -np.inf)
    np.maximum.at(probability, place.ravel(), np.asarray(confidences, dtype=np.float64))
    layered = np.column_stack([unique, outermost(unique)])
    return GoldWords(layered, probability, tuple(cutting), tuple(discontinuous), tuple(unknown))


def outermost(rows: Integers) -> Booleans:
    """(golds,): mask of a layer without overlaps, from rows of first word, last word and type.

    From left to right, the widest entity that begins after the last one kept; of two types on one span the
    lower id. Everything inside, and the right one of two that cross, stays outside the layer.
    """
    kept = np.zeros(len(rows), dtype=bool)
    last = -1
    for position in np.lexsort((rows[:, 2], -rows[:, 1], rows[:, 0])).tolist():
        if rows[position, 0] > last:
            kept[position] = True
            last = rows[position, 1]
    return kept
