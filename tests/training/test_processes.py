"""Two processes train as one does: the same losses, one set of files, and runs that change their number."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from launching import Job, Told, run_alone, run_together

import making
import several
import spanwright
from spanwright import artifact
from spanwright.arrays import Integers
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.settings import Settings, load_settings
from spanwright.training.journal import read_journal
from spanwright.training.processes import Processes, is_first_process, joined_processes, parts_of

TRAIN = making.documents(40)
DEV = making.documents(8, prefix="dev")
SHORT = ("training.epochs=2", "training.batch_windows=2")
TOLERANCE = 1e-5


def job(settings: Settings, out: Path, **more: object) -> Job:
    return Job(settings, TRAIN, DEV, out, **more)


def both(made: Job, folder: Path) -> tuple[Told, list[Told]]:
    """What a training tells in one process, and in two."""
    alone = run_alone(replace(made, out=folder / "one"))
    together = run_together(replace(made, out=folder / "two"), 2)
    assert [told.failure for told in (alone, *together)] == ["", "", ""]
    return alone, together


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return artifact.load(folder / "model").network.state_dict()


def same_losses(left: list[float], right: list[float]) -> None:
    assert len(left) == len(right) >= 20
    assert left[:20] == pytest.approx(right[:20], abs=TOLERANCE)
    assert left[0] > 1.5 * left[-1], "a training that learns nothing proves nothing"


def test_two_processes_have_the_losses_of_one_dropout_included(tiny_encoder: str, tmp_path: Path) -> None:
    settings = making.settings(tiny_encoder, *SHORT, "training.accumulate=2")
    alone, (first, second) = both(job(settings, tmp_path / "run"), tmp_path)
    same_losses(alone.losses, first.losses)
    assert first.f1 == alone.f1
    # The second process tells nothing, and one process alone writes: files look as those of one process.
    assert (second.losses, second.f1, second.warnings) == ([], [], [])
    assert {path.name for path in (tmp_path / "two").iterdir()} == {
        path.name for path in (tmp_path / "one").iterdir()
    }
    events = [[line["event"] for line in read_journal(tmp_path / name)] for name in ("one", "two")]
    assert events[0] == events[1]


def test_batches_that_are_cut_for_two_processes_have_the_losses_of_whole_ones(
    tiny_encoder: str, tmp_path: Path
) -> None:
    changes = (*SHORT, "training.epochs=1", "representation.dropout=0.0")
    settings = making.settings(without_dropout(tiny_encoder, tmp_path / "encoder"), *changes)
    alone, (first, _) = both(job(settings, tmp_path / "run"), tmp_path)
    same_losses(alone.losses, first.losses)


def without_dropout(encoder: str, folder: Path) -> str:
    """A copy of the encoder whose configuration has no dropout, neither of states nor of attention."""
    copy = Path(shutil.copytree(encoder, folder))
    config = json.loads((copy / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (copy / "config.json").write_text(json.dumps(config))
    return str(copy)


def test_several_corpora_have_the_losses_of_one_process(tiny_encoder: str, tmp_path: Path) -> None:
    changes = ("training.batch_windows=1", "training.accumulate=2", "training.epochs=2")
    settings = several.settings("plain", tiny_encoder, *changes, "corpora.sampling='equal'")
    train = several.split("train", Alpha=14, Beta=6, Gamma=4)
    made = Job(settings, train, several.split("dev", Alpha=3, Beta=2), tmp_path / "run")
    alone, (first, _) = both(made, tmp_path)
    same_losses(alone.losses, first.losses)
    assert first.f1 == alone.f1


def test_phases_have_the_losses_and_the_weights_of_one_process(tiny_encoder: str, tmp_path: Path) -> None:
    """In the first phase the span head has no gradients in any process, and must not decay; then it has."""
    phase = "objective.phases=[{share=0.5, terms=['tags'], still=['encoder']}]"
    small = [f"encoder.name={tiny_encoder}", *making.SMALL, *SHORT, phase, "training.accumulate=2"]
    settings = load_settings("bundling", [*small, "optimiser.weight_decay=0.5"])
    alone, (first, _) = both(job(settings, tmp_path / "run"), tmp_path)
    assert alone.losses[:20] == pytest.approx(first.losses[:20], abs=TOLERANCE)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, atol=1e-4, rtol=1e-3, msg=name)


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param((2, 1), id="two-then-one"),
        pytest.param((1, 2), id="one-then-two", marks=pytest.mark.slow),
    ],
)
def test_a_run_goes_on_in_another_number_of_processes(
    tiny_encoder: str, tmp_path: Path, counts: tuple[int, int]
) -> None:
    changes = (*SHORT, "training.accumulate=2", "training.checkpoint_steps=4")
    made = job(making.settings(tiny_encoder, *changes), tmp_path / "cut")
    whole = run_alone(replace(made, out=tmp_path / "whole"))
    stopped = replace(made, stop_at_step=6)
    before = run_together(stopped, 2)[0] if counts[0] == 2 else run_alone(stopped)
    resumed = replace(made, resume=True)
    after = run_alone(resumed) if counts[1] == 1 else run_together(resumed, 2)[0]
    assert (before.failure, after.failure) == ("stopped", "")
    assert before.losses[:4] + after.losses == pytest.approx(whole.losses, abs=TOLERANCE)
    assert after.f1 == whole.f1[-len(after.f1) :]


def test_a_process_that_fails_does_not_leave_the_other_waiting(tiny_encoder: str, tmp_path: Path) -> None:
    """The second has lost a document; it says so, and the first, which waits for it, ends as well."""
    made = job(making.settings(tiny_encoder, *SHORT), tmp_path / "run", broken=1)
    first, second = run_together(made, 2)
    assert "process 1 has other corpora than the first" in second.failure
    assert first.failure and first.losses == []


def test_a_failure_of_the_first_process_is_told_to_the_other(tiny_encoder: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "settings.json").write_text("{}")
    first, second = run_together(job(making.settings(tiny_encoder), tmp_path / "run"), 2)
    assert "InputError" in first.failure and "a run is there already" in first.failure
    assert "ProcessError: the first process failed: InputError: " in second.failure


def cut(
    sizes: list[int], *, accumulate: int, processes: int
) -> list[tuple[Integers, float, tuple[int, ...]]]:
    starts = np.cumsum([0, *sizes])
    group = [np.arange(start, start + size) for start, size in zip(starts, sizes, strict=False)]
    found = parts_of(group, draw=(7, 3), first=10, accumulate=accumulate, processes=processes)
    return [(part.positions, part.share, part.draw) for part in found]


def test_batches_stay_whole_where_a_step_has_one_for_each_process() -> None:
    parts = cut([4, 3, 2], accumulate=3, processes=2)
    assert [len(positions) for positions, _, _ in parts] == [4, 3, 2]
    assert [draw for _, _, draw in parts] == [(7, 3, 10), (7, 3, 11), (7, 3, 12)]


def test_the_last_group_of_an_epoch_is_not_cut_either() -> None:
    """Else its dropout would depend on the number of processes."""
    assert len(cut([4], accumulate=2, processes=2)) == 1


def test_parts_of_cut_batches_are_drawn_apart() -> None:
    draws = [draw for _, _, draw in cut([4, 4], accumulate=2, processes=4)]
    assert draws == [(7, 3, 10, 0), (7, 3, 10, 1), (7, 3, 11, 0), (7, 3, 11, 1)]


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    spare=st.integers(0, 3),
    processes=st.integers(1, 6),
)
def test_every_window_is_trained_once_whatever_the_number_of_processes(
    sizes: list[int], spare: int, processes: int
) -> None:
    accumulate = len(sizes) + spare
    parts = cut(sizes, accumulate=accumulate, processes=processes)
    assert sorted(int(p) for positions, _, _ in parts for p in positions) == list(range(sum(sizes)))
    assert sum(share for _, share, _ in parts) == pytest.approx(1)
    assert all(share == len(positions) / sum(sizes) for positions, share, _ in parts)
    if min(sizes) >= processes and len(sizes) == accumulate:
        assert len(parts) >= processes


def test_a_single_process_asks_nobody() -> None:
    alone = Processes()
    parameter = torch.nn.Parameter(torch.ones(2))
    alone.sum_gradients([parameter])
    assert parameter.grad is None
    assert alone.sums(1.5, 2) == [1.5, 2]
    assert alone.from_first(lambda: "answer") == "answer"


def test_the_first_process_is_known_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_first_process()
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert not is_first_process()
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert is_first_process()


def test_an_environment_that_lacks_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(
        InputError, match=r"WORLD_SIZE is 2, but RANK, .* start several\s+processes with torchr"
    ):
        joined_processes().__enter__()


def torchrun(*arguments: str) -> subprocess.CompletedProcess[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "spanwright"]
    return subprocess.run(
        [sys.executable, *launcher, *arguments], capture_output=True, text=True, timeout=250
    )


def command_line(tiny_encoder: str, folder: Path) -> tuple[list[str], list[str]]:
    """A call of the command that trains, and the settings in it."""
    write(TRAIN, folder / "train.jsonl")
    write(DEV, folder / "dev.jsonl")
    changes = [f"encoder.name={tiny_encoder}", *making.SMALL, "training.epochs=3", "training.accumulate=2"]
    settings = [part for change in changes for part in ("--set", change)]
    files = ["--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    return ["train", "plain", *files, "--out", str(folder / "run"), *settings], changes


@pytest.mark.slow
def test_torchrun_trains_by_the_command(tiny_encoder: str, tmp_path: Path) -> None:
    """One process shows and writes, and the scores are those of a training in one."""
    command, changes = command_line(tiny_encoder, tmp_path)
    done = torchrun(*command)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("epoch 1: dev precision") == 1
    assert done.stdout.count("macro") == 1
    alone = run_alone(job(load_settings("plain", changes), tmp_path / "alone"))
    found = json.loads((tmp_path / "run" / "scores.json").read_text())["dev"]["micro"]["f1"]
    assert found == max(alone.f1) > 0


@pytest.mark.slow
def test_torchrun_ends_with_the_error_of_the_command(tiny_encoder: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "settings.json").write_text("{}")
    done = torchrun(*command_line(tiny_encoder, tmp_path)[0])
    assert done.returncode != 0
    assert done.stderr.count("error: ") == 1 and "a run is there already" in done.stderr


def test_the_package_is_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "spanwright", "--version"], capture_output=True, text=True)
    assert done.stdout == f"spanwright {spanwright.__version__}\n"
