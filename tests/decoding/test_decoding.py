"""Decoding equals the greedy rule taken one span at a time, whatever the order and the ties."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwright.decoding import spans as decoding
from spanwright.decoding.spans import decode, decode_in_runs
from spanwright.settings.settings import Decoding

Span = tuple[int, int, int, float]
"""First word, last word, type, confidence."""

RULES: tuple[Decoding, ...] = ("nested", "flat", "non-crossing")
spans = st.lists(
    st.tuples(
        st.integers(0, 14), st.integers(0, 5), st.integers(0, 2), st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0])
    ),
    max_size=25,
    unique_by=lambda drawn: drawn[:3],
).map(lambda drawn: [(first, first + more, type_, share) for first, more, type_, share in drawn])


def conflict(one: Span, other: Span, rule: Decoding) -> bool:
    overlap = one[0] <= other[1] and other[0] <= one[1]
    inside = (one[0] <= other[0] and other[1] <= one[1]) or (other[0] <= one[0] and one[1] <= other[1])
    return {"nested": False, "flat": overlap, "non-crossing": overlap and not inside}[rule]


def greedy(given_spans: list[Span], rule: Decoding) -> list[Span]:
    """From the most confident on; ties go to the longer, then the leftmost, then the lower type."""
    kept: list[Span] = []
    for span in sorted(given_spans, key=lambda span: (-span[3], span[0] - span[1], span[0], span[2])):
        if not any(conflict(span, other, rule) for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span[:3])


def columns(given_spans: list[Span]) -> list[np.ndarray]:
    """First words, last words, types and confidences."""
    kinds = (np.int64, np.int64, np.int64, np.float64)
    return [
        np.asarray([span[column] for span in given_spans], dtype=kind) for column, kind in enumerate(kinds)
    ]


def decoded(given_spans: list[Span], rule: Decoding) -> list[Span]:
    return [given_spans[position] for position in decode(*columns(given_spans), rule)]


@settings(max_examples=400)
@pytest.mark.parametrize("rule", RULES)
@given(given_spans=spans)
def test_decoding_equals_the_greedy_rule(rule: Decoding, given_spans: list[Span]) -> None:
    assert decoded(given_spans, rule) == greedy(given_spans, rule)


@pytest.mark.parametrize("rule", RULES)
@given(given_spans=spans, data=st.data())
def test_the_order_of_predictions_does_not_matter(
    rule: Decoding, given_spans: list[Span], data: st.DataObject
) -> None:
    assert decoded(data.draw(st.permutations(given_spans)), rule) == decoded(given_spans, rule)


@given(spans)
def test_nested_keeps_everything_in_reading_order(given_spans: list[Span]) -> None:
    assert decoded(given_spans, "nested") == sorted(given_spans, key=lambda span: span[:3])


@given(spans, st.integers(0, 10_000))
def test_spans_far_into_a_document_are_decoded_alike(given_spans: list[Span], shift: int) -> None:
    moved = [(first + shift, last + shift, *rest) for first, last, *rest in given_spans]
    expected = [(first + shift, last + shift, *rest) for first, last, *rest in decoded(given_spans, "flat")]
    assert decoded(moved, "flat") == expected


def test_flat_keeps_one_type_of_a_span_and_non_crossing_all() -> None:
    both = [(0, 1, 0, 0.6), (0, 1, 1, 0.9)]
    assert decoded(both, "flat") == [both[1]]
    assert decoded(both, "non-crossing") == both


def test_a_span_beaten_by_a_beaten_one_is_kept() -> None:
    chain = [(0, 2, 0, 0.9), (2, 4, 0, 0.8), (4, 6, 0, 0.7)]
    assert decoded(chain, "flat") == decoded(chain, "non-crossing") == [chain[0], chain[2]]


@pytest.mark.parametrize("rule", ["flat", "non-crossing"])
def test_a_long_chain_of_overlapping_spans_with_one_confidence_is_decoded_in_seconds(rule: Decoding) -> None:
    first = np.arange(100_000)
    start = time.process_time()
    kept = decode(first, first + 3, np.zeros_like(first), np.ones(len(first)), rule)
    assert kept.tolist() == list(range(0, 100_000, 4))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("rule", RULES)
@given(given_spans=spans, size=st.integers(1, 6))
def test_decoding_in_runs_equals_decoding_at_once(rule: Decoding, given_spans: list[Span], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "_RUN", size)
        patch.setattr(decoding, "_LOOKED_AT", 2)
        runs = list(decode_in_runs(*columns(given_spans), rule))
    assert [given_spans[position] for run in runs for position in run] == greedy(given_spans, rule)


@pytest.mark.parametrize("rule", RULES)
def test_runs_are_short_where_there_is_a_place_to_cut(
    rule: Decoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_RUN", 10)
    # Pairs that overlap each other and no other pair.
    first = np.arange(200) * 2
    last = first + np.tile([2, 1], 100)
    runs = list(decode_in_runs(first, last, np.zeros(200, dtype=np.int64), np.ones(200), rule))
    assert len(runs) == 20
