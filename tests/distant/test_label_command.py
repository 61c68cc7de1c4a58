from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from spanwright.cli.corpus_label import label_command
from spanwright.errors import InputError
from spanwright.formats.files import read, write
from spanwright.text import Document, Entity

app = typer.Typer()
app.command("label")(label_command)

OPEN_FILES = Path("/proc/self/fd")
TEXT = "Aspirin lowers pain. X-linked pain syndrome and lead poisoning need no ASPIRIN."


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    write([Document("1", TEXT, (Entity(0, 3, "Old"),)), Document("2", "Nothing.")], path)
    return path


@pytest.fixture
def drugs(tmp_path: Path) -> Path:
    path = tmp_path / "drugs.tsv"
    path.write_text("surface\ttype\tconcept\naspirin\tChemical\tC1\nlead\tChemical\tC2\npain\tDisease\tD1\n")
    return path


@pytest.fixture
def phrases(tmp_path: Path) -> Path:
    path = tmp_path / "phrases.txt"
    path.write_text("X - linked pain syndrome\nlead poisoning\n")
    return path


def found(path: Path) -> list[tuple[str, str]]:
    """Mentions and types of a labelled file."""
    return [
        (document.mention(entity), entity.type)
        for document in read(path).documents
        for entity in document.entities
    ]


def test_labels_are_written_in_place_of_the_entities(texts: Path, drugs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run(texts, "--lexicon", drugs, "--out", out)
    assert result.exit_code == 0, result.output
    assert found(out) == [
        ("Aspirin", "Chemical"),
        ("pain", "Disease"),
        ("pain", "Disease"),
        ("lead", "Chemical"),
        ("ASPIRIN", "Chemical"),
    ]
    assert result.stdout == f"{out}: 2 documents, 5 entities (Chemical 3, Disease 2); 0 losses\n"
    assert "entities of the texts that were replaced: 1" in result.stderr


def test_terms_of_an_ontology_have_the_type_given_or_else_their_namespace(
    texts: Path, tmp_path: Path
) -> None:
    ontology, out = tmp_path / "drugs.obo", tmp_path / "out.jsonl"
    ontology.write_text("format-version: 1.2\ndefault-namespace: drug\n\n[Term]\nid: X:1\nname: aspirin\n")
    for argument, type_ in ((ontology, "drug"), (f"{ontology}:Chemical", "Chemical")):
        assert run(texts, "--lexicon", argument, "--out", out).exit_code == 0
        assert found(out) == [("Aspirin", type_), ("ASPIRIN", type_)]


def test_concepts_and_provenance_are_written(texts: Path, drugs: Path, phrases: Path, tmp_path: Path) -> None:
    run(texts, "--lexicon", drugs, "--unknown", phrases, "--out", tmp_path / "out.jsonl")
    document = read(tmp_path / "out.jsonl").documents[0]
    assert [entity.concepts for entity in document.entities] == [("C1",), ("D1",), ("C1",)]
    assert document.annotation_notes["distant_labels"]["lexicons"] == ["drugs.tsv", "phrases.txt"]


def test_phrases_of_unknown_type_suppress_what_is_in_them(
    texts: Path, drugs: Path, phrases: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    run(texts, "--lexicon", drugs, "--unknown", phrases, "--out", out)
    assert found(out) == [("Aspirin", "Chemical"), ("pain", "Disease"), ("ASPIRIN", "Chemical")]


def test_types_of_an_unknown_file_are_not_used(
    texts: Path, drugs: Path, phrases: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    run(texts, "--lexicon", f"{phrases}:Disease", "--unknown", drugs, "--out", out)
    assert {type_ for _, type_ in found(out)} == {"Disease"}


def test_a_type_can_be_given_to_a_lexicon_and_files_can_be_joined(
    texts: Path, drugs: Path, phrases: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    run(texts, "--lexicon", drugs, "--lexicon", f"{phrases}:Disease", "--out", out)
    assert ("X-linked pain syndrome", "Disease") in found(out)
    assert ("lead poisoning", "Disease") in found(out)


def test_a_colon_in_a_file_name_is_no_type(texts: Path, drugs: Path, tmp_path: Path) -> None:
    odd = drugs.rename(tmp_path / "drugs:new.tsv")
    run(texts, "--lexicon", odd, "--out", tmp_path / "out.jsonl")
    assert len(found(tmp_path / "out.jsonl")) == 5


def test_a_lexicon_without_types_is_an_error_that_tells_what_to_do(
    texts: Path, phrases: Path, tmp_path: Path
) -> None:
    result = run(texts, "--lexicon", phrases, "--out", tmp_path / "out.jsonl")
    assert isinstance(result.exception, InputError)
    assert f"--lexicon {phrases}:Disease" in str(result.exception)
    assert "--unknown" in str(result.exception)


@pytest.mark.parametrize("argument", ["absent.txt", "absent.txt:Disease"])
def test_an_absent_lexicon_is_an_error(texts: Path, tmp_path: Path, argument: str) -> None:
    result = run(texts, "--lexicon", tmp_path / argument, "--out", tmp_path / "out.jsonl")
    assert isinstance(result.exception, InputError)
    assert "absent.txt: no such file" in str(result.exception)


def test_an_empty_type_is_an_error(texts: Path, drugs: Path, tmp_path: Path) -> None:
    result = run(texts, "--lexicon", f"{drugs}:", "--out", tmp_path / "out.jsonl")
    assert isinstance(result.exception, InputError)
    assert "expected FILE or FILE:TYPE" in str(result.exception)


def test_terms_without_a_type_in_a_typed_lexicon_are_told(texts: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.tsv"
    mixed.write_text("aspirin\tChemical\nlead\n")
    result = run(texts, "--lexicon", mixed, "--out", tmp_path / "out.jsonl")
    assert "1 terms without a type are used as with --unknown" in result.stderr
    assert {mention.lower() for mention, _ in found(tmp_path / "out.jsonl")} == {"aspirin"}


def test_the_case_policy_is_used(texts: Path, drugs: Path, tmp_path: Path) -> None:
    run(texts, "--lexicon", drugs, "--out", tmp_path / "out.jsonl", "--case", "exact")
    assert "aspirin" not in {mention.lower() for mention, _ in found(tmp_path / "out.jsonl")}


def test_the_policy_for_ambiguous_names_is_used(texts: Path, drugs: Path, tmp_path: Path) -> None:
    arguments = [texts, "--lexicon", drugs, "--lexicon", f"{drugs}:Other", "--out", tmp_path / "out.jsonl"]
    run(*arguments)
    assert found(tmp_path / "out.jsonl") == []
    run(*arguments, "--ambiguous", "first")
    assert {type_ for _, type_ in found(tmp_path / "out.jsonl")} == {"Chemical", "Disease"}
    run(*arguments, "--ambiguous", "all")
    assert {type_ for _, type_ in found(tmp_path / "out.jsonl")} == {"Chemical", "Disease", "Other"}


def test_blocked_and_short_names_are_left_out_and_told(texts: Path, drugs: Path, tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("Lead\n")
    arguments = ["--block", tmp_path / "blocked.txt", "--minimum-length", "5"]
    result = run(texts, "--lexicon", drugs, "--out", tmp_path / "out.jsonl", *arguments)
    assert {mention.lower() for mention, _ in found(tmp_path / "out.jsonl")} == {"aspirin"}
    assert "1 distinct names to look for; left out: too short 2" in result.stderr
    result = run(texts, "--lexicon", drugs, "--out", tmp_path / "out.jsonl", *arguments[:2])
    assert "left out: blocked 1" in result.stderr


def test_scores_against_gold_are_printed_per_type(texts: Path, drugs: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    entities = (Entity(0, 7, "Chemical"), Entity(71, 78, "Chemical"), Entity(21, 43, "Disease"))
    write([Document("1", TEXT, entities), Document("2", "Nothing.")], gold)
    result = run(texts, "--lexicon", drugs, "--out", tmp_path / "out.jsonl", "--gold", gold)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines()]
    assert ["Chemical", "66.7", "100.0", "80.0", "2", "3", "2"] in rows
    assert ["Disease", "0.0", "0.0", "0.0", "1", "2", "0"] in rows


def test_any_format_can_be_written(texts: Path, drugs: Path, tmp_path: Path) -> None:
    run(texts, "--lexicon", drugs, "--out", tmp_path / "out.conll", "--lossy")
    assert ("pain", "Disease") in found(tmp_path / "out.conll")
    run(texts, "--lexicon", drugs, "--out", tmp_path / "folder", "--to", "brat")
    assert ("pain", "Disease") in found(tmp_path / "folder")


def test_what_a_format_cannot_express_is_an_error_unless_it_may_be_left_out(
    texts: Path, drugs: Path, tmp_path: Path
) -> None:
    arguments = ["--lexicon", drugs, "--lexicon", f"{drugs}:Other", "--ambiguous", "all"]
    result = run(texts, *arguments, "--out", tmp_path / "out.conll")
    assert isinstance(result.exception, InputError)
    result = run(texts, *arguments, "--out", tmp_path / "out.conll", "--lossy")
    assert "; 17 losses (5 entities, 10 concepts, 2 notes)" in result.stdout


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="open files are read from /proc/self/fd")
def test_a_failure_leaves_no_file_open(texts: Path, drugs: Path, tmp_path: Path) -> None:
    arguments = ["--lexicon", drugs, "--lexicon", f"{drugs}:Other", "--ambiguous", "all"]
    result = run(texts, *arguments, "--out", tmp_path / "out.conll")
    # The error is remembered here, and with it whatever the command was doing.
    assert result.exception is not None
    assert texts not in [file.readlink() for file in OPEN_FILES.iterdir() if file.is_symlink()]


def test_an_output_format_that_cannot_be_told_stops_before_the_work(
    texts: Path, drugs: Path, tmp_path: Path
) -> None:
    result = run(texts, "--lexicon", drugs, "--out", tmp_path / "out.unknown")
    assert isinstance(result.exception, InputError)
    assert result.stderr == ""


def test_texts_are_labelled_as_a_stream(drugs: Path, tmp_path: Path) -> None:
    """The memory does not grow with the number of documents."""
    # A long word, because the tracing of memory takes its time with many.
    text = f"{TEXT} {'x' * 20_000}"
    write((Document(str(number), text) for number in range(200)), tmp_path / "many.jsonl")
    assert (tmp_path / "many.jsonl").stat().st_size > 4_000_000
    tracemalloc.start()
    try:
        result = run(tmp_path / "many.jsonl", "--lexicon", drugs, "--out", tmp_path / "out.jsonl")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "200 documents" in result.stdout
    assert peak < 2_500_000


def test_ids_that_repeat_over_inputs_get_a_number(drugs: Path, tmp_path: Path) -> None:
    folders = [tmp_path / "p1", tmp_path / "p2"]
    for folder in folders:
        folder.mkdir()
        (folder / "abstract.txt").write_text(f"aspirin in {folder.name}")
    out = tmp_path / "out.jsonl"
    assert run(*folders, "--lexicon", drugs, "--out", out).exit_code == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["abstract", "abstract#2"]
