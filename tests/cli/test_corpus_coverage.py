from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from spanwright.cli.corpus_coverage import coverage_command
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.text import Document, Entity

app = typer.Typer()
app.command("coverage")(coverage_command)

TEXT = "Flu and grippe, treated with aspirin."
ENTITIES = (
    Entity(0, 3, "Disease", concepts=("D1",)),
    Entity(8, 14, "Disease", concepts=("D1",)),
    Entity(29, 36, "Chemical"),
)


def run(*arguments: str | Path) -> Result:
    # A wide terminal, so that no cell is folded.
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


def rows(output: str) -> list[list[str]]:
    """The cells of the rows of the printed table."""
    return [
        [cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if "│" in line
    ]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write([Document("1", TEXT, ENTITIES)], tmp_path / "corpus.jsonl")
    return tmp_path / "corpus.jsonl"


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "drugs.obo"
    path.write_text(
        '[Term]\nid: X:1\nname: aspirin\nsynonym: "aspirine" EXACT []\nsynonym: "pill" BROAD []\n',
        encoding="utf-8",
    )
    return path


def test_a_table_has_a_row_per_lexicon_for_each_type_and_for_all(corpus: Path, ontology: Path) -> None:
    result = run(corpus, "--lexicon", ontology, "--from-corpus", corpus)
    assert result.exit_code == 0
    assert rows(result.stdout) == [
        ["Chemical", "drugs.obo", "1", "1", "100.0", "1", "100.0", "1"],
        ["", "concepts of corpus.jsonl", "1", "0", "0.0", "1", "0.0", "-"],
        ["", "all together", "1", "1", "100.0", "1", "100.0", "1"],
        ["Disease", "drugs.obo", "2", "0", "0.0", "2", "0.0", "-"],
        ["", "concepts of corpus.jsonl", "2", "2", "100.0", "2", "100.0", "1"],
        ["", "all together", "2", "2", "100.0", "2", "100.0", "1"],
        ["all", "drugs.obo", "3", "1", "33.3", "3", "33.3", "1"],
        ["", "concepts of corpus.jsonl", "3", "2", "66.7", "3", "66.7", "1"],
        ["", "all together", "3", "3", "100.0", "3", "100.0", "1"],
    ]


def test_one_type_and_one_lexicon_are_one_row(tmp_path: Path, ontology: Path) -> None:
    write([Document("1", TEXT, ENTITIES[2:])], tmp_path / "drugs.jsonl")
    result = run(tmp_path / "drugs.jsonl", "--lexicon", ontology)
    assert rows(result.stdout) == [["all", "drugs.obo", "1", "1", "100.0", "1", "100.0", "1"]]


def test_json_holds_the_counts_by_lexicon(corpus: Path, ontology: Path) -> None:
    answer = json.loads(run(corpus, "--lexicon", ontology, "--json").stdout)
    assert list(answer) == ["drugs.obo"]
    assert answer["drugs.obo"]["terms"] == 1
    assert answer["drugs.obo"]["overall"]["mentions_covered"] == 1
    assert answer["drugs.obo"]["per_type"]["Disease"]["share"] == 0.0


def test_scopes_choose_the_synonyms_of_ontologies(corpus: Path, ontology: Path) -> None:
    result = run(corpus, "--lexicon", ontology, "--scope", "EXACT", "--scope", "BROAD", "--json")
    assert json.loads(result.stdout)["drugs.obo"]["overall"]["median_synonyms"] == 2


def test_a_scope_without_an_ontology_is_an_error(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "drugs.tsv").write_text("aspirin\tChemical\tX1\n", encoding="utf-8")
    result = run(corpus, "--lexicon", tmp_path / "drugs.tsv", "--scope", "EXACT")
    assert isinstance(result.exception, InputError)
    assert "--scope is for ontologies" in str(result.exception)


def test_no_lexicon_is_an_error(corpus: Path) -> None:
    result = run(corpus)
    assert isinstance(result.exception, InputError)
    assert "--lexicon FILE or --from-corpus FILE" in str(result.exception)


def test_lexicons_of_the_same_name_are_told_apart_by_their_paths(corpus: Path, ontology: Path) -> None:
    other = ontology.parent / "other" / ontology.name
    other.parent.mkdir()
    other.write_text("[Term]\nid: X:2\nname: pill\n", encoding="utf-8")
    answer = json.loads(run(corpus, "--lexicon", ontology, "--lexicon", other, "--json").stdout)
    assert list(answer) == [str(ontology), str(other), "all together"]


def test_what_was_noteworthy_in_reading_goes_to_stderr(corpus: Path, ontology: Path) -> None:
    with ontology.open("a", encoding="utf-8") as file:
        file.write("[Term]\nid: X:2\n")
    result = run(corpus, "--lexicon", ontology, "--json")
    assert "other scopes left out: BROAD 1" in result.stderr
    assert "drugs.obo:6: the term 'X:2' has no name" in result.stderr
    assert list(json.loads(result.stdout)) == ["drugs.obo"]


def test_strict_makes_a_problem_of_a_lexicon_an_error(corpus: Path, ontology: Path) -> None:
    ontology.write_text("[Term]\nid: X:2\n", encoding="utf-8")
    result = run(corpus, "--lexicon", ontology, "--strict")
    assert isinstance(result.exception, InputError)


def test_the_help_shows_an_example() -> None:
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert "spanwright corpus coverage dev.pubtator --lexicon doid.obo" in result.stdout
