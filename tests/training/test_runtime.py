from __future__ import annotations

import sys

from spanwright.training.runtime import flushed_denormals


def _smallest_half() -> float:
    return sys.float_info.min / 2


def test_numbers_next_to_zero_are_zero_inside_and_exact_again_behind() -> None:
    with flushed_denormals():
        assert _smallest_half() == 0.0
    assert _smallest_half() > 0.0


def test_an_outer_setting_is_kept() -> None:
    with flushed_denormals():
        with flushed_denormals():
            pass
        assert _smallest_half() == 0.0
