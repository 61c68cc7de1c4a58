"""What was written down is compared with what is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.identity import Difference, changed_names, find_differences, write_down, written_down

TABLES = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 2), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | st.integers(0, 2), max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": 1}, {"a": 2}, [Difference(("a",), 1, 2)]),
        ({"a": {"b": {"c": 1}}, "d": 1}, {"a": {"b": {"c": 2}}, "d": 1}, [Difference(("a", "b", "c"), 1, 2)]),
        ({"a": 1}, {"b": 2}, [Difference(("b",), None, 2), Difference(("a",), 1, None)]),
        ({"a": None}, {"a": {"b": 1}}, [Difference(("a", "b"), None, 1)]),
        ({"a": None}, {"a": {}}, [Difference(("a",), None, {})]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, [Difference(("a",), [{"b": 1}], [{"b": 2}])]),
        ({"a": None}, {}, []),
    ],
)
def test_the_innermost_values_that_differ_are_told(
    old: dict[str, Any], new: dict[str, Any], found: list[Difference]
) -> None:
    assert list(find_differences(old, new)) == found


@given(old=TABLES, new=TABLES)
def test_nothing_differs_only_if_all_values_are_the_same(old: dict[str, Any], new: dict[str, Any]) -> None:
    given = [{name: value for name, value in each.items() if value is not None} for each in (old, new)]
    assert (not list(find_differences(old, new))) == (given[0] == given[1])


def test_the_names_that_changed_are_those_that_are_asked_for() -> None:
    old = {"same": {"x": 1}, "table": {"x": 1, "y": 1}, "gone": 1}
    new = {"new": 1, "table": {"x": 2, "y": 2}, "same": {"x": 1}}
    assert changed_names(old, new) == ["new", "table"]


def test_what_is_written_down_is_read_again(tmp_path: Path) -> None:
    values = {"settings": {"rate": 1e-5, "names": ["é", None]}, "seed": 1}
    write_down(tmp_path / "plan.json", values)
    assert written_down(tmp_path / "plan.json") == values
