"""The load test runs and says what it promises; its figures are not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from places import ROOT
from spanwright import artifact


@pytest.mark.slow
def test_the_load_test_compares_speeds_and_counts_answers(tmp_path: Path) -> None:
    artifact.save(tiny.model(), tmp_path / "model")
    result = tmp_path / "result.json"
    script = [sys.executable, str(ROOT / "benchmarks" / "service_load.py"), str(tmp_path / "model")]
    short = ["--turns", "1", "--seconds", "2", "--minutes", "0.2", "--share", "0.3", "--clients", "4"]
    shorter = ["--words", "20", "--long", "2", "--megabytes", "3"]
    done = subprocess.run([*script, *short, *shorter, "--json", str(result)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(result.read_text())
    assert figures["words"] == 20 * figures["documents"] > 0
    for step, names in (("speed", ["tagger", "service"]), ("workers", ["one", "two"])):
        assert figures[step]["ratio"] > 0
        assert list(figures[step]["words_per_second"]) == names
    assert figures["long"]["huge"]["small_requests"] >= 2
    mixed = figures["mixed"]
    assert mixed["answers"]["one 200"] > 0 and mixed["server_errors_but_503"] == 0
    assert {answer.split()[0] for answer in mixed["answers"]} >= {"one", "dense", "huge"}
    failed = [answer for answer in mixed["answers"] if answer.endswith("Error")]
    assert all(answer.startswith(("leaves", "huge")) for answer in failed), "others do not leave"
    assert min(mixed["megabytes"]["over_time"]) > 0 and mixed["health_seconds"]["95 %"] > 0
