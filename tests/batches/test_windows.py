"""Every span up to the width limit is owned by exactly one window: the one that gives it most context."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwright.batches.windows import Window, cut_windows, fit_counts
from spanwright.errors import SettingsError


@dataclass(frozen=True)
class Case:
    counts: list[int]
    segments: list[tuple[int, int]]
    capacity: int
    width_limit: int
    overlap: int

    @property
    def fitted(self) -> np.ndarray:
        return fit_counts(np.asarray(self.counts, dtype=np.int64), self.width_limit, self.capacity)

    def windows(self) -> list[Window]:
        return list(cut_windows(7, self.fitted, self.segments, capacity=self.capacity, overlap=self.overlap))

    def spans(self) -> Iterator[tuple[tuple[int, int], int, int]]:
        """(segment, first, end) of every span up to the width limit inside a segment."""
        for segment in self.segments:
            for first in range(*segment):
                for end in range(first + 1, min(first + self.width_limit, segment[1]) + 1):
                    yield segment, first, end


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Documents of ordinary, long and huge words, cut at random sentence borders."""
    capacity = draw(st.integers(2, 40))
    width_limit = draw(st.integers(1, capacity // 2))
    pieces = st.one_of(st.integers(1, 3), st.integers(1, 12), st.sampled_from([30, 500, 2000]))
    counts = draw(st.lists(pieces, max_size=60))
    cuts = draw(st.sets(st.integers(0, len(counts)), max_size=3)) | {0, len(counts)}
    borders = sorted(cuts)
    segments = list(pairwise(borders)) or [(0, 0)]
    return Case(counts, segments, capacity, width_limit, width_limit + draw(st.integers(0, 20)))


def owners(windows: list[Window], first: int, end: int) -> list[Window]:
    asked = np.asarray([first]), np.asarray([end - 1])
    return [window for window in windows if window.owns(*asked)[0]]


def context(window: Window, segment: tuple[int, int], first: int, end: int) -> float:
    """The smaller of a span's contexts in a window; where a segment begins or ends, nothing is missing."""
    left = math.inf if window.first == segment[0] else first - window.first
    right = math.inf if window.end == segment[1] else window.end - end
    return min(left, right)


@settings(max_examples=400)
@given(cases())
def test_every_span_is_owned_by_exactly_one_window_which_contains_it(case: Case) -> None:
    windows = case.windows()
    for _, first, end in case.spans():
        found = owners(windows, first, end)
        assert len(found) == 1
        assert found[0].first <= first and end <= found[0].end


@settings(max_examples=400)
@given(cases())
def test_the_owner_of_a_span_is_the_window_that_gives_it_most_context(case: Case) -> None:
    windows = case.windows()
    for segment, first, end in case.spans():
        [owner] = owners(windows, first, end)
        rivals = [window for window in windows if window.first <= first and end <= window.end]
        assert context(owner, segment, first, end) == max(
            context(window, segment, first, end) for window in rivals
        )


@given(cases())
def test_no_window_owns_a_span_that_leaves_it(case: Case) -> None:
    for window in case.windows():
        for first in range(len(case.counts)):
            for end in range(first + 1, len(case.counts) + 1):
                inside = window.first <= first and end <= window.end
                assert inside or window not in owners([window], first, end)


@given(cases())
def test_windows_fit_their_capacity_and_their_segment(case: Case) -> None:
    fitted = case.fitted
    for window in case.windows():
        assert window.document == 7
        assert window.first < window.end
        assert fitted[window.first : window.end].sum() <= case.capacity
        assert any(first <= window.first and window.end <= end for first, end in case.segments)


@given(cases())
def test_neighbours_advance_and_leave_no_word_out(case: Case) -> None:
    windows = case.windows()
    assert {word for window in windows for word in range(window.first, window.end)} == set(
        range(len(case.counts))
    )
    for left, right in pairwise(windows):
        assert left.first < right.first and left.end < right.end


@given(cases())
def test_a_segment_that_fits_is_one_window(case: Case) -> None:
    windows = case.windows()
    for first, end in case.segments:
        if first < end and case.fitted[first:end].sum() <= case.capacity:
            assert Window(7, first, end) in windows


@given(cases(), st.integers(1, 30))
def test_a_prefix_in_a_segment_of_its_own_shifts_windows_by_its_words(case: Case, shift: int) -> None:
    counts = np.concatenate([np.ones(shift, dtype=np.int64), case.fitted])
    segments = [(0, shift), *((first + shift, end + shift) for first, end in case.segments)]
    prefixed = list(cut_windows(7, counts, segments, capacity=case.capacity, overlap=case.overlap))
    windows = case.windows()
    for _, first, end in case.spans():
        [before], [after] = owners(windows, first, end), owners(prefixed, first + shift, end + shift)
        assert (after.first, after.end) == (before.first + shift, before.end + shift)


@given(cases())
def test_fitted_runs_fill_at_most_half_a_window(case: Case) -> None:
    fitted = case.fitted
    assert (fitted >= 1).all()
    assert (fitted <= case.counts).all()
    for first in range(len(fitted)):
        assert fitted[first : first + case.width_limit].sum() <= case.capacity // 2


@given(cases())
def test_only_words_of_runs_that_are_too_long_lose_pieces(case: Case) -> None:
    fitted = case.fitted
    half, width = case.capacity // 2, case.width_limit
    for word, (count, kept) in enumerate(zip(case.counts, fitted, strict=True)):
        runs = range(max(0, word - width + 1), word + 1)
        if all(sum(case.counts[first : first + width]) <= half for first in runs):
            assert kept == count


def test_fitting_leaves_the_given_counts_alone() -> None:
    counts = np.asarray([500, 1], dtype=np.int64)
    fit_counts(counts, 2, 8)
    assert counts.tolist() == [500, 1]


def test_spans_wider_than_half_a_window_are_refused_with_the_legal_width() -> None:
    with pytest.raises(SettingsError, match=r"spans of 6 words .* 10 pieces; expected widths up to 5 words"):
        fit_counts(np.ones(3, dtype=np.int64), 6, 10)


def test_an_empty_document_has_no_window() -> None:
    assert Case([], [(0, 0)], 10, 2, 2).windows() == []


def test_neighbours_share_the_words_asked_for() -> None:
    windows = Case([1] * 30, [(0, 30)], 10, 2, 4).windows()
    assert [(window.first, window.end) for window in windows] == [
        (0, 10),
        (6, 16),
        (12, 22),
        (18, 28),
        (24, 30),
    ]


def test_a_large_overlap_never_fills_more_than_half_a_window() -> None:
    windows = Case([1] * 30, [(0, 30)], 10, 2, 9).windows()
    assert [(window.first, window.end) for window in windows] == [
        (0, 10),
        (5, 15),
        (10, 20),
        (15, 25),
        (20, 30),
    ]
