"""Promises 1 to 3: a training survives kill -9, torn checkpoints and a full disk."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
from killing import KILLED, Trainings

import making
from spanwright.training.checkpoint import CheckpointError
from spanwright.training.loop import train
from watching import Recorder

CHANGES = ("training.checkpoint_steps=2", "training.epochs=2")
"""Eight steps and five checkpoints."""
OPERATIONS = 70
"""File operations of such a run, about: the last numbers may lie after its end."""
CHECKPOINT_FILES = ("model.safetensors", "optimiser.safetensors", "position.json", "manifest.json")


def outcome(folder: Path) -> dict[str, str]:
    """Digests of what a run leaves behind."""
    names = ("model/model.safetensors", "model/spanwright.json", "journal.jsonl", "scores.json")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


@pytest.fixture(scope="module")
def trainings(tiny_encoder: str) -> Iterator[Trainings]:
    with Trainings(tiny_encoder, *CHANGES) as started:
        yield started


@pytest.fixture(scope="module")
def uninterrupted(
    trainings: Trainings, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, str], float]:
    """The outcome of a run that nothing disturbs, and its seconds."""
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    begin = time.monotonic()
    assert trainings.run(folder) == 0
    return outcome(folder), time.monotonic() - begin


def kill_at_random_moments(trainings: Trainings, folder: Path, kills: int, seconds: float) -> Iterator[Path]:
    """Runs that are killed and resumed until they end; together they are killed so many times or more."""
    moments = random.Random(kills)
    while kills > 0:
        run = folder / f"{kills}-left"
        while trainings.run(run, after=moments.uniform(0, seconds)) == KILLED:
            kills -= 1
        yield run
        shutil.rmtree(run)


def test_a_run_killed_at_random_moments_ends_with_the_same_weights(
    trainings: Trainings, uninterrupted: tuple[dict[str, str], float], tmp_path: Path
) -> None:
    expected, seconds = uninterrupted
    for run in kill_at_random_moments(trainings, tmp_path, 3, seconds):
        assert outcome(run) == expected


def test_a_run_killed_while_it_writes_ends_with_the_same_weights(
    trainings: Trainings, uninterrupted: tuple[dict[str, str], float], tmp_path: Path
) -> None:
    """Early, while a checkpoint and a model are written, and at the end, one death after another."""
    for operation in (2, 9, 34, 21, 8):
        assert trainings.run(tmp_path / "run", operation=operation) == KILLED
    assert trainings.run(tmp_path / "run") == 0
    assert outcome(tmp_path / "run") == uninterrupted[0]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_kills_with_two_threads_change_nothing(tiny_encoder: str, tmp_path: Path) -> None:
    with Trainings(tiny_encoder, *CHANGES, threads=2) as trainings:
        begin = time.monotonic()
        assert trainings.run(tmp_path / "whole") == 0
        seconds = time.monotonic() - begin
        for run in kill_at_random_moments(trainings, tmp_path, 20, seconds):
            assert outcome(run) == outcome(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_kill_before_any_file_operation_changes_nothing(
    trainings: Trainings, uninterrupted: tuple[dict[str, str], float], tmp_path: Path
) -> None:
    codes: list[int] = []
    for operation in range(1, OPERATIONS):
        run = tmp_path / str(operation)
        codes.append(trainings.run(run, operation=operation))
        assert trainings.run(run) == 0, operation
        assert outcome(run) == uninterrupted[0], operation
        shutil.rmtree(run)
    assert codes.count(KILLED) > 50


@pytest.fixture(scope="module")
def finished(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run in this process."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    resume(tiny_encoder, folder, resume=False)
    return folder


def resume(encoder: str, folder: Path, *, resume: bool = True) -> Recorder:
    recorder = Recorder()
    data = {"train": making.documents(16), "dev": making.documents(4, prefix="dev")}
    train(making.settings(encoder, *CHANGES), **data, out=folder, resume=resume, watcher=recorder)
    return recorder


@pytest.mark.parametrize("name", CHECKPOINT_FILES)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99], ids=["empty", "half", "nearly whole"])
def test_a_truncated_checkpoint_is_named_and_the_one_before_it_used(
    tiny_encoder: str, finished: Path, tmp_path: Path, name: str, share: float
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    older, newest = sorted((run / "checkpoints").iterdir())
    os.truncate(newest / name, int(share * (newest / name).stat().st_size))
    recorder = resume(tiny_encoder, run)
    assert recorder.warnings == [f"{newest}: {name} is missing or torn; it is passed over"]
    after_older = json.loads((newest / "position.json").read_text())["step"] - int(older.name[5:])
    assert len(recorder.losses) == after_older
    assert outcome(run) == outcome(finished)


def test_with_every_checkpoint_torn_the_run_begins_anew(
    tiny_encoder: str, finished: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    for checkpoint in (run / "checkpoints").iterdir():
        os.truncate(checkpoint / "model.safetensors", 100)
    recorder = resume(tiny_encoder, run)
    assert len(recorder.warnings) == 2
    assert len(recorder.losses) == 8
    assert outcome(run) == outcome(finished)


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _serialisation_fails(*_: object, **__: object) -> None:
    raise safetensors.SafetensorError("I/O error: No space left on device (os error 28)")


@pytest.mark.parametrize("cause", ["while weights are written", "while a file is flushed"])
def test_a_full_disk_is_a_clear_error_and_the_last_checkpoint_still_loads(
    tiny_encoder: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    older, newest = sorted((run / "checkpoints").iterdir())
    shutil.rmtree(newest)
    with monkeypatch.context() as disk:
        if cause == "while weights are written":
            disk.setattr(safetensors.torch, "save_file", _serialisation_fails)
        else:
            disk.setattr(os, "fsync", _full)
        with pytest.raises(CheckpointError, match=r"could not be written: .*No space left.*--resume"):
            resume(tiny_encoder, run)
    assert [path.name for path in (run / "checkpoints").iterdir()] == [older.name]
    resume(tiny_encoder, run)
    assert outcome(run) == outcome(finished)


UNSHARE = ("unshare", "--map-root-user", "--mount")


def can_mount(folder: Path) -> bool:
    """Whether this machine lets a process have a file system of its own."""
    probe = [*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True).returncode == 0


def test_a_run_on_a_disk_that_is_too_small_ends_clearly_and_goes_on_when_there_is_room(
    tiny_encoder: str, finished: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not can_mount(disk):
        pytest.skip("no private tmpfs can be mounted here; the simulated test above has run")
    script = Path(__file__).with_name("small_disk.py")
    # Room for one checkpoint, not for two; and for two, not for a model besides.
    command = [*UNSHARE, sys.executable, str(script), tiny_encoder, str(disk), "600k", "800k"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    no_checkpoint, no_model = [json.loads(line) for line in done.stdout.splitlines()]
    assert "step-000000004: the checkpoint could not be written: " in no_checkpoint["error"]
    assert no_checkpoint["checkpoints"] == ["step-000000002"]
    assert "model: the model could not be written: " in no_model["error"]
    for told in (no_checkpoint, no_model):
        assert "No space left on device" in told["error"]
        assert told["digest"] == outcome(finished)["model/model.safetensors"]
