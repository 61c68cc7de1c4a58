"""Random inputs for references, and what references have in common.

References compute in float64 from inputs that float32 can hold, so what they give is exact for a stored file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

Arrays = dict[str, Tensor]
Case = tuple[Arrays, Arrays]
"""Inputs of a golden file, and the outputs that the equations give for them."""
Item = TypeVar("Item")

MARGIN = 1e-4
"""How far apart numbers must be whose order decides about a discrete output."""
FILLER = 99.0
"""Stands where a file holds numbers that must be ignored."""


class Draw:
    """Random numbers of one file."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Normal numbers of a shape."""
        drawn = self.generator.normal(scale=scale, size=shape).astype(np.float32)
        return torch.from_numpy(drawn).double()

    def linear(self, name: str, outputs: int, inputs: int) -> Arrays:
        """Weight (outputs, inputs) and bias of a linear map."""
        return {
            f"{name}_weight": self.normal(outputs, inputs, scale=inputs**-0.5),
            f"{name}_bias": self.normal(outputs, scale=0.3),
        }

    def integer(self, lowest: int, highest: int) -> int:
        """A number between two, both included."""
        return int(self.generator.integers(lowest, highest + 1))

    def chosen(self, items: Sequence[Item], count: int) -> list[Item]:
        """Some items, each once, in their order."""
        places = self.generator.choice(len(items), count, replace=False)
        return [items[place] for place in sorted(places.tolist())]


def linear(arrays: Arrays, name: str, values: Tensor) -> Tensor:
    """(..., outputs): the linear map of a name on values (..., inputs)."""
    return values @ arrays[f"{name}_weight"].T + arrays[f"{name}_bias"]


def take_gradients(arrays: Arrays, *names: str) -> None:
    """Let values that are made of the named arrays from here on have gradients by them."""
    for name in names:
        arrays[name].requires_grad_()


def gradients(value: Tensor, arrays: Arrays, prefix: str, *names: str) -> Arrays:
    """The gradients of a value by the named arrays, each under its name after a prefix."""
    given = [arrays[name] for name in names]
    found = torch.autograd.grad(value, given, retain_graph=True, materialize_grads=True)
    return {f"{prefix}{name}": gradient for name, gradient in zip(names, found, strict=True)}


def rounded(value: float) -> Tensor:
    """A scalar as float32 holds it."""
    return torch.tensor(value, dtype=torch.float32).double()


def whole(values: object) -> Tensor:
    """Integers as an array."""
    return torch.tensor(values, dtype=torch.long)


def rows(values: Iterable[tuple[int, ...]], columns: int) -> Tensor:
    """(rows, columns): rows of integers; there may be none."""
    return whole(list(values)).reshape(-1, columns)


def padded(values: list[list[int]], filler: int) -> Tensor:
    """(rows, longest): rows of different lengths."""
    longest = max(map(len, values))
    return whole([[*row, *[filler] * (longest - len(row))] for row in values])


def check_clear(differences: Iterable[float]) -> None:
    """Refuse a draw in which rounding could change a discrete output."""
    least = min(map(abs, differences), default=1.0)
    assert least > MARGIN, f"numbers {least:g} apart decide about an output; draw with another seed"
