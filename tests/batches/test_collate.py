"""Batches hold exactly what a naive enumeration over windows, words and widths gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from spanwright.batches.batch import Array, Batch
from spanwright.batches.collate import NO_GOLDS, Sampling, collate
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import PreparedDocument, WindowPlan, outermost, prepare, windows_of
from spanwright.batches.windows import Window
from spanwright.text import Document

ENCODERS = [PieceEncoder(tiny.tokenizer(family)) for family in tiny.FAMILIES]
TYPES = 3

Case = tuple[list[Window], list[PreparedDocument], list[np.ndarray], PieceEncoder, int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Some windows, in any order, of documents with random golds, prepared with any tokenizer."""
    encoder = draw(st.sampled_from(ENCODERS))
    width_limit = draw(st.integers(1, 5))
    plan = WindowPlan(
        draw(st.sampled_from(["document", "sentence"])), draw(st.integers(16, 24)), 1, width_limit
    )
    words = st.sampled_from(["a", "cell", "A", "beta.", "\u200b", "x" * 40, "\n"])
    texts = ["a cell", *draw(st.lists(st.lists(words, max_size=20).map(" ".join), max_size=4))]
    prepared = [prepare(Document(f"d{number}", text), encoder, plan) for number, text in enumerate(texts)]
    windows = [
        window
        for index, item in enumerate(prepared)
        for window in windows_of(item, index, plan, encoder.special_count)
    ]
    golds = [draw(gold_rows(len(item.words))) for item in prepared]
    chosen = draw(st.lists(st.sampled_from(windows), min_size=1, unique=True))
    return chosen, prepared, golds, encoder, width_limit


@st.composite
def gold_rows(draw: st.DrawFn, words: int) -> np.ndarray:
    """(golds, 4): unique spans of a document of any width, with types and the outermost layer."""
    if not words:
        return NO_GOLDS
    position = st.integers(0, words - 1)
    drawn = draw(st.lists(st.tuples(position, position, st.integers(0, TYPES - 1)), max_size=8))
    rows = {(min(pair), max(pair), type_) for *pair, type_ in drawn}
    table = np.asarray(sorted(rows), dtype=np.int64).reshape(-1, 3)
    return np.column_stack([table, outermost(table)])


def batch_of(case: Case, *, near: int = 0, sampling: Sampling | None = None) -> Batch[Array]:
    windows, prepared, golds, encoder, limit = case
    return collate(windows, prepared, encoder, width_limit=limit, golds=golds, near=near, sampling=sampling)


def span_list(batch: Batch[Array]) -> list[tuple[int, int, int]]:
    """(window, first, last) with words counted in their document."""
    offset = batch.word_offset[batch.spans.window]
    columns = batch.spans.window, batch.spans.first + offset, batch.spans.last + offset
    return list(zip(*(column.tolist() for column in columns), strict=True))


def gold_set(batch: Batch[Array]) -> set[tuple[int, int, int, int]]:
    """(window, first, last, type) of the golds."""
    spans = span_list(batch)
    pairs = zip(batch.golds.span.tolist(), batch.golds.type.tolist(), strict=True)
    return {(*spans[position], type_) for position, type_ in pairs}


def naive_spans(windows: Sequence[Window], width_limit: int) -> list[tuple[int, int, int]]:
    spans = []
    for number, window in enumerate(windows):
        for first in range(window.first, window.end):
            for last in range(first, min(first + width_limit, window.end)):
                if window.own_above < first + last + 1 <= window.own_to:
                    spans.append((number, first, last))
    return spans


def near_spans(case: Case, distance: int) -> set[tuple[int, int, int]]:
    """The candidates that are golds, or up to a distance from an entity that their window shows whole."""
    windows, _, golds, _, width_limit = case
    found = {row[:3] for row in gold_set(batch_of(case))}
    for number, first, last in naive_spans(windows, width_limit):
        window = windows[number]
        for begin, end in golds[window.document][:, :2].tolist():
            whole = window.first <= begin and end < window.end
            if whole and abs(first - begin) + abs(last - end) <= distance:
                found.add((number, first, last))
    return found


@given(cases())
def test_candidates_are_the_owned_spans_in_order_of_first_word_and_width(case: Case) -> None:
    assert span_list(batch_of(case)) == naive_spans(case[0], case[-1])


@given(cases())
def test_golds_are_the_annotated_candidates(case: Case) -> None:
    windows, _, golds, _, width_limit = case
    expected = set()
    for number, first, last in naive_spans(windows, width_limit):
        for row in golds[windows[number].document].tolist():
            if row[:2] == [first, last]:
                expected.add((number, first, last, row[2]))
    batch = batch_of(case)
    assert gold_set(batch) == expected
    assert len(batch.golds.span) == len(expected)


@given(cases())
def test_mentions_are_all_that_windows_show_of_the_golds(case: Case) -> None:
    windows, _, golds, _, _ = case
    expected = []
    for number, window in enumerate(windows):
        for first, last, type_, outer in golds[window.document].tolist():
            seen = [word for word in range(first, last + 1) if window.first <= word < window.end]
            if seen:
                whole = (seen[0] == first, seen[-1] == last)
                expected.append((number, seen[0], seen[-1], type_, *whole, bool(outer)))
    mentions, offsets = (batch := batch_of(case)).mentions, batch.word_offset
    columns = (
        mentions.window,
        mentions.first + offsets[mentions.window],
        mentions.last + offsets[mentions.window],
        mentions.type,
        mentions.starts,
        mentions.ends,
        mentions.outermost,
    )
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


@given(cases())
def test_a_batch_knows_which_spans_its_windows_own(case: Case) -> None:
    batch = batch_of(case)
    for number, window in enumerate(case[0]):
        words = range(window.first, window.end)
        pairs = [(first, last) for first in words for last in words if first <= last]
        first, last = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        packed = (column - batch.word_offset[number] for column in (first, last))
        owned = batch.owns(np.full(len(pairs), number), *packed)
        assert owned.tolist() == window.owns(first, last).tolist()


@given(cases())
def test_each_gold_of_a_batch_has_its_own_probability(case: Case) -> None:
    windows, prepared, golds, encoder, width_limit = case
    numbers = np.cumsum([0, *(len(rows) for rows in golds)])
    # Told apart by all digits, so that no two golds of the documents have the same.
    given = [np.arange(start, start + len(rows)) / 256 for start, rows in zip(numbers, golds, strict=False)]
    batch = collate(
        windows,
        prepared,
        encoder,
        width_limit=width_limit,
        golds=golds,
        probabilities=given,
        sampling=Sampling(0, (1,)),
    )
    assert batch.golds.probability is not None
    spans = batch.spans.take(batch.golds.span)
    places = zip(
        batch.document[spans.window].tolist(),
        (spans.first + batch.word_offset[spans.window]).tolist(),
        (spans.last + batch.word_offset[spans.window]).tolist(),
        batch.golds.type.tolist(),
        strict=True,
    )
    found = list(zip(places, batch.golds.probability.tolist(), strict=True))
    known = {
        (document, first, last, type_): given[document][row]
        for document, rows in enumerate(golds)
        for row, (first, last, type_, _) in enumerate(rows.tolist())
    }
    assert all(known[place] == probability for place, probability in found)
    assert len(found) == len(batch_of(case).golds.span)


@given(cases())
def test_pieces_of_windows_stand_between_special_ones_and_padding(case: Case) -> None:
    windows, prepared, _, encoder, _ = case
    batch = batch_of(case)
    for row, window in enumerate(windows):
        starts = prepared[window.document].piece_starts
        own = prepared[window.document].piece_ids[starts[window.first] : starts[window.end]]
        expected = [*encoder.prefix, *own, *encoder.suffix]
        assert batch.piece_ids[row, : len(expected)].tolist() == expected
        assert (batch.piece_ids[row, len(expected) :] == encoder.padding).all()
        assert batch.piece_mask[row].tolist() == [
            position < len(expected) for position in range(batch.piece_ids.shape[1])
        ]
    assert batch.piece_mask.any(axis=0).all()  # no more padding than the longest window needs


@given(cases())
def test_first_and_last_pieces_of_words_are_where_they_stand_in_the_flattened_pieces(case: Case) -> None:
    windows, prepared, _, _, _ = case
    batch = batch_of(case)
    flat = batch.piece_ids.flatten().tolist()
    packed = 0
    for number, window in enumerate(windows):
        assert batch.document[number] == window.document
        assert batch.word_counts[number] == window.end - window.first
        for word in range(window.first, window.end):
            starts = prepared[window.document].piece_starts
            own = prepared[window.document].piece_ids[starts[word] : starts[word + 1]].tolist()
            first, last = int(batch.first_piece[packed]), int(batch.last_piece[packed])
            assert flat[first : last + 1] == own
            assert first // batch.piece_ids.shape[1] == last // batch.piece_ids.shape[1] == number
            assert packed + int(batch.word_offset[number]) == word
            packed += 1
    assert packed == len(batch.first_piece) == len(batch.last_piece)


@given(cases())
def test_all_windows_together_hold_every_span_of_a_document_once(case: Case) -> None:
    _, prepared, _, encoder, width_limit = case
    plan = WindowPlan("document", 20, 1, width_limit)
    for item in prepared:
        again = prepare(item.document, encoder, plan)
        windows = list(windows_of(again, 0, plan, encoder.special_count))
        if windows:
            batch = collate(windows, [again], encoder, width_limit=width_limit)
            total = len(again.words)
            expected = [
                (first, last)
                for first in range(total)
                for last in range(first, min(first + width_limit, total))
            ]
            assert sorted((first, last) for _, first, last in span_list(batch)) == expected


def test_without_golds_a_batch_has_none() -> None:
    encoder = ENCODERS[0]
    plan = WindowPlan("document", 20, 1, 2)
    prepared = [prepare(Document("d", "a b c"), encoder, plan)]
    windows = list(windows_of(prepared[0], 0, plan, encoder.special_count))
    batch = collate(windows, prepared, encoder, width_limit=2)
    assert len(batch.golds.span) == len(batch.golds.type) == 0
    assert batch.spans.widths.tolist() == [1, 2, 1, 2, 1]


@given(cases(), st.integers(0, 6), st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_sampling_keeps_all_golds_and_at_most_so_many_negatives_of_each_window(
    case: Case, negatives: int, draw: tuple[int, int]
) -> None:
    whole, sampled = batch_of(case), batch_of(case, sampling=Sampling(negatives, draw))
    assert gold_set(sampled) == gold_set(whole)
    spans = span_list(sampled)
    assert set(spans) <= set(span_list(whole))
    assert spans == sorted(set(spans))
    golds = {row[:3] for row in gold_set(whole)}
    for number in range(len(case[0])):
        candidates = {span for span in span_list(whole) if span[0] == number} - golds
        kept = {span for span in spans if span[0] == number} - golds
        assert len(kept) == min(negatives, len(candidates))


@given(cases(), st.integers(0, 3), st.integers(1, 2))
def test_sampling_keeps_the_spans_near_entities_beside_the_negatives(
    case: Case, negatives: int, near: int
) -> None:
    whole, sampled = batch_of(case), batch_of(case, near=near, sampling=Sampling(negatives, (1, 2)))
    spans = span_list(whole)
    beside = near_spans(case, near)
    kept = set(span_list(sampled))
    assert beside <= kept
    for number in range(len(case[0])):
        others = {span for span in spans if span[0] == number} - beside
        assert len(kept & others) == min(negatives, len(others))


@given(cases(), st.integers(1, 3), st.integers(0, 3))
def test_neighbours_are_the_candidates_near_entities_before_and_after_sampling(
    case: Case, near: int, negatives: int
) -> None:
    assert batch_of(case).neighbours is None
    golds = {row[:3] for row in gold_set(batch_of(case))}
    for sampling in (None, Sampling(negatives, (1, 2))):
        batch = batch_of(case, near=near, sampling=sampling)
        assert batch.neighbours is not None
        spans = span_list(batch)
        assert {spans[position] for position in batch.neighbours.span} | golds == near_spans(case, near)


def long_case() -> Case:
    encoder = ENCODERS[0]
    plan = WindowPlan("document", 100, 1, 4)
    prepared = [prepare(Document("d", "a b c d " * 10), encoder, plan)]
    windows = list(windows_of(prepared[0], 0, plan, encoder.special_count))
    return windows, prepared, [np.asarray([[1, 2, 0, 1]])], encoder, 4


def test_the_same_draw_samples_the_same_negatives() -> None:
    first, second = (batch_of(long_case(), sampling=Sampling(5, (1, 2))) for _ in range(2))
    assert span_list(first) == span_list(second)


@pytest.mark.parametrize("other", [(1, 3), (2, 2), (2, 1)])
def test_another_draw_samples_other_negatives(other: tuple[int, int]) -> None:
    first, second = (batch_of(long_case(), sampling=Sampling(5, draw)) for draw in ((1, 2), other))
    assert span_list(first) != span_list(second)


def test_every_negative_is_drawn_sooner_or_later_and_about_equally_often() -> None:
    case = long_case()
    spans = span_list(batch_of(case))
    drawn = dict.fromkeys(spans, 0)
    for epoch in range(200):
        for span in span_list(batch_of(case, sampling=Sampling(20, (1, epoch)))):
            drawn[span] += 1
    assert drawn.pop((0, 1, 2)) == 200  # the gold
    mean = 200 * 20 / len(drawn)
    assert all(0.3 * mean < count < 2 * mean for count in drawn.values())
