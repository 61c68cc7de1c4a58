"""The steps of the Dockerfile in a fresh virtual environment: no torch, no compiler, a read-only model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tiny
from conftest import ROOT
from spanwright import artifact
from spanwright.predicting.onnx.export import export
from spanwright.predicting.tagger import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TEXT = "p53 in the beta cells of mice"
LARGEST = 350 * 1024 * 1024
"""Bytes of the environment without what serves."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel of the project, as the Dockerfile makes it."""
    folder = tmp_path_factory.mktemp("deployment")
    wheels, made = folder / "wheels", folder / "environment"
    here = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*here, "-w", str(wheels), str(ROOT)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    install = [str(made / "bin" / "pip"), "install", "--quiet", "--only-binary", ":all:"]
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*install, "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    assert sum(file.lstat().st_size for file in made.rglob("*") if file.is_file()) < LARGEST
    subprocess.run([*install, "-c", str(ROOT / "constraints.txt"), f"{wheel}[serve]"], check=True)
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported model whose files nobody may write."""
    folder = tmp_path_factory.mktemp("served") / "model"
    artifact.save(tiny.model(), folder)
    export(folder, folder)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    return folder


def run(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(environment / "bin" / "spanwright"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=own_variables())


def own_variables() -> dict[str, str]:
    """The variables of this process without those that lead to its modules."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_there_is_no_torch_and_a_training_says_how_to_get_it(environment: Path) -> None:
    listed = subprocess.run([environment / "bin" / "pip", "list"], capture_output=True, text=True, check=True)
    assert not re.search(r"^(torch|transformers) ", listed.stdout, re.MULTILINE)
    done = run(
        environment, "train", "plain", "--train", "missing.jsonl", "--dev", "missing.jsonl", "--out", "x"
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("Install it with: pip install 'spanwright[train]'")


def test_a_file_is_tagged_as_torch_does(environment: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(TEXT, encoding="utf-8")
    done = run(environment, "tag", str(model), str(tmp_path / "one.txt"))
    assert done.returncode == 0, done.stderr
    found = [(each["start"], each["end"], each["type"]) for each in json.loads(done.stdout)["entities"]]
    expected = load(model, "torch").tag(TEXT).entities
    assert found == [(each.start, each.end, each.type) for each in expected] != []


@contextmanager
def service(environment: Path, model: Path, token: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [environment / "bin" / "spanwright", "serve", model, "--port", "0", "--token-file", token]
    started = subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, text=True, env=own_variables()
    )
    try:
        assert started.stderr is not None
        line = started.stderr.readline()
        yield started, int(line.rpartition(":")[2])
    finally:
        started.kill()
        started.wait()


def ask(port: int, path: str, token: str | None = None, body: object = None) -> tuple[int, str]:
    headers = {"Content-Type": "application/json"}
    headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_the_service_is_ready_answers_and_ends(environment: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    with service(environment, model, tmp_path / "token") as (started, port):
        assert ask(port, "/health")[0] == ask(port, "/ready")[0] == 200
        assert ask(port, "/tag", body={"text": TEXT})[0] == 401
        status, answer = ask(port, "/tag", "secret", {"text": TEXT})
        assert status == 200 and json.loads(answer)["documents"][0]["entities"]
        started.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert started.wait(timeout=60) == 0 and time.monotonic() - began < 30
