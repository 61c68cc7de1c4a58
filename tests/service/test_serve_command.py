"""`spanwright serve`: names of models, the token, and calls that are wrong."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import pytest

import tiny
from cli.running import run
from spanwright import artifact
from spanwright.cli import serve
from spanwright.cli.serve import TOKEN_VARIABLE, read_token
from spanwright.errors import InputError
from spanwright.service import starting
from spanwright.service.metrics import Metrics
from spanwright.service.models import ServedModel, load_models, named_paths


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "plain" / "model"
    folder.parent.mkdir()
    artifact.save(tiny.model(), folder)
    return folder


def test_a_model_has_the_name_of_its_folder_or_of_its_run(tmp_path: Path) -> None:
    arguments = [f"{tmp_path}/plain/model", f"{tmp_path}/genes", f"cells={tmp_path}/other/model"]
    assert named_paths(arguments) == {
        "plain": tmp_path / "plain/model",
        "genes": tmp_path / "genes",
        "cells": tmp_path / "other/model",
    }


def test_a_folder_whose_name_has_an_equals_sign_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    assert named_paths([f"{tmp_path}/a=b"]) == {"a=b": tmp_path / "a=b"}


def test_two_models_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two models have the name 'plain'; give each its own as NAME=PATH"):
        named_paths(["one/plain/model", "two/plain/model"])


def test_the_first_model_is_the_first_that_was_named(model: Path) -> None:
    paths = {"b": model, "a": model}
    loaded = load_models(paths, Metrics(), requests=1, batch_words=1)
    assert [each.name for each in loaded] == ["b", "a"]
    for each in loaded:
        each.batcher.stop()


def test_the_thread_that_loads_models_ends_before_the_first_request(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its threads of OpenMP would stay with it, and all others would wait for work asleep: twice as slow."""
    loaders: list[threading.Thread] = []

    def load(*given: object, **options: object) -> list[ServedModel]:
        loaders.append(threading.current_thread())
        return []

    monkeypatch.setattr(starting, "load_models", load)
    monkeypatch.setattr(starting.running, "run", lambda *given: sys.exit(0))
    outcome = run("serve", model, "--port", 0)
    assert outcome.code == 0, outcome.error
    [loader] = loaders
    assert loader is not threading.main_thread() and not loader.is_alive()


def test_a_token_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("from-file\n")
    monkeypatch.setenv(TOKEN_VARIABLE, "from-environment")
    assert read_token(file) == "from-file"
    assert read_token(None) == "from-environment"
    monkeypatch.delenv(TOKEN_VARIABLE)
    assert read_token(None) is None


@pytest.mark.parametrize("token", ["", " ", "\n", "two words", "bell\a"])
def test_a_token_that_is_set_but_empty_does_not_open_the_service(
    token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    outcome = run("serve", tmp_path, "--port", 0)
    assert outcome.code == 2
    assert "\n" not in outcome.error
    assert f"${TOKEN_VARIABLE}: expected one token" in outcome.error


@pytest.mark.parametrize(("mode", "told"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_that_others_can_read_is_told(
    mode: int, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret")
    file.chmod(mode)
    assert read_token(file) == "s3cret"
    assert ("others can read the token" in capsys.readouterr().err) == told


def test_a_secret_of_a_container_may_be_read_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its user does not own the file, and could not read it otherwise."""
    monkeypatch.setattr(serve, "_SECRETS", tmp_path.resolve())
    file = tmp_path / "token"
    file.write_text("s3cret")
    file.chmod(0o644)
    assert read_token(file) == "s3cret"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("content", [b"", b" \n", b"two words", "schlüssel".encode(), b"\xff"])
def test_a_token_that_no_client_could_send_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(InputError, match="token"):
        read_token(file)


def test_a_token_file_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    outcome = run("serve", tmp_path, "--token-file", tmp_path / "nothing")
    assert outcome.code == 2
    assert "the token cannot be read" in outcome.error


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = run("serve", tmp_path, "--port", port)
    assert outcome.code == 2
    assert f"cannot listen at 127.0.0.1, port {port}" in outcome.error and "--port" in outcome.error


def test_a_folder_that_is_no_model_is_a_wrong_call(tmp_path: Path) -> None:
    outcome = run("serve", tmp_path, "--port", 0)
    assert outcome.code == 2
    assert "not a model directory" in outcome.error


def test_a_runtime_that_does_not_exist_is_a_wrong_call(model: Path) -> None:
    outcome = run("serve", model, "--port", 0, "--runtime", "nothing")
    assert outcome.code == 2
    assert "runtime 'nothing'" in outcome.error
