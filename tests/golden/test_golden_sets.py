"""The sets of golden files that are made here have the form of the shared one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from golden.making_sets import SETS, make_set
from places import shared_folder


def form(folder: Path) -> set[tuple[str, str, str, int]]:
    """File, name without its numbers, kind of number and number of axes of each array."""
    found = set()
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            for name, array in dict(file).items():
                found.add((path.name, re.sub(r"[\d.]+", "#", name), str(array.dtype), array.ndim))
    return found


@pytest.mark.parametrize("name", SETS)
def test_a_made_set_has_the_form_of_the_shared_one(name: str, tmp_path: Path) -> None:
    shared = shared_folder("SPANWRIGHT_GOLDEN", "golden")
    if not shared.is_dir():
        pytest.skip(f"no golden numbers at {shared}; set SPANWRIGHT_GOLDEN to run this test")
    # What released code does otherwise need not be reproduced.
    expected = {each for each in form(shared) if not each[1].startswith("released")}
    assert form(make_set(name, tmp_path)) == expected
