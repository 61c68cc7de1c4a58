"""The steps of the Dockerfile in a fresh virtual environment: no torch, no compiler, a read-only model."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path

import pytest

import tiny
from places import ROOT
from spanwright import artifact
from spanwright.predicting.onnx.export import export
from spanwright.predicting.tagger import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TEXT = "p53 in the beta cells of mice"
LARGEST = 350 * 1024 * 1024
"""Bytes of the environment."""


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile: their names and what follows."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    pairs = (line.partition(" ") for line in text.splitlines() if line.strip())
    return [(name, rest.strip()) for name, _, rest in pairs]


def only(name: str) -> str:
    """What follows the one instruction of a name."""
    (found,) = (rest for each, rest in instructions() if each == name)
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first stage of the Dockerfile makes, in folders of this test."""
    folder = tmp_path_factory.mktemp("deployment")
    places = {"/source": "source", "/opt/spanwright": "environment", "/wheels": "wheels"}
    places = {old: str(folder / new) for old, new in places.items()}
    for name, rest in instructions()[1:]:
        if name == "FROM":
            break
        take_step(
            name, reduce(lambda text, place: text.replace(*place), places.items(), rest), folder / "source"
        )
    made = folder / "environment"
    assert sum(file.lstat().st_size for file in made.rglob("*") if file.is_file()) < LARGEST
    return made


def take_step(name: str, rest: str, source: Path) -> None:
    """Take a step of the first stage; `source` is its working directory."""
    if name == "WORKDIR":
        Path(rest).mkdir()
    elif name == "COPY":
        *copied, to = rest.split()
        for each in copied:
            one = ROOT / each
            shutil.copytree(one, source / to) if one.is_dir() else shutil.copy(one, source / to)
    else:
        assert name == "RUN"
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            ["sh", "-e", "-c", rest], check=True, cwd=source, env={**own_variables(), "PATH": path}
        )


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


def test_there_is_no_torch_and_what_needs_it_says_how_to_get_it(environment: Path, tmp_path: Path) -> None:
    listed = subprocess.run([environment / "bin" / "pip", "list"], capture_output=True, text=True, check=True)
    assert not re.search(r"^(torch|transformers|hatchling|editables) ", listed.stdout, re.MULTILINE)
    artifact.save(tiny.model(), tmp_path / "model")  # without graphs
    (tmp_path / "one.txt").write_text(TEXT, encoding="utf-8")
    done = run(environment, "tag", str(tmp_path / "model"), str(tmp_path / "one.txt"))
    assert done.returncode == 2
    assert done.stderr.strip().endswith("Install it with: pip install 'spanwright[train]'")
    files = ("--train", "missing.jsonl", "--dev", "missing.jsonl", "--out", str(tmp_path / "run"))
    done = run(environment, "train", "plain", *files)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("Install it with: pip install 'spanwright[minilm]'")


def test_a_file_is_tagged_as_torch_does(environment: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(TEXT, encoding="utf-8")
    done = run(environment, "tag", str(model), str(tmp_path / "one.txt"))
    assert done.returncode == 0, done.stderr
    found = [(each["start"], each["end"], each["type"]) for each in json.loads(done.stdout)["entities"]]
    expected = load(model, "torch").tag(TEXT).entities
    assert found == [(each.start, each.end, each.type) for each in expected] != []


@contextmanager
def service(environment: Path, model: Path, token: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The service as the image starts it, at a free port."""
    command = [*json.loads(only("ENTRYPOINT")), *json.loads(only("CMD")), "--port", "0"]
    places = {"spanwright": environment / "bin" / "spanwright", "/model": model, "/run/secrets/token": token}
    assert places.keys() <= set(command)
    words = [str(places.get(word, word)) for word in command]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=own_variables()) as started:
        try:
            assert started.stderr is not None
            said = iter(started.stderr.readline, "")
            address = next(found for line in said if (found := re.search(r"http://\S+:(\d+)", line)))
            yield started, int(address[1])
        finally:
            started.kill()


def health(environment: Path, port: int) -> int:
    """The exit code of the image's health check."""
    check = json.loads(only("HEALTHCHECK").partition("CMD ")[2])
    assert check[0] == "python" and ":8000/" in check[-1]
    check = [str(environment / "bin" / "python"), *check[1:-1], check[-1].replace(":8000/", f":{port}/")]
    return subprocess.run(check, capture_output=True, env=own_variables()).returncode


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
        assert health(environment, port) == 0
        assert ask(port, "/tag", body={"text": TEXT})[0] == 401
        status, answer = ask(port, "/tag", "secret", {"text": TEXT})
        assert status == 200 and json.loads(answer)["documents"][0]["entities"]
        started.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert started.wait(timeout=60) == 0 and time.monotonic() - began < 30
    assert health(environment, port) != 0
