"""`spanwright doctor` tells what is installed, goes on after a failure, and the sample can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

import spanwright
from cli.running import run
from spanwright import sample
from spanwright.cli import doctor


def test_doctor_tells_versions_device_encoders_models_and_disk() -> None:
    outcome = run("doctor")
    lines = dict(line.split(maxsplit=1) for line in outcome.stdout.splitlines())
    assert outcome.code == 0
    assert lines["spanwright"] == spanwright.__version__
    assert "numpy " in lines["packages"] and "GB free" in lines["disk"]
    assert lines.keys() >= {"python", "device", "threads", "encoders", "models", "tagging"}
    assert "FAILED" not in outcome.stdout


def test_what_fails_is_told_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[str]:
        raise OSError("no such disk")

    monkeypatch.setattr(doctor, "installed_names", broken)
    outcome = run("doctor")
    assert outcome.code == 0
    assert outcome.stdout.count("FAILED: OSError: no such disk") == 2  # models, and tagging
    assert "GB free" in outcome.stdout


def test_the_sample_is_written_to_a_folder(tmp_path: Path) -> None:
    outcome = run("corpus", "sample", tmp_path / "new" / "corpus")
    assert outcome.code == 0
    for split, path in sample.files().items():
        assert (tmp_path / "new" / "corpus" / f"{split}.jsonl").read_bytes() == path.read_bytes()
