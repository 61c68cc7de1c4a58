"""The colours of types and systems: who gets which, and who can tell them apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spanwright.palette import SYSTEM_COLOURS, TYPE_COLOURS, colour_numbers, style_sheet

GROUNDS = ("#ffffff", "#1a2029")
SIGHT = {
    "usual": np.eye(3),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What is seen of linear red, green and blue, after Machado and others (2009), of full severity."""
LMS = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
OKLAB = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]


def linear(colour: str) -> np.ndarray:
    numbers = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(numbers <= 0.04045, numbers / 12.92, ((numbers + 0.055) / 1.055) ** 2.4)


def seen(colour: str, sight: str) -> np.ndarray:
    """Where a colour lies in the space of OKLab."""
    light = np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1)
    return np.array(OKLAB) @ np.cbrt(np.array(LMS) @ light)


@pytest.mark.parametrize("ground", (0, 1))
@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colours", (TYPE_COLOURS, SYSTEM_COLOURS), ids=("types", "systems"))
def test_colours_can_be_told_apart(colours: tuple[tuple[str, str], ...], sight: str, ground: int) -> None:
    for one, other in combinations([shades[ground] for shades in colours], 2):
        # 0.02 is the least difference that is seen side by side.
        assert np.linalg.norm(seen(one, sight) - seen(other, sight)) > 0.06, (one, other)


@pytest.mark.parametrize("shades", (*TYPE_COLOURS, *SYSTEM_COLOURS), ids=lambda shades: shades[0])
def test_colours_stand_out_from_their_ground(shades: tuple[str, str]) -> None:
    for colour, ground in zip(shades, GROUNDS, strict=True):
        weights = np.array([0.2126, 0.7152, 0.0722])
        darker, lighter = sorted((weights @ linear(colour), weights @ linear(ground)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_a_type_has_its_colour_by_name() -> None:
    of_many = colour_numbers(["Disease", "Gene", "Chemical", "Species", "Wine"])
    for name in ("Disease", "Species"):
        assert of_many[name] == colour_numbers([name])[name]
        assert of_many[name] == colour_numbers([name, "Gene", "Protein"])[name], "Protein gives way"
    assert colour_numbers(["Wine", "Gene"]) == colour_numbers(["Gene", "Wine"])
    assert colour_numbers(["cell_line"]) == {"cell_line": colour_numbers(["CellLine"])["CellLine"]}


def test_types_have_different_colours_as_long_as_there_are_some() -> None:
    names = [f"type {number}" for number in range(len(TYPE_COLOURS))]
    assert len(set(colour_numbers([*names[1:], "Gene"]).values())) == len(TYPE_COLOURS)
    assert set(colour_numbers([*names, "more", "\ud800"])) == {*names, "more", "\ud800"}


def test_the_style_sheet_has_every_colour() -> None:
    sheet = style_sheet()
    assert all(f"light-dark({light}, {dark})" in sheet for light, dark in (*TYPE_COLOURS, *SYSTEM_COLOURS))
    assert ".type-7 { --own: var(--type-7); }" in sheet and ".system-5" in sheet
