"""Tags and runs: five schemes, there and back, and forgiving reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from spanwright.text.tags import (
    SCHEMES,
    Scheme,
    WordRun,
    detect_scheme,
    runs_from_tags,
    split_tag,
    tags_from_runs,
    unknown_tags,
)

TYPES = st.sampled_from(["Gene", "cell-line", "O", "B", "基因"])


@st.composite
def disjoint_runs(draw: st.DrawFn, types: st.SearchStrategy[str] = TYPES) -> tuple[list[WordRun], int]:
    """Runs in order, often side by side, and the number of words."""
    runs: list[WordRun] = []
    position = 0
    for gap, width in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=6)):
        first = position + gap
        position = first + width
        runs.append((first, position, draw(types)))
    return runs, position + draw(st.integers(0, 2))


@given(disjoint_runs(), st.sampled_from(SCHEMES))
def test_runs_survive_writing_and_reading_in_every_scheme(
    case: tuple[list[WordRun], int], scheme: Scheme
) -> None:
    runs, length = case
    assert runs_from_tags(tags_from_runs(runs, length, scheme)) == runs


@given(disjoint_runs(st.just("")), st.sampled_from(SCHEMES))
def test_runs_without_a_type_survive_too(case: tuple[list[WordRun], int], scheme: Scheme) -> None:
    runs, length = case
    assert runs_from_tags(tags_from_runs(runs, length, scheme)) == runs


@given(disjoint_runs(), st.sampled_from(SCHEMES))
def test_every_written_tag_is_known(case: tuple[list[WordRun], int], scheme: Scheme) -> None:
    runs, length = case
    assert unknown_tags(tags_from_runs(runs, length, scheme)) == []


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("IOB1", "I-X I-X I-X B-X O I-Y"),
        ("IOB2", "B-X I-X I-X B-X O B-Y"),
        ("BIOES", "B-X I-X E-X S-X O S-Y"),
        ("BILOU", "B-X I-X L-X U-X O U-Y"),
        ("BMES", "B-X M-X E-X S-X O S-Y"),
    ],
)
def test_each_scheme_has_its_letters(scheme: Scheme, expected: str) -> None:
    runs = [(0, 3, "X"), (3, 4, "X"), (5, 6, "Y")]
    assert tags_from_runs(runs, 6, scheme) == expected.split()


def test_iob1_writes_b_only_after_a_neighbour_of_the_same_type() -> None:
    runs = [(0, 1, "X"), (1, 3, "X"), (3, 4, "Y"), (5, 6, "Y")]
    assert tags_from_runs(runs, 6, "IOB1") == ["I-X", "B-X", "I-X", "I-Y", "O", "I-Y"]


def test_the_order_of_runs_does_not_matter() -> None:
    assert tags_from_runs([(2, 3, "B"), (0, 1, "A")], 3) == tags_from_runs([(0, 1, "A"), (2, 3, "B")], 3)


@pytest.mark.parametrize("runs", [[(0, 2, "X"), (1, 3, "X")], [(0, 4, "X")], [(-1, 1, "X")], [(1, 1, "X")]])
def test_overlapping_empty_or_outside_runs_cannot_be_written(runs: list[WordRun]) -> None:
    with pytest.raises(ValueError, match="overlaps another or lies outside 3 words"):
        tags_from_runs(runs, 3)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O I-X I-X O", [(1, 3, "X")]),
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("I-X I-X B-X I-X", [(0, 2, "X"), (2, 4, "X")]),
        ("E-X L-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X S-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("B-X M-X O M-X", [(0, 2, "X"), (3, 4, "X")]),
    ],
)
def test_a_stray_continuation_begins_a_run(tags: str, expected: list[WordRun]) -> None:
    assert runs_from_tags(tags.split()) == expected


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=12))
def test_iob2_with_stray_tags_is_read_as_seqeval_reads_it(tags: list[str]) -> None:
    expected = [(first, last + 1, type_) for type_, first, last in get_entities(tags)]
    assert runs_from_tags(tags) == expected


@given(
    st.lists(
        st.sampled_from(["O", *(f"{letter}-{type_}" for letter in "BIES" for type_ in "XY")]), max_size=12
    )
)
def test_bioes_with_stray_tags_is_read_as_seqeval_reads_it(tags: list[str]) -> None:
    expected = [(first, last + 1, type_) for type_, first, last in get_entities(tags)]
    assert runs_from_tags(tags) == expected


def test_unknown_tags_are_pointed_out() -> None:
    assert unknown_tags(["O", "B-X", "X-B", "o", "", "U"]) == [2, 3, 4]


@pytest.mark.parametrize(
    ("tag", "parts"), [("B-cell-line", ("B", "cell-line")), ("O", ("O", "")), ("I", ("I", ""))]
)
def test_a_tag_is_cut_at_its_first_hyphen(tag: str, parts: tuple[str, str]) -> None:
    assert split_tag(tag) == parts


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("type_", ["X", ""])
def test_the_scheme_of_a_corpus_is_detected(scheme: Scheme, type_: str) -> None:
    sentences = [
        tags_from_runs([(0, 3, type_), (4, 5, type_)], 6, scheme),
        tags_from_runs([(1, 2, type_), (2, 5, type_)], 6, scheme),
    ]
    assert detect_scheme(sentences) == scheme


def test_a_few_stray_tags_do_not_turn_iob2_into_iob1() -> None:
    sentences = [["B-X", "I-X"], ["O", "B-X"], ["I-X", "O"]]
    assert detect_scheme(sentences) == "IOB2"


def test_tags_without_any_mention_are_called_iob2() -> None:
    assert detect_scheme([["O", "O"], []]) == "IOB2"
