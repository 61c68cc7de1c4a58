"""Checkpoints: atomic, verified, exact.

A checkpoint holds weights, optimiser state, the random state and the position in the run. It is written
beside its place, flushed to the disk and renamed; a manifest with digests shows whether it is whole.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn

from spanwright.errors import DivergenceError, SpanwrightError
from spanwright.formats.io.whole_files import sync
from spanwright.parts.finite import not_finite

_KEPT = 2
"""Checkpoints that stay on disk: the newest, and one to fall back to."""
_RANDOM_STATE = "random_state"
_NORM = "norm"
"""The usual norm of gradients, which the optimiser keeps where it divides by it."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where in a run a checkpoint was taken."""

    epoch: int = 0
    batch: int = 0
    """Batches of the epoch that are done."""
    step: int = 0
    best_f1: float = -1.0
    worse: int = 0
    """How many times dev has been scored since it was best."""
    journal_size: int = 0

    def after(self, *, batches: int) -> Position:
        """The position after one more step, over some batches."""
        return replace(self, batch=self.batch + batches, step=self.step + 1)


class CheckpointError(SpanwrightError):
    """A checkpoint could not be written."""


def save_checkpoint(
    folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, position: Position
) -> None:
    """Write `folder/step-N` and remove all but the newest checkpoints."""
    place = folder / f"step-{position.step:09d}"
    learnt, state = _learnt(network, optimiser), _optimiser_tensors(network, optimiser)
    if name := not_finite({**learnt, **state}):
        raise DivergenceError(
            f"{place}: the checkpoint is not written, as {name!r} is not finite: the training diverged. "
            f"Earlier checkpoints are unharmed; start again with lower optimiser.learning_rates"
        )
    partial = folder / ".partial"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _write(partial, learnt, state, position)
        shutil.rmtree(place, ignore_errors=True)
        partial.rename(place)
        sync(folder)
    except (OSError, safetensors.SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise CheckpointError(
            f"{place}: the checkpoint could not be written: {error}. Earlier checkpoints are unharmed: "
            f"make room and continue with --resume"
        ) from error
    for old in _newest_first(folder)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer
) -> tuple[Position | None, list[str]]:
    """Restore the newest whole checkpoint; None when there is none. Others are named in warnings."""
    warnings: list[str] = []
    for place in _newest_first(folder):
        if reason := _flaw(place):
            warnings.append(f"{place}: {reason}; it is passed over")
            continue
        learnt = safetensors.torch.load_file(place / "model.safetensors")
        state = safetensors.torch.load_file(place / "optimiser.safetensors")
        if name := not_finite({**learnt, **state}):
            warnings.append(f"{place}: {name!r} is not finite; it is passed over")
            continue
        if learnt.keys() != _learnt(network, optimiser).keys():
            raise CheckpointError(f"{place}: the checkpoint is of another model; choose another --out")
        network.load_state_dict(learnt, strict=False)
        _restore(state, network, optimiser)
        return _position(place), warnings
    return None, warnings


def _position(place: Path) -> Position:
    """Where a checkpoint was taken; what else older versions wrote is passed over."""
    known = {entry.name for entry in fields(Position)}
    values = json.loads((place / "position.json").read_text())
    return Position(**{name: value for name, value in values.items() if name in known})


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*"), reverse=True)


def _write(place: Path, learnt: dict[str, Tensor], state: dict[str, Tensor], position: Position) -> None:
    safetensors.torch.save_file(learnt, place / "model.safetensors")
    safetensors.torch.save_file(state, place / "optimiser.safetensors")
    (place / "position.json").write_text(json.dumps(asdict(position)))
    digests = {file.name: _digest(file) for file in sorted(place.iterdir())}
    (place / "manifest.json").write_text(json.dumps(digests))
    for file in place.iterdir():
        sync(file)
    sync(place)


def _learnt(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What a run changes. Frozen weights are left out: a resumed run loads them as it did at first."""
    # Asked of the optimiser, as a phase may hold weights that learn before or after it.
    held = {id(parameter) for group in optimiser.param_groups for parameter in group["params"]}
    names = {name for name, parameter in network.named_parameters() if id(parameter) in held}
    names |= {name for name, _ in network.named_buffers()}
    return {name: tensor.cpu() for name, tensor in network.state_dict().items() if name in names}


def _optimiser_tensors(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    tensors = {
        f"{key}/{name}": value.cpu()
        for name, parameter in network.named_parameters()
        for key, value in optimiser.state.get(parameter, {}).items()
    }
    kept = optimiser.param_groups[0]
    norm = {_NORM: kept[_NORM].cpu()} if _NORM in kept else {}
    return {**tensors, **norm, _RANDOM_STATE: torch.get_rng_state()}


def _restore(tensors: dict[str, Tensor], network: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    torch.set_rng_state(tensors.pop(_RANDOM_STATE))
    parameters = dict(network.named_parameters())
    if _NORM in tensors:
        optimiser.param_groups[0][_NORM] = tensors.pop(_NORM).to(next(iter(parameters.values())).device)
    optimiser.state.clear()
    for name, value in tensors.items():
        key, _, parameter = name.partition("/")
        learning = parameters[parameter]
        optimiser.state[learning][key] = value.to(learning.device)


def _flaw(place: Path) -> str | None:
    """What is wrong with a checkpoint on disk; None for a whole one."""
    manifest = place / "manifest.json"
    try:
        digests = json.loads(manifest.read_text())
    except (OSError, ValueError):
        return "manifest.json is missing or torn"
    for name, digest in digests.items():
        file = place / name
        if not file.is_file() or _digest(file) != digest:
            return f"{name} is missing or torn"
    return None


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").hexdigest()
