"""Any model directory is loaded or refused, by a clear message, in the time and memory of its weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tiny
from reliability import broken_models
from reliability.broken_models import Mutation
from spanwright import artifact

SECONDS = 2.0
MEGABYTES = 200
SCRIPT = Path(broken_models.__file__).with_name("load_folders.py")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "model"
    artifact.save(tiny.model(), folder)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other") / "model"
    artifact.save(tiny.model(("Drug", "Cell"), family="byte-level", seed=1), folder)
    return folder


def loaded(good: Path, mutations: list[Mutation], place: Path) -> list[dict[str, Any]]:
    """What came of each mutation of a good folder."""
    folders = [
        broken_models.apply(mutation, good, place / str(number)) for number, mutation in enumerate(mutations)
    ]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "RUST_BACKTRACE": "0"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, (good, good, *folders))],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        env=environment,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(mutations) + 1, f"ended with {mutations[len(lines) - 1].name}"
    return lines


def wrong(mutation: Mutation, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What is against the promises."""
    complaints = {
        "took too long": found["seconds"] > SECONDS,
        "took too much memory": found["megabytes"] > MEGABYTES,
        "ended in an error that is not ours": found["error"] and not found["ours"],
        "says more than a line": found["error"] and (len(found["error"]) > 1500 or "\n" in found["error"]),
        "does not name the folder": found["error"] and found["folder"] not in found["error"],
        "was loaded": mutation.refused and not found["error"],
        "answers otherwise": not (mutation.fits or found["error"])
        and found["answers"] != expected["answers"],
    }
    return [f"{mutation.name} {text}: {found}" for text, holds in complaints.items() if holds]


def check(good: Path, mutations: list[Mutation], place: Path) -> None:
    expected, *found = loaded(good, mutations, place)
    assert len(expected["answers"]) > 3
    pairs = zip(mutations, found, strict=True)
    assert [text for mutation, each in pairs for text in wrong(mutation, each, expected)] == []


def test_changed_folders_are_refused_early_or_the_change_makes_no_difference(
    good: Path, other: Path, tmp_path: Path
) -> None:
    # At once, as most of the time goes into the start of the process that loads them.
    check(good, [*broken_models.by_hand(other), *broken_models.blind(40, 1, other)], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_more_changed_folders_are_refused_or_the_change_makes_no_difference(
    good: Path, other: Path, tmp_path: Path, seed: int
) -> None:
    check(good, list(broken_models.blind(200, seed, other)), tmp_path)
