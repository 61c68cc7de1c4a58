from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from spanwright.training.runtime import flushed_denormals


def _smallest_half() -> float:
    return sys.float_info.min / 2


def test_numbers_next_to_zero_are_zero_inside_and_exact_again_after() -> None:
    with flushed_denormals():
        assert _smallest_half() == 0.0
    assert _smallest_half() > 0.0


def test_an_outer_setting_is_kept() -> None:
    with flushed_denormals():
        with flushed_denormals():
            pass
        assert _smallest_half() == 0.0


def page_faults(megabytes: int, times: int) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        bytearray(megabytes << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="memory is kept by glibc only")
def test_memory_of_a_step_serves_the_next() -> None:
    # In a process of its own: what the C library keeps depends on all that was asked of it before.
    code = (
        "from spanwright.training.runtime import kept_memory\n"
        "from test_runtime import page_faults\n"
        "usual = page_faults(48, 5)\n"
        "with kept_memory():\n"
        "    page_faults(48, 1)\n"
        "    kept = page_faults(48, 5)\n"
        "print(usual > 50_000, kept < 1_000, page_faults(48, 5) > 50_000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "True"]
