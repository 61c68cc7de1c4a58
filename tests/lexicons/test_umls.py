from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, LexiconLog, Term, read_lexicon, umls

# Invented concepts in the columns of MRCONSO.RRF and MRSTY.RRF.


def name_row(concept: str, name: str, **columns: str) -> str:
    """A row of MRCONSO.RRF."""
    values = {"LAT": "ENG", "TS": "S", "STT": "VO", "ISPREF": "N", "SUPPRESS": "N"} | columns
    cells = [
        concept,
        values["LAT"],
        values["TS"],
        "L1",
        values["STT"],
        "S1",
        values["ISPREF"],
        "A1",
        "",
        "",
        "",
    ]
    return "|".join([*cells, "OURS", "PT", "X1", name, "0", values["SUPPRESS"], "", ""])


PREFERRED = {"TS": "P", "STT": "PF", "ISPREF": "Y"}
NAMES = [
    name_row("C01", "Dwarf fever"),
    name_row("C01", "Fever of dwarfs", **PREFERRED),
    name_row("C01", "Zwergenfieber", LAT="GER"),
    name_row("C01", "Dwarf fever"),
    name_row("C01", "dwarf fever NOS", SUPPRESS="O"),
    name_row("C02", "Moonroot", **PREFERRED),
    name_row("C02", "lunar root"),
    name_row("C03", "Walking"),
]
TYPES = [
    "C01|T047|B2|Disease or Syndrome|AT1||",
    "C02|T002|A1|Plant|AT2||",
    "C02|T121|A1|Pharmacologic Substance|AT3||",
    "C03|T056|B1|Daily or Recreational Activity|AT4||",
]


def write(folder: Path, names: list[str] = NAMES, types: list[str] | None = TYPES) -> Path:
    (folder / "MRCONSO.RRF").write_text("".join(f"{row}\n" for row in names), encoding="utf-8")
    if types is not None:
        (folder / "MRSTY.RRF").write_text("".join(f"{row}\n" for row in types), encoding="utf-8")
    return folder


def named(lexicon: Lexicon) -> dict[str, str | None]:
    return {term.name: term.type for term in lexicon.terms()}


def test_a_term_has_the_preferred_name_and_the_others_once(tmp_path: Path) -> None:
    first = next(read_lexicon(write(tmp_path)).terms())
    assert first == Term("Fever of dwarfs", None, "C01", ("Dwarf fever",))


def test_without_a_preferred_row_the_first_name_is_preferred(tmp_path: Path) -> None:
    lexicon = read_lexicon(write(tmp_path, [name_row("C9", "b"), name_row("C9", "a")]))
    assert [term.names for term in lexicon.terms()] == [("b", "a")]


def test_rows_left_out_are_counted_by_reason(tmp_path: Path) -> None:
    log = read_lexicon(write(tmp_path), semantic_types={"T047": "Disease"}).log
    assert log.left_out == {
        "rows in other languages": 1,
        "suppressible rows": 1,
        "rows of other semantic types": 3,
    }
    assert (log.entries_read, log.entries) == (3, len(NAMES))


def test_another_language_can_be_read(tmp_path: Path) -> None:
    assert named(read_lexicon(write(tmp_path), language="GER")) == {"Zwergenfieber": None}


@pytest.mark.parametrize("disease", ["T047", "Disease or Syndrome"])
def test_semantic_types_by_identifier_or_name_give_the_types(tmp_path: Path, disease: str) -> None:
    lexicon = read_lexicon(write(tmp_path), semantic_types={disease: "Disease", "Plant": "Plant"})
    assert named(lexicon) == {"Fever of dwarfs": "Disease", "Moonroot": "Plant"}


@pytest.mark.parametrize(("wanted", "type_"), [(("T002", "T121"), "T002"), (("T121", "T002"), "T121")])
def test_of_several_semantic_types_the_first_in_the_map_decides(
    tmp_path: Path, wanted: tuple[str, str], type_: str
) -> None:
    lexicon = read_lexicon(write(tmp_path), semantic_types={name: name for name in wanted})
    assert named(lexicon) == {"Moonroot": type_}


def test_a_semantic_type_that_no_concept_has_is_noted(tmp_path: Path) -> None:
    notes = read_lexicon(write(tmp_path), semantic_types={"T047": "Disease", "T999": "X"}).log.notes
    assert notes[-1].endswith("no concept has the semantic type 'T999'")


def test_semantic_types_without_their_file_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MRSTY\.RRF: no such file"):
        read_lexicon(write(tmp_path, types=None), semantic_types={"T047": "Disease"})


def test_the_file_can_be_named_in_place_of_its_folder(tmp_path: Path) -> None:
    lexicon = read_lexicon(write(tmp_path) / "MRCONSO.RRF", semantic_types={"T047": "Disease"})
    assert named(lexicon) == {"Fever of dwarfs": "Disease"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("C04|ENG|short|", "3 columns that end with a bar; expected 18"),
        (name_row("C04", "with a | bar"), "19 columns"),
        (name_row("C04", "cut off")[:-1], "17 columns"),
        (name_row("C04", " "), "without a concept or a name"),
        (name_row("", "no concept"), "without a concept or a name"),
    ],
)
def test_a_malformed_row_is_rejected_with_its_line(tmp_path: Path, row: str, reason: str) -> None:
    log = read_lexicon(write(tmp_path, [*NAMES[:2], row, *NAMES[2:]])).log
    (problem,) = log.problems
    assert problem.line == 3
    assert reason in problem.reason
    assert (log.entries_rejected, log.entries) == (1, len(NAMES) + 1)


def test_a_row_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path) / "MRCONSO.RRF"
    path.write_bytes(path.read_bytes().replace(b"Moonroot", b"Moonr\xffot"))
    log = read_lexicon(path).log
    assert [problem.line for problem in log.problems] == [6]
    assert log.entries == len(NAMES)


def test_a_malformed_row_of_types_is_a_remark(tmp_path: Path) -> None:
    log = read_lexicon(write(tmp_path, types=[*TYPES, "C04|T047|"]), semantic_types={"T047": "Disease"}).log
    assert [Path(problem.path).name for problem in log.problems] == ["MRSTY.RRF"]
    assert log.entries == len(NAMES)


def test_a_concept_in_two_places_of_the_file_is_one(tmp_path: Path) -> None:
    lexicon = read_lexicon(write(tmp_path, [*NAMES, name_row("C01", "shivers")]))
    assert lexicon.synonyms("shivers") == ("Fever of dwarfs", "Dwarf fever")


def test_reading_holds_one_concept_at_a_time(tmp_path: Path) -> None:
    rows = [name_row(f"C{number // 4}", f"name {number} {'x' * 100}") for number in range(20_000)]
    path = write(tmp_path, rows, [f"C{number}|T047|B2|Disease|AT||" for number in range(5)])
    size = (path / "MRCONSO.RRF").stat().st_size
    tracemalloc.start()
    count = sum(1 for _ in umls.read(path, LexiconLog()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 5_000
    # The file buffer has 1 MB; the file itself three times that.
    assert size > 3_000_000
    assert peak < 1_500_000
