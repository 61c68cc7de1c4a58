from __future__ import annotations

from pathlib import Path

import pytest

from spanwright.lexicons import Lexicon, Term, read_lexicon


def read(folder: Path, text: str | bytes, **options: object) -> Lexicon:
    path = folder / "vocabulary.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_lexicon(path, form="medic", **options)


def test_a_line_has_ids_and_names(tmp_path: Path) -> None:
    (term,) = read(tmp_path, "D1|77||Dwarf Fever|Fever, Dwarf|DF\n").terms()
    assert term == Term("Dwarf Fever", None, "D1", ("Fever, Dwarf", "DF"), ("77",))


def test_a_line_may_have_one_id_and_one_name(tmp_path: Path) -> None:
    assert list(read(tmp_path, "D1||Dwarf Fever").terms()) == [Term("Dwarf Fever", None, "D1")]


def test_numbers_get_a_prefix_and_other_ids_do_not(tmp_path: Path) -> None:
    (term,) = read(tmp_path, "D1|77||Dwarf Fever\n", number_prefix="OMIM:").terms()
    assert term.ids == ("D1", "OMIM:77")


@pytest.mark.parametrize(("prefix", "numbers"), [("", ("77", "78")), ("OMIM:", ("OMIM:77", "OMIM:78"))])
def test_the_concept_is_no_plain_number_where_there_is_another_id(
    tmp_path: Path, prefix: str, numbers: tuple[str, ...]
) -> None:
    (term,) = read(tmp_path, "77|D2|78|C1||Dwarf Fever\n", number_prefix=prefix).terms()
    assert term.ids == ("D2", "C1", *numbers)


def test_empty_and_repeated_names_are_left_out(tmp_path: Path) -> None:
    (term,) = read(tmp_path, "D1||Fever| |Ague||Fever|\n").terms()
    assert term.names == ("Fever", "Ague")


@pytest.mark.parametrize("line", ["no bars", "||a name", "D1||", "D1|| | ", "D1|a name", " |||x"])
def test_a_line_without_id_or_name_is_rejected(tmp_path: Path, line: str) -> None:
    log = read(tmp_path, f"D1||Fever\n{line}\n\nD2||Ague\n").log
    (problem,) = log.problems
    assert problem.line == 2
    assert "has no id or no name; expected id|id||name|synonym" in problem.reason
    assert (log.entries_read, log.entries_rejected) == (2, 1)


def test_a_line_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    log = read(tmp_path, b"D1||Fever\nD2||\xe9\nD3||Ague\n").log
    assert [problem.line for problem in log.problems] == [2]
    assert (log.entries_read, log.entries_rejected) == (2, 1)
