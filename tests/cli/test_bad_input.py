from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.formats.files import FORMATS, write
from spanwright.recipes import recipe_names
from spanwright.text import Document
from spanwright.training import loop
from spanwright.training.checkpoint import CheckpointError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with good corpora, a good model, and much that is bad."""
    made = tmp_path_factory.mktemp("inputs")
    write(making.documents(4), made / "train.jsonl")
    write(making.documents(2, prefix="dev"), made / "dev.jsonl")
    write([Document("1", "no entity"), Document("2", "none either")], made / "bare.jsonl")
    (made / "empty.jsonl").write_text("")
    (made / "strange.bin").write_bytes(bytes(range(256)))
    (made / "broken.toml").write_text("name = \n")
    (made / "no-files").mkdir()
    artifact.save(tiny.model(), made / "model")
    return made


def refusal(*arguments: object) -> str:
    """The error line of a call that must end with exit code 2 and no other word of complaint."""
    outcome = run(*arguments)
    assert outcome.code == 2, outcome.stderr
    assert outcome.stdout == ""
    # How far tagging had come may stand before it.
    assert outcome.stderr.count("\n") <= (2 if "0 documents" in outcome.stderr else 1), outcome.stderr
    return outcome.error


def train_refusal(folder: Path, *arguments: object, recipe: str = "plain", **files: str) -> str:
    train, dev = files.get("train", "train.jsonl"), files.get("dev", "dev.jsonl")
    out = folder / "run"
    error = refusal(
        "train", recipe, "--train", folder / train, "--dev", folder / dev, "--out", out, *arguments
    )
    assert not out.exists()
    return error


@pytest.mark.parametrize("side", ["train", "dev"])
def test_training_on_a_missing_file(folder: Path, side: str) -> None:
    error = train_refusal(folder, **{side: "absent.jsonl"})
    assert error == f"error: {folder / 'absent.jsonl'}: no such file or folder"


def test_training_on_a_file_of_an_unknown_format(folder: Path) -> None:
    error = train_refusal(folder, train="strange.bin")
    assert f"{folder / 'strange.bin'}: the format was not recognised" in error
    assert ", ".join(FORMATS) in error


def test_training_on_a_format_that_does_not_exist(folder: Path) -> None:
    error = train_refusal(folder, "--format", "conl")
    assert f"unknown format 'conl' (did you mean 'conll'?); expected {', '.join(FORMATS)}" in error


def test_training_an_unknown_recipe(folder: Path) -> None:
    error = train_refusal(folder, recipe="plian")
    assert (
        f"unknown recipe 'plian' (did you mean 'plain'?); expected {', '.join(recipe_names())}, or the path"
        in error
    )


def test_training_a_recipe_file_that_is_not_there(folder: Path) -> None:
    assert train_refusal(folder, recipe="absent.toml") == "error: absent.toml: no such recipe file"


def test_training_a_recipe_file_that_is_broken(folder: Path) -> None:
    assert "broken.toml: not valid TOML" in train_refusal(folder, recipe=str(folder / "broken.toml"))


def test_training_with_a_misspelt_setting(folder: Path) -> None:
    error = train_refusal(folder, "--set", "training.epoch=3")
    assert "'training.epoch' (did you mean 'training.epochs'?); expected accumulate, batch_pieces," in error
    assert "epochs" in error


def test_training_with_a_setting_out_of_range(folder: Path) -> None:
    error = train_refusal(folder, "--set", "training.epochs=0")
    assert "setting 'training.epochs' is 0: expected at least 1" in error


def test_training_with_a_setting_without_a_value(folder: Path) -> None:
    assert "expected key=value" in train_refusal(folder, "--set", "training.epochs")


def test_training_with_an_encoder_that_is_not_there(folder: Path) -> None:
    error = train_refusal(folder, "--encoder", str(folder / "no-files"))
    assert f"encoder '{folder / 'no-files'}' cannot be loaded" in error
    assert "Expected one of minilm, gte-small, e5-small, mpnet-base, a folder" in error


def test_training_with_windows_too_small_for_the_spans(folder: Path, tiny_encoder: str) -> None:
    changes = ("--set", "candidates.width_limit=40", "--set", "windows.pieces=64")
    error = train_refusal(folder, "--encoder", tiny_encoder, *changes)
    assert "spans of 40 words do not fit windows of 62 pieces; expected widths up to 31 words" in error


@pytest.mark.parametrize(("side", "name"), [("train", "training"), ("dev", "dev")])
def test_training_on_an_empty_corpus(folder: Path, side: str, name: str) -> None:
    error = train_refusal(folder, **{side: "empty.jsonl"})
    assert error == f"error: the {name} corpus is empty: no document could be read"


def test_training_on_a_corpus_without_entities(folder: Path) -> None:
    error = train_refusal(folder, train="bare.jsonl")
    assert "the training corpus has no entity in its 2 documents" in error


def test_training_on_the_dev_file(folder: Path) -> None:
    error = train_refusal(folder, train="dev.jsonl")
    assert "every training document also stands in the evaluation data" in error


def test_resuming_where_there_is_no_run(folder: Path) -> None:
    assert "there is no run to resume" in train_refusal(folder, "--resume")


@pytest.mark.parametrize("name", ["absent", "no-files", "train.jsonl"])
def test_tagging_with_something_that_is_no_model(folder: Path, name: str) -> None:
    error = refusal("tag", folder / name, folder / "dev.jsonl")
    assert error.startswith(f"error: {folder / name}: ")
    assert "model directory" in error


def test_tagging_a_missing_file(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "absent.txt")
    assert error == f"error: {folder / 'absent.txt'}: no such file or folder"


def test_tagging_what_no_file_matches(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "*.xyz")
    assert error == f"error: {folder / '*.xyz'}: no file matches"


def test_tagging_a_folder_without_files(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "no-files")
    assert error == f"error: {folder / 'no-files'}: the folder has no file"


def test_tagging_a_file_of_an_unknown_format(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "strange.bin")
    assert "the format was not recognised" in error


def test_tagging_to_an_ending_that_tells_no_format(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "dev.jsonl", "--out", folder / "out.xyz")
    assert "the ending does not say which format it is; expected" in error
    assert not (folder / "out.xyz").exists()


def test_tagging_to_a_stream_in_a_format_of_folders(folder: Path) -> None:
    error = refusal("tag", folder / "model", folder / "dev.jsonl", "--format", "brat")
    assert "the format 'brat' is a folder" in error


def test_evaluating_a_missing_file(folder: Path) -> None:
    error = refusal("evaluate", folder / "dev.jsonl", folder / "absent.jsonl")
    assert error == f"error: {folder / 'absent.jsonl'}: no such file or folder"


def test_printing_an_unknown_recipe() -> None:
    assert "unknown recipe 'plian'" in refusal("recipes", "plian")


@pytest.mark.parametrize("arguments", [["train"], ["tag"], ["trian"], ["tag", "--no-such-option"]])
def test_a_call_that_cannot_be_understood_ends_with_exit_code_two(arguments: list[str]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "Traceback" not in outcome.stderr and outcome.stderr


@pytest.mark.parametrize(
    "failure",
    [
        CheckpointError("checkpoints/step-000000002: the checkpoint could not be written"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    ],
    ids=["a checkpoint", "a file"],
)
def test_work_that_fails_ends_with_exit_code_one_and_one_line(
    folder: Path, tiny_encoder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: Exception
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(loop, "save_checkpoint", fail)
    data = ("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--encoder", tiny_encoder)
    outcome = run("train", "plain", *data, "--out", tmp_path / "run", "--set", "training.epochs=1")
    assert outcome.code == 1
    assert outcome.error == f"error: {failure}"


def test_a_training_that_diverges_ends_with_exit_code_one(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    data = ("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--encoder", tiny_encoder)
    excessive = (
        "--set",
        "optimiser.learning_rates={encoder=1e6, head=1e6}",
        "--set",
        "training.batch_windows=1",
    )
    outcome = run("train", "plain", *data, "--out", tmp_path / "run", *excessive)
    assert outcome.code == 1
    assert outcome.error.startswith("error: the training diverged at step ")
    assert not (tmp_path / "run" / "scores.json").exists()


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path, tiny_encoder: str) -> None:
    data = ("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--encoder", tiny_encoder)
    outcome = run("train", "plain", *data, "--out", folder / "train.jsonl" / "run")
    assert outcome.code == 1
    assert "Not a directory" in outcome.error
