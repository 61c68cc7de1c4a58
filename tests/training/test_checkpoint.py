from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from spanwright.errors import DivergenceError
from spanwright.training import checkpoint
from spanwright.training.checkpoint import Position, load_checkpoint, save_checkpoint


class Learner:
    """A network with an optimiser that has made some steps."""

    def __init__(self, seed: int, steps: int = 3) -> None:
        torch.manual_seed(seed)
        self.network = nn.Sequential(nn.Linear(4, 3), nn.Dropout(), nn.Linear(3, 1))
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=0.1, fused=True)
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        torch.autograd.backward(self.network(torch.ones(2, 4)).sum())
        self.optimiser.step()
        self.optimiser.zero_grad()

    def spoil(self, what: str, number: float) -> None:
        """Put a number into the weights, or into what the optimiser remembers of them."""
        bias = self.network[0].bias
        tensor = bias if what == "weights" else self.optimiser.state[bias]["exp_avg"]
        tensor.data[1] = number

    @property
    def weights(self) -> list[float]:
        return torch.cat([tensor.flatten() for tensor in self.network.state_dict().values()]).tolist()

    def save(self, folder: Path, position: Position) -> None:
        save_checkpoint(folder, self.network, self.optimiser, position)

    def load(self, folder: Path) -> tuple[Position | None, list[str]]:
        return load_checkpoint(folder, self.network, self.optimiser)


POSITION = Position(epoch=2, batch=5, step=17, best_f1=0.75, worse=1, journal_size=1234)


def test_a_checkpoint_restores_position_and_weights(tmp_path: Path) -> None:
    saved, other = Learner(1), Learner(2)
    saved.save(tmp_path, POSITION)
    assert other.load(tmp_path) == (POSITION, [])
    assert other.weights == saved.weights


def test_training_goes_on_from_a_checkpoint_bit_for_bit(tmp_path: Path) -> None:
    """Weights, optimiser state and the random state, on which dropout depends, are all restored."""
    learner = Learner(1)
    learner.save(tmp_path, POSITION)
    for _ in range(4):
        learner.step()
    resumed = Learner(2, steps=0)
    resumed.load(tmp_path)
    for _ in range(4):
        resumed.step()
    assert resumed.weights == learner.weights


def test_the_state_of_an_older_optimiser_does_not_survive_a_restore(tmp_path: Path) -> None:
    Learner(1, steps=0).save(tmp_path, POSITION)
    resumed = Learner(2, steps=3)
    resumed.load(tmp_path)
    assert not resumed.optimiser.state


def test_the_newest_checkpoint_is_used_and_one_older_one_is_kept(tmp_path: Path) -> None:
    learner = Learner(1)
    for step in (5, 20, 100):
        learner.save(tmp_path, Position(step=step))
    assert sorted(place.name for place in tmp_path.iterdir()) == ["step-000000020", "step-000000100"]
    assert learner.load(tmp_path)[0] == Position(step=100)


def test_without_a_checkpoint_nothing_is_restored(tmp_path: Path) -> None:
    learner = Learner(1)
    before = learner.weights
    assert learner.load(tmp_path / "checkpoints") == (None, [])
    assert learner.weights == before


def test_a_folder_that_was_being_written_is_no_checkpoint(tmp_path: Path) -> None:
    learner = Learner(1)
    learner.save(tmp_path, POSITION)
    (tmp_path / "step-000000017").rename(tmp_path / ".partial")
    assert learner.load(tmp_path) == (None, [])


def test_a_folder_that_was_being_written_does_not_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / ".partial").mkdir()
    (tmp_path / ".partial" / "stray.json").write_text("{}")
    Learner(1).save(tmp_path, POSITION)
    names = [file.name for file in (tmp_path / "step-000000017").iterdir()]
    assert sorted(names) == ["manifest.json", "model.safetensors", "optimiser.safetensors", "position.json"]


def test_a_checkpoint_of_the_same_step_is_replaced(tmp_path: Path) -> None:
    Learner(1).save(tmp_path, Position(step=17, epoch=1))
    second = Learner(2)
    second.save(tmp_path, Position(step=17, epoch=2))
    loaded = Learner(3)
    assert loaded.load(tmp_path)[0] == Position(step=17, epoch=2)
    assert loaded.weights == second.weights


@pytest.mark.parametrize("name", ["model.safetensors", "position.json", "manifest.json"])
def test_a_checkpoint_that_lacks_a_file_is_named_in_a_warning(tmp_path: Path, name: str) -> None:
    learner = Learner(1)
    learner.save(tmp_path, Position(step=1))
    learner.save(tmp_path, Position(step=2))
    (tmp_path / "step-000000002" / name).unlink()
    position, warnings = learner.load(tmp_path)
    assert position == Position(step=1)
    place = tmp_path / "step-000000002"
    assert warnings == [f"{place}: {name} is missing or torn; it is passed over"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("spoilt", ["weights", "optimiser"])
def test_numbers_that_are_not_finite_are_not_saved(tmp_path: Path, spoilt: str, number: float) -> None:
    learner = Learner(1)
    learner.save(tmp_path, Position(step=1))
    learner.spoil(spoilt, number)
    with pytest.raises(DivergenceError, match=r"step-000000002: .*0\.bias' is not finite: the training div"):
        learner.save(tmp_path, Position(step=2))
    assert [place.name for place in tmp_path.iterdir()] == ["step-000000001"]


@pytest.mark.parametrize("spoilt", ["weights", "optimiser"])
def test_a_checkpoint_that_is_not_finite_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoilt: str
) -> None:
    learner = Learner(1)
    learner.save(tmp_path, Position(step=1))
    good = learner.weights
    learner.spoil(spoilt, math.nan)
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "not_finite", lambda tensors: None)
        learner.save(tmp_path, Position(step=2))
    position, (warning,) = learner.load(tmp_path)
    assert (position, learner.weights) == (Position(step=1), good)
    assert warning.startswith(f"{tmp_path / 'step-000000002'}: ")
    assert warning.endswith("0.bias' is not finite; it is passed over")
