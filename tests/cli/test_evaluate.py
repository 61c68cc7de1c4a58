from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from spanwright.cli.evaluate import evaluate_command
from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, write
from spanwright.text import Document, Entity

app = typer.Typer()
app.command("evaluate")(evaluate_command)

TEXT = "Aspirin and naloxone lower blood pressure in rats."
GOLD = (Entity(0, 7, "Chemical"), Entity(12, 20, "Chemical"), Entity(45, 49, "Species"))
PREDICTED = (Entity(0, 7, "Chemical"), Entity(27, 41, "Chemical"))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write([Document("1", TEXT, GOLD), Document("2", "Nothing here.")], tmp_path / "gold.jsonl")
    return tmp_path / "gold.jsonl"


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    write([Document("1", TEXT, PREDICTED), Document("2", "Nothing here.")], tmp_path / "predicted.jsonl")
    return tmp_path / "predicted.jsonl"


@pytest.fixture
def damaged(tmp_path: Path, gold: Path) -> Path:
    """The gold file with eight lines after it that are not JSON."""
    path = tmp_path / "damaged.jsonl"
    path.write_text(gold.read_text(encoding="utf-8") + '{"id": \n' * 8, encoding="utf-8")
    return path


def rows(output: str) -> dict[str, list[str]]:
    """The cells of each row of the printed table by its first cell."""
    lines = [line.replace("┃", "│").strip("│").split("│") for line in output.splitlines() if "│" in line]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_a_table_shows_each_type_and_the_averages(gold: Path, predicted: Path) -> None:
    result = run(gold, predicted)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert rows(result.stdout) == {
        "Chemical": ["50.0", "50.0", "50.0", "2", "2", "1"],
        "Species": ["0.0", "0.0", "0.0", "1", "0", "0"],
        "micro": ["50.0", "33.3", "40.0", "3", "2", "1"],
        "macro": ["25.0", "25.0", "25.0", "", "", ""],
    }


def test_json_holds_the_scores_and_what_was_lost_in_reading(gold: Path, predicted: Path) -> None:
    answer = json.loads(run(gold, predicted, "--json").stdout)
    assert answer["micro"]["f1"] == 0.4
    assert list(answer["per_type"]) == ["Chemical", "Species"]
    nothing = {"problems": 0, "documents_rejected": 0, "entities_rejected": 0}
    assert answer["reading"] == {"gold": nothing, "predicted": nothing}


def test_an_ignored_type_is_not_scored(gold: Path, predicted: Path) -> None:
    answer = json.loads(run(gold, predicted, "--ignore-type", "Species", "--json").stdout)
    assert list(answer["per_type"]) == ["Chemical"]


def test_several_types_can_be_ignored(gold: Path, predicted: Path) -> None:
    result = run(gold, predicted, "--ignore-type", "Species", "--ignore-type", "Chemical", "--json")
    assert json.loads(result.stdout)["per_type"] == {}


def test_notes_go_to_stderr_so_that_stdout_stays_json(gold: Path, tmp_path: Path) -> None:
    write([Document("1", TEXT, GOLD)], tmp_path / "short.jsonl")
    result = run(gold, tmp_path / "short.jsonl", "--json")
    assert result.stderr == "note: documents that the prediction lacks, all misses: 1 ('2')\n"
    assert json.loads(result.stdout)["missing_documents"] == ["2"]


def test_reading_problems_are_counted_and_the_first_few_shown(damaged: Path, predicted: Path) -> None:
    result = run(damaged, predicted)
    assert result.exit_code == 0
    assert result.stderr.startswith("8 problems in reading; left out: 8 documents, 0 entities\n")
    assert result.stderr.count(f"{damaged}:") == 5
    assert result.stderr.endswith("... and 3 more\n")
    assert rows(result.stdout)["micro"] == ["50.0", "33.3", "40.0", "3", "2", "1"]


def test_json_counts_reading_problems(damaged: Path, predicted: Path) -> None:
    answer = json.loads(run(predicted, damaged, "--json").stdout)
    assert answer["reading"]["gold"]["problems"] == 0
    assert answer["reading"]["predicted"]["documents_rejected"] == 8


@pytest.mark.parametrize("side", ["gold", "predicted"])
def test_strict_makes_a_reading_problem_an_error(damaged: Path, predicted: Path, side: str) -> None:
    files = (damaged, predicted) if side == "gold" else (predicted, damaged)
    result = run(*files, "--strict")
    assert isinstance(result.exception, InputError)
    assert f"{damaged}:3" in str(result.exception)


@pytest.mark.parametrize(
    ("option", "side"),
    [("--format-gold", "gold begins with"), ("--format-predicted", "the prediction with")],
)
def test_a_file_is_read_in_the_format_named_for_its_side(gold: Path, option: str, side: str) -> None:
    result = run(gold, gold, option, "text")
    assert isinstance(result.exception, InputError)
    # As plain text, the text of the file is its JSON.
    assert re.search(rf"{side} '[^']+', '\{{\"id", str(result.exception))


def test_files_of_different_formats_can_be_compared(gold: Path, tmp_path: Path) -> None:
    documents = [Document("1", TEXT, PREDICTED), Document("2", "Nothing here.")]
    write(documents, tmp_path / "predicted.conll", format="conll")
    result = run(gold, tmp_path / "predicted.conll", "--json")
    assert json.loads(result.stdout)["micro"]["true_positives"] == 1
    assert "compared without counting white space" in result.stderr


def test_a_missing_file_is_an_input_error(gold: Path, tmp_path: Path) -> None:
    result = run(gold, tmp_path / "absent.jsonl")
    assert isinstance(result.exception, InputError)
    assert "absent.jsonl: no such file" in str(result.exception)


def test_the_help_shows_an_example_and_the_formats() -> None:
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert "spanwright evaluate test.pubtator predicted.jsonl" in result.stdout
    assert ", ".join(FORMATS) in result.stdout
