from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_making import SCRIPT

from spanwright.evaluation import Bin, Confidences, Interval, Matches
from spanwright.reporting.charts import (
    bucket_chart,
    confusion_chart,
    interval_chart,
    line_chart,
    reliability_chart,
    spread_chart,
)
from spanwright.reporting.drawing import Scale, ticks
from spanwright.reporting.markup import Element, write


def parsed(chart: Element) -> ElementTree.Element:
    """A chart as a browser sees it, once no number in it is broken."""
    text = write(chart)
    assert not re.search(r"\b(nan|inf)\b", text)
    return ElementTree.fromstring(text)


def texts(chart: Element) -> list[str]:
    return [node.text or "" for node in parsed(chart).iter("text")]


def marks(chart: Element, name: str) -> list[ElementTree.Element]:
    return [node for node in parsed(chart).iter(name) if "mark" in node.get("class", "").split()]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_evenly_spaced_and_within_the_axis(low: float, length: float) -> None:
    found = ticks(low, low + length)
    assert 1 <= len(found) <= 7
    slack = 1e-6 * max(abs(low), length)
    assert all(low - slack <= value <= low + length + slack for value in found)
    assert np.allclose(np.diff(found, 2), 0, atol=slack)


def test_a_scale_maps_its_ends_to_its_ends() -> None:
    scale = Scale(2, 4, 100, 0)
    assert [scale(2), scale(3), scale(4)] == [100, 50, 0]


def test_bars_are_as_long_as_f1() -> None:
    buckets = {"1": Matches(4, 4, 4, 4), "2": Matches(4, 2, 4, 2), "3": Matches(4, 0, 4, 0)}
    full, half, none = (
        float(bar.get("width", "")) for bar in marks(bucket_chart("width", {"A": buckets}), "rect")
    )
    assert (half, none) == (pytest.approx(full / 2, abs=0.1), 0)


def test_bars_come_with_f1_and_the_number_of_gold_entities() -> None:
    found = texts(bucket_chart("width", {"A": {"1": Matches(1234, 617, 617, 617)}}))
    assert "66.7" in found
    assert "1,234" in found


def test_a_bucket_without_entities_says_so_instead_of_scoring_zero() -> None:
    chart = bucket_chart("width", {"A": {"1": Matches()}, "B": {"1": Matches(0, 0, 1, 0)}})
    assert texts(chart).count("no entities") == 1
    assert len(marks(chart, "rect")) == 1


def test_intervals_are_drawn_for_every_system_also_where_they_are_points() -> None:
    found = {"A": Interval(0.5, 0.4, 0.6), "B": Interval(0.0, 0.0, 0.0)}
    assert len(marks(interval_chart("F1", found, 0.0, 0.62), "circle")) == 2


@pytest.mark.parametrize("ratio", [True, False])
@pytest.mark.parametrize("curve", [[(1, 0.0)], [(1, 1.0), (2, 1.0)], [(20, 0.1), (40, 0.9), (60, 0.3)]])
def test_curves_of_any_length_stay_inside_the_picture(curve: list[tuple[float, float]], ratio: bool) -> None:
    chart = line_chart("loss", {"A": (0, curve)}, x="step", ratio=ratio)
    points = [(float(mark.get("cx", "")), float(mark.get("cy", ""))) for mark in marks(chart, "circle")]
    assert len(points) == len(curve)
    assert all(0 <= x <= 335 and 0 <= y <= 210 and math.isfinite(x + y) for x, y in points)


def test_the_confusion_matrix_shows_every_number_and_leaves_nothing_as_none_blank() -> None:
    matrix = np.array([[7, 1, 2], [0, 5, 3], [4, 6, 0]])
    chart = confusion_chart("A", ("a", "b"), matrix)
    shown = [text for text in texts(chart) if text.isdigit()]
    assert sorted(map(int, shown)) == [1, 2, 3, 4, 5, 6, 7]
    assert len(list(parsed(chart).iter("rect"))) == 8


def test_many_types_share_a_row_of_the_confusion_matrix_and_no_count_is_lost() -> None:
    generator = np.random.default_rng(0)
    matrix = generator.integers(0, 9, (31, 31))
    matrix[-1, -1] = 0
    chart = parsed(confusion_chart("A", [f"type {number}" for number in range(30)], matrix))
    told = [node.text or "" for node in chart.iter("title")]
    assert sum(int(text.rpartition(": ")[2].replace(",", "")) for text in told) == matrix.sum()
    assert any("gold other types, predicted none" in text for text in told)
    assert len(told) == 22 * 22 - 1


def test_names_of_types_are_text() -> None:
    chart = confusion_chart("A", (SCRIPT,), np.array([[1, 0], [0, 0]]))
    assert not list(parsed(chart).iter("script"))
    assert f"gold {SCRIPT}, predicted {SCRIPT}: 1" in [node.text for node in parsed(chart).iter("title")]


def test_a_calibrated_bin_lies_on_the_diagonal_and_empty_bins_are_not_drawn() -> None:
    bins = (Bin(0, 0.5, 3, 0.25, 0.25), Bin(0.5, 1, 0, 0, 0))
    [point] = marks(reliability_chart("A", 0, bins), "circle")
    [ideal] = [
        node for node in parsed(reliability_chart("A", 0, bins)).iter("line") if node.get("class") == "ideal"
    ]
    x1, y1, x2, y2 = (float(ideal.get(name, "")) for name in ("x1", "y1", "x2", "y2"))
    share = (float(point.get("cx", "")) - x1) / (x2 - x1)
    assert share == pytest.approx(0.25)
    assert float(point.get("cy", "")) == pytest.approx(y1 + share * (y2 - y1))


def test_the_spread_counts_right_and_wrong_predictions() -> None:
    confidence = np.array([0.0, 0.05, 0.5, 0.97, 1.0])
    correct = np.array([False, True, False, True, True])
    types = np.zeros(5, np.int64)
    chart = spread_chart("A", 0, Confidences(("a",), confidence, correct, types, np.array([3])))
    assert {"right: 3", "wrong: 2"} <= set(texts(chart))
    told = [node.text or "" for node in parsed(chart).iter("title")]
    counts = [int(text.split(": ")[1].split()[0]) for text in told]
    assert sum(counts) == 5
    assert "confidence 95.0 to 100.0: 2 right" in told
