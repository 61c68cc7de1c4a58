from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from spanwright.cli.corpus_map import map_command
from spanwright.cli.corpus_overlap import overlap_command
from spanwright.corpora.label_map import load_map
from spanwright.errors import InputError
from spanwright.formats.files import read, write
from spanwright.text import Document, Entity

app = typer.Typer()
app.command("overlap")(overlap_command)
app.command("map")(map_command)

GENES = ("abra", "bricol", "cradin", "dorsan", "elmol", "fintal", "gorbal", "hestil")


def run(*arguments: str | Path) -> Result:
    # A wide terminal, so that no cell is folded.
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


def sentences(type_: str, end: str, *, named: str) -> list[Document]:
    """A sentence for each gene, which is marked with a type."""
    return [
        Document(f"{named}{number}", f"{gene} {end}", (Entity(0, len(gene), type_),))
        for number, gene in enumerate(GENES)
    ]


@pytest.fixture
def a(tmp_path: Path) -> Path:
    documents = [*sentences("FamilyName", "was lost.", named="a"), *sentences("Tool", "broke.", named="t")]
    documents[8] = Document("t0", "A hammer broke.", (Entity(2, 8, "Tool"),))
    write(documents[:9], tmp_path / "mine.jsonl")
    return tmp_path / "mine.jsonl"


@pytest.fixture
def b(tmp_path: Path) -> Path:
    write(sentences("Gene", "is a gene.", named="b"), tmp_path / "theirs.jsonl")
    return tmp_path / "theirs.jsonl"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Two documents of A, with other ids and other white space, and one with the id of another."""
    documents = [
        Document("x", "Abra  was lost ."),
        Document("y", "bricol was\nlost."),
        Document("a5", "Something else."),
    ]
    write(documents, tmp_path / "copies.jsonl")
    return tmp_path / "copies.jsonl"


def test_overlap_has_a_row_per_corpus_and_one_for_all(a: Path, b: Path, copies: Path) -> None:
    result = run("overlap", a, b, copies)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["A:", "mine.jsonl,", "9", "documents"] in lines
    assert ["theirs.jsonl", "8", "0", "0", "0", "0", "0", "0", "88.9%", "100.0%"] in lines
    assert ["copies.jsonl", "3", "2", "0", "2", "0", "0", "1", "0.0%", "0.0%"] in lines
    assert ["any", "of", "them", "2"] in lines


def test_overlap_can_list_pairs_with_their_reasons(a: Path, copies: Path) -> None:
    listed = run("overlap", a, copies, "--list").stdout.splitlines()[-3:]
    assert listed == [
        "a0 = x of copies.jsonl: text (100% alike)",
        "a1 = y of copies.jsonl: text (100% alike)",
        "a5 and a5 of copies.jsonl: the same id, but other texts (0% alike)",
    ]


def test_overlap_as_json_has_counts_and_pairs(a: Path, b: Path, copies: Path) -> None:
    answer = json.loads(run("overlap", a, b, copies, "--json").stdout)
    assert answer["shared_a_in_any"] == 2
    theirs, copied = answer["comparisons"]
    assert (theirs["b"], theirs["shared_a"], theirs["mentions_a_in_b"]["mentions_seen"]) == (str(b), 0, 8)
    assert [pair["a"] for pair in copied["pairs"]] == ["a0", "a1"]
    assert [pair["a"] for pair in copied["namesakes"]] == ["a5"]
    assert copied["namesakes_a"] == 1


def test_a_document_found_in_two_corpora_counts_once(a: Path, copies: Path) -> None:
    assert json.loads(run("overlap", a, copies, copies, "--json").stdout)["shared_a_in_any"] == 2


def test_suggestions_are_shown_as_a_table(a: Path, b: Path) -> None:
    result = run("map", a, b, "--suggest")
    assert result.exit_code == 0
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in result.stdout.splitlines()
        if "│" in line
    ]
    assert [row[:2] for row in rows if row[0]] == [["FamilyName", "Gene"], ["Tool", "none"]]
    assert "names found in other texts: 100% Gene of 8" in rows[0][3]


def test_suggestions_can_be_had_as_json(a: Path, b: Path) -> None:
    answer = json.loads(run("map", a, b, "--suggest", "--json").stdout)
    assert [(found["type"], found["target"]) for found in answer] == [("FamilyName", "Gene"), ("Tool", None)]
    assert 0.5 <= answer[0]["confidence"] <= 1


def test_a_suggested_map_is_written_with_its_evidence_and_can_be_applied(
    a: Path, b: Path, tmp_path: Path
) -> None:
    assert run("map", a, b, "--suggest", "--out", tmp_path / "map.toml").exit_code == 0
    text = (tmp_path / "map.toml").read_text(encoding="utf-8")
    assert text.index("# - names found in other texts") < text.index('FamilyName = "Gene"')
    assert load_map(tmp_path / "map.toml").corpora == {"mine": {"FamilyName": "Gene", "Tool": None}}
    result = run("map", a, "--map", tmp_path / "map.toml", "--out", tmp_path / "mapped.jsonl")
    assert result.stdout.strip().endswith("9 documents; of 9 entities 8 are kept as Gene 8")
    mapped = read(tmp_path / "mapped.jsonl").documents
    assert [entity.type for document in mapped for entity in document.entities] == ["Gene"] * 8
    assert [document.text for document in mapped] == [document.text for document in read(a).documents]


def test_the_name_of_the_corpus_in_the_map_can_be_chosen(a: Path, b: Path, tmp_path: Path) -> None:
    run("map", a, b, "--suggest", "--corpus", "ours", "--out", tmp_path / "map.toml")
    assert list(load_map(tmp_path / "map.toml").corpora) == ["ours"]


def test_a_shipped_map_is_applied_by_name(tmp_path: Path) -> None:
    write([Document("1", "p53 family", (Entity(0, 10, "FamilyName"),))], tmp_path / "nlm.jsonl")
    out = tmp_path / "mapped.conll"
    result = run("map", tmp_path / "nlm.jsonl", "--map", "cvae-ner", "--corpus", "NLMGene", "--out", out)
    assert result.exit_code == 0
    assert read(out).documents[0].entities[0].type == "Gene"


def test_what_the_output_format_cannot_express_is_an_error_unless_it_may_be_left_out(tmp_path: Path) -> None:
    nested = (Entity(0, 10, "FamilyName"), Entity(0, 3, "Gene"))
    write([Document("1", "p53 family", nested)], tmp_path / "nlm.jsonl")
    arguments = ("map", tmp_path / "nlm.jsonl", "--map", "cvae-ner", "--corpus", "NLMGene")
    out = ("--out", tmp_path / "mapped.tags", "--to", "conll")
    assert isinstance(run(*arguments, *out).exception, InputError)
    allowed = run(*arguments, *out, "--lossy")
    assert allowed.exit_code == 0
    assert "left out: " in allowed.stderr


def test_types_that_the_map_does_not_list_are_named_with_their_number(a: Path, tmp_path: Path) -> None:
    out = tmp_path / "mapped.jsonl"
    result = run("map", a, "--map", "cvae-ner", "--corpus", "NLMGene", "--out", out)
    assert isinstance(result.exception, InputError)
    assert "does not list these types of the corpus: Tool (1)" in str(result.exception)
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("{a}",),
        ("{a}", "{b}"),
        ("{a}", "--suggest"),
        ("{a}", "{b}", "--map", "cvae-ner"),
        ("{a}", "{b}", "--suggest", "--map", "cvae-ner"),
    ],
)
def test_half_a_call_is_an_error_that_shows_the_legal_ones(
    a: Path, b: Path, arguments: tuple[str, ...]
) -> None:
    result = run("map", *(argument.format(a=a, b=b) for argument in arguments))
    assert isinstance(result.exception, InputError)
    assert "expected A B --suggest [--out MAP.toml], or A --map MAP --out FILE" in str(result.exception)


def test_a_mapped_corpus_needs_a_place(a: Path) -> None:
    result = run("map", a, "--map", "cvae-ner")
    assert isinstance(result.exception, InputError)
    assert "--out FILE" in str(result.exception)


@pytest.mark.parametrize("command", ["overlap", "map"])
def test_the_help_shows_an_example(command: str) -> None:
    assert f"spanwright corpus {command}" in run(command, "--help").stdout
