"""`spanwright link` and `evaluate --concepts`, from files to files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from corpus_commands import put
from running import run

import tiny
from spanwright import artifact
from spanwright.formats.files import read
from spanwright.text import Document, Entity

MEDIC = "D1|114480||Breast Neoplasms|Breast Cancer\nD2||Ovarian Neoplasms|Ovarian Cancer\n"
TEXT = "breast and ovarian cancer, breast tumour, soap"
DOCUMENT = Document(
    "1", TEXT, (Entity(0, 25, "Disease"), Entity(27, 40, "Disease"), Entity(42, 46, "Thing", concepts=("S",)))
)


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    path = tmp_path / "medic.txt"
    path.write_text(MEDIC, encoding="utf-8")
    return path


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    return put(tmp_path / "tagged", [DOCUMENT])


def concepts(path: Path) -> list[tuple[str, ...]]:
    (document,) = read(path).documents
    return [entity.concepts for entity in document.entities]


@pytest.mark.parametrize("name", ["linked.pubtator", "linked.jsonl", "linked.bioc.json", "linked.bioc.xml"])
def test_entities_are_linked_in_every_format_with_ids(
    tmp_path: Path, lexicon: Path, tagged: Path, name: str
) -> None:
    out = tmp_path / name
    done = run("link", tagged, "--lexicon", f"{lexicon}:Disease", "--out", out)
    assert done.code == 0, done.stderr
    assert concepts(out) == [("D1", "D2"), ("D1",), ()]
    assert "entities linked: 2, with no concept: 1" in done.stdout
    assert "types that the lexicon is not for (Disease): Thing 1" in done.stderr


def test_brat_has_the_ids_too(tmp_path: Path, lexicon: Path, tagged: Path) -> None:
    done = run("link", tagged, "--lexicon", f"{lexicon}:Disease", "--out", tmp_path / "b", "--to", "brat")
    assert done.code == 0, done.stderr
    assert concepts(tmp_path / "b")[:2] == [("D1", "D2"), ("D1",)]


def test_a_format_without_ids_is_refused_unless_it_may_lose_them(
    tmp_path: Path, lexicon: Path, tagged: Path
) -> None:
    call = (
        "link",
        tagged,
        "--lexicon",
        f"{lexicon}:Disease",
        "--out",
        tmp_path / "out.conll",
        "--to",
        "conll",
    )
    assert run(*call).code == 2
    assert "concepts" in run(*call, "--lossy").stderr


def test_an_id_that_a_format_cannot_hold_is_refused_or_counted(tmp_path: Path, tagged: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text("surface\tconcept\nbreast tumour\tA|B\n", encoding="utf-8")
    call = ("link", tagged, "--lexicon", f"{table}:Disease", "--out", tmp_path / "out.pubtator")
    refused = run(*call)
    assert refused.code == 2 and "A|B" in refused.error
    assert "concepts" in run(*call, "--lossy").stderr
    assert concepts(tmp_path / "out.pubtator") == [(), (), ()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.tsv", "surface\tconcept\n"),
        ("names.tsv", "surface\tconcept\n \tD1\n"),
        ("names.obo", "format-version: 1.2\n\n[Term]\nid: D1\n"),
        ("medic.txt", "D1|114480||\n"),
    ],
)
def test_a_lexicon_without_names_is_an_error(tmp_path: Path, tagged: Path, name: str, content: str) -> None:
    lexicon = tmp_path / name
    lexicon.write_text(content, encoding="utf-8")
    done = run("link", tagged, "--lexicon", lexicon, "--out", tmp_path / "a.jsonl")
    assert done.code == 2 and "Traceback" not in done.stderr
    assert not (tmp_path / "a.jsonl").exists()


def test_an_ontology_with_a_cycle_and_a_repeated_term_is_linked_to(tmp_path: Path, tagged: Path) -> None:
    lexicon = tmp_path / "cycle.obo"
    tumour = "[Term]\nid: D1\nname: breast tumour\nis_a: D2\n\n"
    cyst = "[Term]\nid: D2\nname: cyst\nis_a: D1\n\n"
    lexicon.write_text("format-version: 1.2\n\n" + tumour + cyst + tumour, encoding="utf-8")
    done = run("link", tagged, "--lexicon", f"{lexicon}:Disease", "--out", tmp_path / "a.jsonl")
    assert done.code == 0, done.stderr
    assert concepts(tmp_path / "a.jsonl")[1] == ("D1",)


def test_a_saved_linker_is_used_and_notices_another_lexicon(
    tmp_path: Path, lexicon: Path, tagged: Path
) -> None:
    folder = tmp_path / "linker"
    done = run("link", "--lexicon", f"{lexicon}:Disease", "--save", folder)
    assert done.code == 0 and "4 names" in done.stdout
    assert run("link", tagged, "--linker", folder, "--out", tmp_path / "a.jsonl").code == 0
    assert concepts(tmp_path / "a.jsonl")[0] == ("D1", "D2")
    lexicon.write_text(MEDIC + "D3||Flu\n", encoding="utf-8")
    again = (
        "link",
        tagged,
        "--linker",
        folder,
        "--lexicon",
        f"{lexicon}:Disease",
        "--out",
        tmp_path / "a.jsonl",
    )
    assert "the lexicon has changed since the linker was built" in run(*again).error


@pytest.mark.parametrize("format", ["jsonl", "brat"])
def test_a_lexicon_of_another_type_is_an_error_and_nothing_is_written(
    tmp_path: Path, lexicon: Path, tagged: Path, format: str
) -> None:
    out = tmp_path / "out"
    done = run("link", tagged, "--lexicon", f"{lexicon}:Gene", "--out", out, "--to", format)
    assert "of other types (Gene) than there are (Disease, Thing); " in done.error
    assert "--lexicon FILE:TYPE" in done.error
    assert not out.is_file() and not list(out.glob("*"))


def test_documents_without_an_entity_are_written_as_they_are(tmp_path: Path, lexicon: Path) -> None:
    source = put(tmp_path, [Document("1", "Nothing here")])
    done = run("link", source, "--lexicon", f"{lexicon}:Gene", "--out", tmp_path / "a.jsonl")
    assert done.code == 0, done.stderr
    assert read(tmp_path / "a.jsonl").documents == read(source).documents


@pytest.mark.parametrize("other", [(), ("--lexicon", "flu.txt:Symptom")])
def test_an_ontology_without_a_given_type_is_for_all_entities(
    tmp_path: Path, tagged: Path, other: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flu.txt").write_text("D9||Flu\n", encoding="utf-8")
    header = "format-version: 1.2\ndefault-namespace: disease_ontology\n\n"
    Path("names.obo").write_text(f"{header}[Term]\nid: D1\nname: breast tumour\n", encoding="utf-8")
    done = run("link", tagged, "--lexicon", "names.obo", *other, "--out", "a.jsonl")
    assert done.code == 0, done.stderr
    assert concepts(Path("a.jsonl"))[1] == ("D1",)


@pytest.fixture
def model_and_text(tmp_path: Path) -> tuple[Path, Path]:
    """A model of the types Cell and Gene, and a text in which it finds cells alone."""
    artifact.save(tiny.model(), tmp_path / "model")
    (tmp_path / "text.txt").write_text("The p53-mutant xvase cell of lot cells was an oxidase.")
    (tmp_path / "names.txt").write_text("D1||oxidase\n")
    return tmp_path / "model", tmp_path / "text.txt"


@pytest.mark.parametrize(
    ("type_", "told"),
    [
        ("", r"\nentities linked: [1-9]\d*, with no concept: \d+\n"),
        (
            ":Gene",
            r"\nnote: entities of types that the lexicon is not for \(Gene\): Cell (\d+)\n"
            r"entities linked: 0, with no concept: \1\n",
        ),
    ],
)
def test_tag_says_how_many_entities_were_linked(
    tmp_path: Path, model_and_text: tuple[Path, Path], type_: str, told: str
) -> None:
    call = ("tag", *model_and_text, "--out", tmp_path / "a.jsonl")
    done = run(*call, "--link", f"{tmp_path / 'names.txt'}{type_}")
    assert done.code == 0 and re.search(told, done.stderr), done.stderr


def test_tag_refuses_a_lexicon_for_other_types_than_those_of_the_model_before_it_tags(
    tmp_path: Path, model_and_text: tuple[Path, Path]
) -> None:
    call = ("tag", *model_and_text, "--out", tmp_path / "a.jsonl")
    done = run(*call, "--link", f"{tmp_path / 'names.txt'}:Gnee")
    assert "of other types (Gnee) than there are (Cell, Gene) (did you mean 'Gene'?); " in done.error
    assert "--link FILE:TYPE" in done.error
    assert done.code == 2 and not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "x.jsonl"), "nothing to link to"),
        ((), "give files to link and --out"),
    ],
)
def test_a_call_that_lacks_something_is_an_error(
    tagged: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in run("link", tagged, *arguments).error


def test_a_minimum_confidence_leaves_doubtful_ones_without(
    tmp_path: Path, lexicon: Path, tagged: Path
) -> None:
    run("link", tagged, "--lexicon", lexicon, "--out", tmp_path / "a.jsonl", "--minimum-confidence", "0.999")
    assert concepts(tmp_path / "a.jsonl")[1] == ()


def test_concepts_are_evaluated(tmp_path: Path, lexicon: Path, tagged: Path) -> None:
    gold = Document("1", TEXT, (Entity(0, 25, "Disease", concepts=("D2", "OMIM:114480")),))
    source = put(tmp_path / "gold", [gold])
    run("link", tagged, "--lexicon", lexicon, "--candidates", "--out", tmp_path / "a.jsonl")
    files = (source, tmp_path / "a.jsonl")
    plain = json.loads(run("evaluate", *files, "--concepts", "--json").stdout)["concepts"]
    assert plain["on_gold_mentions"]["accuracy"] == 0
    done = run("evaluate", *files, "--lexicon", lexicon, "--json")
    found = json.loads(done.stdout)["concepts"]
    assert found["on_gold_mentions"]["accuracy"] == found["on_gold_mentions"]["accuracy_at_5"] == 1
    assert "concepts of gold mentions" in run("evaluate", *files, "--lexicon", lexicon).stdout
