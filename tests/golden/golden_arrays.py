"""Golden numbers as tensors, and how near ours must be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

TOLERANCE = 2e-5
Arrays = dict[str, Tensor]


def load_arrays(file: Path) -> Arrays:
    """The arrays of a file by name."""
    with np.load(file, allow_pickle=False) as stored:
        return {name: torch.from_numpy(np.asarray(stored[name])) for name in stored.files}


def assert_near(found: Tensor, expected: Tensor) -> None:
    """Within the tolerance of the golden numbers: relative above 1, absolute below."""
    assert found.shape == expected.shape
    assert ((found - expected).abs() <= TOLERANCE * expected.abs().clamp(min=1)).all()
