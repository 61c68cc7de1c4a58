"""What is written as TOML is read as it was."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.toml_text import document_text, key_text, value_text

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(values=st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_written_as_toml_is_read_again(values: dict[str, Any]) -> None:
    assert tomllib.loads(document_text(values)) == values


@given(value=VALUES)
def test_a_value_on_one_line_is_read_again(value: Any) -> None:
    text = value_text(value)
    assert "\n" not in text
    assert tomllib.loads(f"value = {text}") == {"value": value}


@given(name=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_key_is_read_again(name: str) -> None:
    assert tomllib.loads(f"{key_text(name)} = 1") == {name: 1}


def test_the_texts_of_choices_stay_as_searches_under_way_know_them() -> None:
    value = {"kind": "a\n\t\x01\x7fb", "b c": [1, 0.5, 1e-05, True, "é"]}
    assert value_text(value) == '{kind = "a\\n\\t\\u0001\\u007fb", "b c" = [1, 0.5, 1e-05, true, "é"]}'


def test_none_has_no_text() -> None:
    with pytest.raises(TypeError, match="None has no text in TOML"):
        value_text(None)
