"""Promise 32: of two processes in one folder the second is refused, and nothing is touched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import making
from spanwright.comparing import compare, make_plan
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.training.loop import train
from spanwright.tuning import tune
from spanwright.tuning.plan import make_plan as plan_of_search
from watching import Recorder

REFUSAL = "another process is at work in this folder"
_HOLDER = """
import sys
from pathlib import Path
from spanwright.formats.io.locked_folders import locked_folder

with locked_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def at_work(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that works in a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files of a folder, with their times and bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for number, split in enumerate(("train", "dev", "test")):
        write(making.documents(6, seed=number, prefix=split), tmp_path / f"{split}.jsonl")
    return {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "dev", "test")}


def test_a_second_training_is_refused_also_one_that_resumes(
    tiny_encoder: str, files: dict[str, str], tmp_path: Path
) -> None:
    settings = making.settings(tiny_encoder, "training.epochs=1")
    out = tmp_path / "run"
    with at_work(out):
        with pytest.raises(InputError, match=REFUSAL):
            train(settings, train=files["train"], dev=files["dev"], out=out)
        assert content(out) == {}
    train(settings, train=files["train"], dev=files["dev"], out=out)
    before = content(out)
    with at_work(out), pytest.raises(InputError, match=REFUSAL):
        train(settings, train=files["train"], dev=files["dev"], out=out, resume=True)
    assert content(out) == before


def test_a_training_holds_its_folder_until_its_end(
    tiny_encoder: str, files: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    refusals: list[str] = []

    class Intruder(Recorder):
        """Tries to work in the folder of the run."""

        def scored(self, **_: object) -> None:
            with pytest.raises(InputError, match=REFUSAL) as caught, locked_folder(out):
                pass
            refusals.append(str(caught.value))

    settings = making.settings(tiny_encoder, "training.epochs=2")
    train(settings, train=files["train"], dev=files["dev"], out=out, watcher=Intruder())
    assert len(refusals) == 2
    with locked_folder(out):
        pass


def test_a_second_comparison_is_refused(tiny_encoder: str, files: dict[str, str], tmp_path: Path) -> None:
    plan = make_plan({"recipes": ["plain"], "encoder": tiny_encoder, "corpora": {"made": files}}, "made up")
    out = tmp_path / "compared"
    with at_work(out), pytest.raises(InputError, match=REFUSAL):
        compare(plan, out=out)
    assert content(out) == {}


def test_a_second_search_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    corpus = {"train": files["train"], "dev": files["dev"]}
    plan = plan_of_search(
        {"recipe": "plain", **corpus, "search": {"representation.dropout": [0.1, 0.2]}}, "plan"
    )
    out = tmp_path / "tuned"
    with at_work(out), pytest.raises(InputError, match=REFUSAL):
        tune(plan, out=out)
    assert content(out) == {}


def test_a_process_that_was_killed_locks_nobody_out(tmp_path: Path) -> None:
    with at_work(tmp_path) as process:
        process.kill()
        process.wait()
        with locked_folder(tmp_path):
            pass


def test_a_folder_in_which_nothing_was_written_is_not_left_behind(tmp_path: Path) -> None:
    with locked_folder(tmp_path / "new"):
        pass
    with locked_folder(tmp_path / "used"):
        (tmp_path / "used" / "file").touch()
    with locked_folder(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["used"]
