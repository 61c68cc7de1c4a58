from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term, read_lexicon


def read(folder: Path, text: str | bytes, form: str = "tsv", **options: object) -> Lexicon:
    path = folder / "table.tsv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_lexicon(path, form=form, **options)


def test_columns_are_surface_type_and_concept(tmp_path: Path) -> None:
    assert list(read(tmp_path, "flu\tDisease\tD1\n").terms()) == [Term("flu", "Disease", "D1")]


@pytest.mark.parametrize("line", ["flu", "flu\t", "flu\t\t", " flu \t\t "])
def test_only_the_surface_is_required(tmp_path: Path, line: str) -> None:
    assert list(read(tmp_path, line).terms()) == [Term("flu")]


def test_rows_of_one_concept_are_one_term_in_the_place_of_the_first(tmp_path: Path) -> None:
    text = "flu\tDisease\tD1\naspirin\tChemical\ngrippe\tDisease\tD1\nflu\tDisease\tD1\n"
    assert list(read(tmp_path, text).terms()) == [
        Term("flu", "Disease", "D1", ("grippe",)),
        Term("aspirin", "Chemical"),
    ]


def test_a_concept_with_two_types_is_two_terms_with_common_synonyms(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "flu\tDisease\tD1\ngrippe\tIllness\tD1\n")
    assert [term.type for term in lexicon.terms()] == ["Disease", "Illness"]
    assert lexicon.synonyms("flu") == ("grippe",)


def test_rows_without_a_concept_are_no_synonyms(tmp_path: Path) -> None:
    assert read(tmp_path, "flu\tDisease\ngrippe\tDisease\n").synonyms("flu") == ()


def test_a_header_names_the_columns_in_any_order(tmp_path: Path) -> None:
    text = "Concept\tSource\tSurface\nD1\tours\tflu\n"
    assert list(read(tmp_path, text).terms()) == [Term("flu", None, "D1")]


def test_a_first_line_without_the_word_surface_is_a_row(tmp_path: Path) -> None:
    assert len(read(tmp_path, "name\ttype\nflu\tDisease\n")) == 2


def test_given_columns_are_read_in_their_order(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "D1\tours\tflu\n", columns=["concept", "-", "surface"])
    assert list(lexicon.terms()) == [Term("flu", None, "D1")]


def test_a_header_in_other_words_can_be_skipped(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "ID\tName\nD1\tflu\n", columns=["concept", "surface"], skip_first_line=True)
    assert list(lexicon.terms()) == [Term("flu", None, "D1")]
    assert lexicon.log.entries == 1


@pytest.mark.parametrize("columns", [["type"], ["surface", "name"], ["surface", "surface"], []])
def test_illegal_columns_are_an_error(tmp_path: Path, columns: list[str]) -> None:
    with pytest.raises(InputError, match="expected surface, type, concept, each at most once"):
        read(tmp_path, "flu\n", columns=columns)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("\tDisease\tD1", "no surface in"),
        ("flu\tDisease\tD1\tmore", "4 cells in a row; expected the columns"),
    ],
)
def test_a_row_that_does_not_fit_is_rejected(tmp_path: Path, row: str, reason: str) -> None:
    log = read(tmp_path, f"cold\tDisease\n{row}\n\nague\tDisease\n").log
    (problem,) = log.problems
    assert problem.line == 2
    assert reason in problem.reason
    assert (log.entries_read, log.entries_rejected) == (2, 1)


def test_a_row_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    log = read(tmp_path, b"flu\n\xff\nague\n").log
    assert [problem.line for problem in log.problems] == [2]
    assert log.entries == 3


def test_the_core_dictionary_of_autoner_has_the_type_first(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "Chemical\t( R)-dust - acid\nDisease\tdust fever\n", form="autoner-core")
    assert list(lexicon.terms()) == [Term("( R)-dust - acid", "Chemical"), Term("dust fever", "Disease")]


def test_the_full_dictionary_of_autoner_has_terms_of_unknown_type(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "dust fever\ndust storm\n", form="autoner-full")
    assert list(lexicon.terms()) == [Term("dust fever"), Term("dust storm")]
    assert lexicon.types == ()


def test_a_tab_in_the_full_dictionary_is_a_problem(tmp_path: Path) -> None:
    assert read(tmp_path, "dust fever\tDisease\n", form="autoner-full").log.entries_rejected == 1


cells = st.text("ab \u00e9", max_size=3)


@given(st.lists(st.lists(cells, max_size=5), max_size=10))
def test_every_row_that_is_not_blank_is_read_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    lines = ["\t".join(row) for row in rows]
    log = read(tmp_path_factory.mktemp("tables"), "\n".join(lines)).log
    assert log.entries == sum(bool(line.strip()) for line in lines)
    assert log.entries_read == sum(bool(row and row[0].strip()) and len(row) <= 3 for row in rows)
