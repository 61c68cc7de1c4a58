"""`spanwright distill` as a user runs it, with a tiny teacher and a folder of texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Outcome, run

import making
import spanwright
from spanwright.formats.files import read, write

SMALL = (*making.SMALL, "training.epochs=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Path:
    """A folder with train and dev files, texts and the run of a teacher."""
    made = tmp_path_factory.mktemp("distill")
    write(making.documents(30), made / "train.jsonl")
    write(making.documents(6, prefix="dev"), made / "dev.jsonl")
    (made / "texts").mkdir()
    for document in making.documents(4, prefix="raw"):
        (made / "texts" / f"{document.id}.txt").write_text(document.text)
    settings = making.settings(tiny_encoder, "training.epochs=3")
    spanwright.train(settings, train=made / "train.jsonl", dev=made / "dev.jsonl", out=made / "teacher")
    return made


def distill(folder: Path, encoder: str, *arguments: object) -> Outcome:
    changes = [argument for change in SMALL for argument in ("--set", change)]
    files = ("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--raw", folder / "texts")
    chosen = ("--student", "plain", "--encoder", encoder, *changes)
    return run("distill", folder / "teacher" / "model", *chosen, *files, *arguments)


def test_the_command_softens_files_and_trains_a_student(folder: Path, tiny_encoder: str) -> None:
    out = folder / "student"
    done = distill(folder, tiny_encoder, "--out", out, "--gold-share", 0.75, "--lowest", 0.02)
    assert done.code == 0, done.stderr
    assert "soft/train.jsonl: 30 documents" in done.stderr
    assert "soft/raw.jsonl: 4 documents" in done.stderr
    assert f"model: {out / 'model'}" in done.stderr
    assert "F1" in done.stdout
    soft = read(out / "soft" / "train.jsonl").documents
    shares = [entity.confidence or 0.0 for document in soft for entity in document.entities]
    assert all(share >= 0.75 or 0.005 - 1e-6 <= share <= 0.25 for share in shares)
    raw = read(out / "soft" / "raw.jsonl").documents
    assert min(entity.confidence or 0.0 for document in raw for entity in document.entities) >= 0.02
    assert spanwright.load(out / "model").model.settings.training.epochs == 2
    resumed = distill(folder, tiny_encoder, "--out", out, "--gold-share", 0.75, "--lowest", 0.02, "--resume")
    assert resumed.code == 0, resumed.stderr
    assert "soft/train.jsonl" not in resumed.stderr


def test_a_teacher_that_is_no_model_is_refused(folder: Path, tiny_encoder: str, tmp_path: Path) -> None:
    done = run(
        *("distill", tmp_path, "--student", "plain", "--encoder", tiny_encoder, "--out", tmp_path / "out"),
        *("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl"),
    )
    assert done.code == 2
    assert "not a model directory: spanwright.json is missing" in done.error
