from __future__ import annotations

import math

import pytest
import torch

from spanwright.parts.finite import magnitudes, not_finite


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(number: float, dtype: torch.dtype) -> None:
    for place in (0, 57, 128):
        spoilt = torch.ones(3, 43, dtype=dtype)
        spoilt.view(-1)[place] = number
        assert not_finite({"good": torch.ones(2), "bad": spoilt, "worse": spoilt}) == "bad"


def test_large_numbers_whole_ones_and_none_are_finite() -> None:
    largest = torch.full((9,), torch.finfo(torch.float64).max, dtype=torch.float64)
    tensors = {
        "large": largest,
        "whole": torch.arange(3),
        "none": torch.empty(0, 4),
        "one": torch.tensor(1.0),
    }
    assert not_finite(tensors) is None
    assert not_finite({}) is None


def test_magnitudes_are_those_of_the_number_furthest_from_zero() -> None:
    found = magnitudes({"down": torch.tensor([[1.0, -3.0]]), "up": torch.tensor([2.0, -1.0])})
    assert found == {"down": 3.0, "up": 2.0}
