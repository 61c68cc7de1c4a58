"""Golden numbers as tensors, how they become weights, and how near ours must be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

TOLERANCE = 2e-5
Arrays = dict[str, Tensor]


def load_arrays(file: Path) -> Arrays:
    """The arrays of a file by name."""
    with np.load(file, allow_pickle=False) as stored:
        return {name: torch.from_numpy(np.asarray(stored[name])) for name in stored.files}


def load_linear(linear: nn.Module, arrays: Arrays, name: str) -> None:
    """Give a linear map the weight and bias of a name."""
    linear.load_state_dict({part: arrays[f"{name}_{part}"] for part in ("weight", "bias")})


def load_layers(layers: nn.Sequential, arrays: Arrays, names: list[str]) -> None:
    """Give the linear maps of a row of layers the weights and biases of as many names."""
    maps = [layer for layer in layers if isinstance(layer, nn.Linear)]
    for layer, name in zip(maps, names, strict=True):
        load_linear(layer, arrays, name)


def numbered(arrays: Arrays, name: str) -> list[str]:
    """The names of layers `name1`, `name2` and so on, as many as a file has."""
    count = sum(each.removeprefix(name).removesuffix("_weight").isdigit() for each in arrays)
    return [f"{name}{number}" for number in range(1, count + 1)]


def assert_near(found: Tensor, expected: Tensor) -> None:
    """Within the tolerance of the golden numbers: relative above 1, absolute below."""
    assert found.shape == expected.shape
    assert ((found - expected).abs() <= TOLERANCE * expected.abs().clamp(min=1)).all()
