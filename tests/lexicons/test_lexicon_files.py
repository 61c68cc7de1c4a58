from __future__ import annotations

from pathlib import Path

import pytest

from spanwright.errors import InputError
from spanwright.lexicons import read_lexicon
from spanwright.lexicons.files import FORMS, form_of

OBO = "format-version: 1.4\n\n[Term]\nid: X:1\nname: flu\n"


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("x.obo", "", "obo"),
        ("x.txt", OBO, "obo"),
        ("x.txt", "! header\n[Term]\nid: X:1\n", "obo"),
        ("MRCONSO.RRF", "", "umls"),
        ("x.txt", "D1|77||Fever|Ague\n", "medic"),
        ("x.tsv", "flu\tDisease\tD1\n", "tsv"),
        ("x.txt", "flu\tDisease\nague\tDisease\ncold\tDisease\nx\tDisease\n", "tsv"),
        ("x.dict", "type\tsurface\nDisease\tflu\n", "tsv"),
        ("x.txt", "Disease\tflu\nDisease\tague\nDisease\tcold\n", "autoner-core"),
        ("x.tsv", "Disease\tflu\nDisease\tague\nDisease\tcold\n", "autoner-core"),
        ("x.txt", "flu\ndust fever\n", "autoner-full"),
    ],
)
def test_the_form_is_recognised(tmp_path: Path, name: str, text: str, form: str) -> None:
    assert form_of(write(tmp_path, name, text)).name == form


def test_the_recognised_form_is_noted(tmp_path: Path) -> None:
    path = write(tmp_path, "x.obo", OBO)
    assert read_lexicon(path).log.notes == [f"{path}: read as obo ({FORMS['obo'].description})"]
    assert read_lexicon(path, form="obo").log.notes == []


@pytest.mark.parametrize(
    ("name", "text"),
    [("x.jsonl", '{"id": 1}\n'), ("x.txt", ""), ("x.txt", "1|t|Title\n1\t0\t3\tflu\tDisease\n1|a|x\n\n")],
)
def test_an_unknown_form_is_an_error_that_names_the_legal_ones(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(
        InputError, match="not recognised as a lexicon; expected one of these: umls "
    ) as caught:
        read_lexicon(write(tmp_path, name, text))
    assert "; medic (one concept per line: id|id||name|synonym); " in str(caught.value)
    assert "read_lexicon" not in str(caught.value)  # commands show it, too


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.obo: no such file"):
        read_lexicon(tmp_path / "absent.obo")


def test_an_unknown_name_of_a_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown form of lexicon 'owl'; expected umls, obo"):
        read_lexicon(write(tmp_path, "x.obo", OBO), form="owl")


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_folder_that_is_no_lexicon_is_an_error(tmp_path: Path, form: str) -> None:
    with pytest.raises(InputError, match="this folder is not a lexicon of the form"):
        read_lexicon(tmp_path, form=form)


def test_an_option_of_another_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="'obo' have no option 'columns'; expected: scopes, roots, namespaces, xrefs"
    ):
        read_lexicon(write(tmp_path, "x.obo", OBO), columns=["surface"])


@pytest.mark.parametrize(("form", "option"), [("obo", "roots"), ("umls", "semantic_types")])
def test_a_type_in_two_ways_is_an_error(tmp_path: Path, form: str, option: str) -> None:
    with pytest.raises(InputError, match=f"given twice, as type='Disease' and with '{option}'"):
        read_lexicon(write(tmp_path, "x.obo", OBO), form=form, type="Disease", **{option: {"X:1": "Y"}})


def test_a_given_type_takes_the_place_of_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "x.tsv", "flu\tIllness\nague\n")
    assert [term.type for term in read_lexicon(path, type="Disease").terms()] == ["Disease", "Disease"]


def test_strict_makes_the_first_problem_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "x.tsv", "flu\n\tDisease\n\tDisease\n")
    assert len(read_lexicon(path)) == 1
    with pytest.raises(InputError, match=r"x\.tsv:2: no surface .*\(the first of 2\)"):
        read_lexicon(path, strict=True)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"umls"}))
def test_an_empty_file_is_an_empty_lexicon(tmp_path: Path, form: str) -> None:
    lexicon = read_lexicon(write(tmp_path, "x.txt", b""), form=form)
    assert (len(lexicon), lexicon.log.entries, lexicon.synonyms("flu")) == (0, 0, ())
