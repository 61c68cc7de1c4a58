"""The wheel: built, installed into an empty environment outside the repository, and used."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from places import ROOT


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build", reason="build is not installed")
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (found,) = out.glob("*.whl")
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    bin = tmp_path / "venv" / "bin"
    run(bin / "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    version = run(bin / "spanwright", "--version", cwd=tmp_path)
    assert wheel.name.startswith(f"spanwright-{version.split()[1]}-")
    run(bin / "spanwright", "corpus", "sample", "corpus", cwd=tmp_path)
    run(bin / "spanwright", "corpus", "convert", "corpus/dev.jsonl", "--out", "dev.pubtator", cwd=tmp_path)
    assert "FAILED" not in run(bin / "spanwright", "doctor", cwd=tmp_path)
    assert "plain" in run(bin / "spanwright", "recipes", cwd=tmp_path)
