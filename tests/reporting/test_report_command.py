from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from report_making import damaged, data_of
from typer.testing import CliRunner

import making
import spanwright
from spanwright.cli.main import app
from spanwright.errors import InputError
from spanwright.evaluation import evaluate
from spanwright.formats.files import write

GOLD = making.documents(12, prefix="test", flat=True)
PREDICTED = damaged(GOLD, seed=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with gold and training documents and the predictions of two tools in two formats."""
    write(GOLD, tmp_path / "gold.jsonl")
    write(making.documents(20), tmp_path / "train.jsonl")
    write(PREDICTED, tmp_path / "mine.jsonl")
    write(damaged(GOLD, seed=2), tmp_path / "theirs.pubtator", lossy=True)
    return tmp_path


@pytest.fixture(scope="module")
def run_folder(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a tiny encoder."""
    out = tmp_path_factory.mktemp("runs") / "tiny"
    settings = making.settings(tiny_encoder, "training.epochs=1", "training.seed=2")
    spanwright.train(settings, train=making.documents(80), dev=making.documents(6, prefix="dev"), out=out)
    return out


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def made(folder: Path, *arguments: object) -> str:
    """The page that a call makes."""
    result = run(*arguments, "--gold", folder / "gold.jsonl", "--out", folder / "page.html")
    assert result.exit_code == 0, result.output
    return (folder / "page.html").read_text(encoding="utf-8")


def refused(folder: Path, *arguments: object) -> str:
    """The message of a call that is an error of the input."""
    result = run(*arguments, "--gold", folder / "gold.jsonl", "--out", folder / "page.html")
    assert isinstance(result.exception, InputError)
    assert not (folder / "page.html").exists()
    return str(result.exception)


def test_two_files_of_predictions_are_compared_without_torch(folder: Path) -> None:
    code = (
        "import sys\n"
        "from spanwright.cli.main import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "assert not {'torch', 'transformers', 'matplotlib'} & set(sys.modules)\n"
    )
    files = ("mine.jsonl", "theirs.pubtator", "--gold", "gold.jsonl", "--train", "train.jsonl")
    subprocess.run(
        [sys.executable, "-c", code, "report", *files],
        cwd=folder,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(spanwright.__file__).parent.parent)},
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert [system["name"] for system in data_of(page)["systems"]] == ["mine", "theirs"]
    assert f"{100 * evaluate(GOLD, PREDICTED).micro.f1:.1f}" in page
    assert 'aria-label="F1 by mention"' in page


def test_a_run_folder_brings_its_model_its_curves_and_its_settings(folder: Path, run_folder: Path) -> None:
    page = made(folder, run_folder, folder / "mine.jsonl")
    tagged = list(spanwright.load(run_folder / "model").tag(GOLD))
    assert f"{100 * evaluate(GOLD, tagged).micro.f1:.1f}" in page
    assert 'aria-label="F1 on dev by epoch"' in page
    assert 'aria-label="loss of A by step"' in page
    assert "<bdi>plain</bdi>" in page
    assert [system["name"] for system in data_of(page)["systems"]] == ["tiny", "mine"]


def test_a_model_folder_is_a_system_without_curves(folder: Path, run_folder: Path) -> None:
    page = made(folder, run_folder / "model")
    assert 'id="training"' not in page
    assert 'aria-label="reliability diagram of A"' in page


def test_systems_are_called_as_asked(folder: Path) -> None:
    page = made(folder, folder / "mine.jsonl", folder / "theirs.pubtator", "--name", "one", "--name", "two")
    assert [system["name"] for system in data_of(page)["systems"]] == ["one", "two"]


def test_files_of_the_same_name_are_called_with_their_folders(folder: Path) -> None:
    write(PREDICTED, folder / "other" / "mine.jsonl")
    page = made(folder, folder / "mine.jsonl", folder / "other" / "mine.jsonl")
    assert [system["name"] for system in data_of(page)["systems"]] == [
        f"{folder.name}/mine.jsonl",
        "other/mine.jsonl",
    ]


def test_local_paths_are_told_on_request_only(folder: Path) -> None:
    assert str(folder) not in made(folder, folder / "mine.jsonl")
    assert f"<bdi>{folder / 'gold.jsonl'}</bdi>" in made(folder, folder / "mine.jsonl", "--paths")


def test_what_could_not_be_read_is_told_on_the_page(folder: Path) -> None:
    with (folder / "mine.jsonl").open("a") as file:
        file.write("broken\n")
    page = made(folder, folder / "mine.jsonl")
    assert "predictions: 1 document and 0 entities could not be read" in page


def test_files_are_listed_with_the_begin_of_their_digest(folder: Path) -> None:
    page = made(folder, folder / "mine.jsonl")
    done = subprocess.run(["sha256sum", folder / "gold.jsonl"], capture_output=True, text=True, check=True)
    assert f"<code>{done.stdout[:16]}</code>" in page


def test_another_number_of_names_than_systems_is_refused(folder: Path) -> None:
    assert "found 1 name for 2 systems" in refused(
        folder, folder / "mine.jsonl", folder / "theirs.pubtator", "--name", "one"
    )
    assert "found 2 names for 1 system;" in refused(
        folder, folder / "mine.jsonl", "--name", "one", "--name", "two"
    )


def test_a_run_without_a_model_is_refused(folder: Path) -> None:
    (folder / "begun").mkdir()
    (folder / "begun" / "journal.jsonl").touch()
    assert "this run has no model yet" in refused(folder, folder / "begun")


def test_a_journal_that_was_cut_off_is_refused_with_the_fix(folder: Path, run_folder: Path) -> None:
    cut = folder / "cut"
    cut.mkdir()
    (cut / "model").symlink_to(run_folder / "model")
    (cut / "journal.jsonl").write_text('{"event": "st')
    assert "journal.jsonl: not valid JSON" in refused(folder, cut)


def test_a_file_that_is_not_there_is_refused(folder: Path) -> None:
    assert "no such file" in refused(folder, folder / "absent.jsonl")


def test_predictions_for_other_documents_are_refused(folder: Path) -> None:
    write(making.documents(3, prefix="elsewhere"), folder / "wrong.jsonl")
    assert "no document is in both gold and prediction" in refused(folder, folder / "wrong.jsonl")


def test_the_facts_of_a_run_are_those_of_its_settings(folder: Path, run_folder: Path) -> None:
    stored = json.loads((run_folder / "settings.json").read_text())
    page = made(folder, run_folder)
    assert f"<bdi>{stored['settings']['encoder']['name']}</bdi>" in page
    assert f"torch {stored['versions']['torch']}" in page
