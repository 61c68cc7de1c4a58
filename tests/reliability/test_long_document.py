"""Promise 9: a document of a million characters is tagged in one call, in bounded memory, without a gap."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from /proc/self/status"
)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    script = Path(__file__).with_name("long_document.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def test_memory_grows_by_less_than_300_megabytes(told: dict[str, Any]) -> None:
    assert told["characters"] >= 1_000_000
    assert told["growth_megabytes"] < 300


def test_every_candidate_is_scored_exactly_once(told: dict[str, Any]) -> None:
    assert told["scored"] == told["distinct"] == told["candidates"] > 500_000


def test_offsets_hold_the_words_that_the_network_saw(told: dict[str, Any]) -> None:
    assert told["sampled"] > 500
    assert told["wrong_words"] == told["lost_entities"] == 0


def test_offsets_are_exact_to_the_last_character(told: dict[str, Any]) -> None:
    assert told["last_end"] == told["characters"]


@pytest.mark.parametrize(
    ("words", "megabytes"),
    [
        (100_000, 60),
        pytest.param(2**19, 300, marks=pytest.mark.slow),
        pytest.param(10**6, 200, marks=pytest.mark.slow),
    ],
)
def test_a_text_of_the_shortest_words_is_tagged_in_bounded_memory(words: int, megabytes: int) -> None:
    script = Path(__file__).with_name("dense_document.py")
    command = [sys.executable, str(script), str(words)]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["growth_megabytes"] < megabytes
    assert told["entities"] == -(-words // 3)
    assert told["exact"] and told["last_end"] == told["characters"]
