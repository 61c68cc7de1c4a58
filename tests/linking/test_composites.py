"""Composite mentions are read as several names that share words."""

from __future__ import annotations

import pytest

from spanwright.linking.composites import is_composite, readings


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ("breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast, colon, and ovarian cancer", ("breast cancer", "colon cancer", "ovarian cancer")),
        ("breast/ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast and/or ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("deafness and cataract", ("deafness", "cataract")),
        ("deficiency of C6 and C7", ("deficiency of C6", "deficiency of C7")),
        ("C6 or C7 deficiency", ("C6 deficiency", "C7 deficiency")),
    ],
)
def test_the_meant_parts_are_among_the_readings(mention: str, parts: tuple[str, ...]) -> None:
    assert parts in readings(mention)


@pytest.mark.parametrize(
    "mention", ["cancer", "Anderson disease", "1/2 cancer", "a, b, c, d, e, f, g", "and"]
)
def test_other_mentions_have_no_readings(mention: str) -> None:
    assert not is_composite(mention)
    assert readings(mention) == ()
