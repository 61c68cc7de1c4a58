"""Several workers behind one port: all of them answer, tell of each other, and end together."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import torch

import tiny
from places import ROOT
from service.serving import PATIENCE, connection, process, tag_request, wait_until
from spanwright import artifact
from spanwright.predicting.tagger import load
from spanwright.service.metrics import Metrics
from spanwright.service.models import use_mapped_weights
from spanwright.service.worker_figures import WorkerFigures

needs_proc = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="maps are read from /proc")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "model"
    artifact.save(tiny.model(), folder)
    return folder


def is_mapped(process_id: int | str, file: Path) -> bool:
    with suppress(OSError):  # the process has ended meanwhile
        return str(file) in Path(f"/proc/{process_id}/maps").read_text()
    return False


@needs_proc
def test_mapped_weights_are_those_of_the_file_and_of_no_process_alone(model: Path) -> None:
    tagger = load(model)
    before = {name: value.clone() for name, value in tagger.model.network.state_dict().items()}
    found = tagger.tag("p53 in cells").entities
    use_mapped_weights(tagger, model)
    file = (model / "model.safetensors").resolve()
    ranges = [
        line.split()[0] for line in Path("/proc/self/maps").read_text().splitlines() if str(file) in line
    ]
    borders = [tuple(int(end, 16) for end in each.split("-")) for each in ranges]
    for name, value in tagger.model.network.state_dict().items():
        assert torch.equal(value, before[name])
        assert any(start <= value.data_ptr() < end for start, end in borders), name
    assert tagger.tag("p53 in cells").entities == found


def test_weights_of_other_shapes_stay_as_they_were_loaded(model: Path, tmp_path: Path) -> None:
    artifact.save(tiny.model(("Cell", "Gene", "Drug"), seed=5), tmp_path / "other")
    tagger = load(model)
    before = {name: value.clone() for name, value in tagger.model.network.state_dict().items()}
    use_mapped_weights(tagger, tmp_path / "other")
    after = tagger.model.network.state_dict()
    assert {name for name in after if after[name].shape != before[name].shape} == set()
    assert any(not torch.equal(after[name], before[name]) for name in after)
    assert any(torch.equal(after[name], before[name]) for name in after if "scorer" in name)


def test_the_figures_of_all_workers_stand_together_by_family(tmp_path: Path) -> None:
    made = [(Metrics(), number) for number in (1, 2)]
    for metrics, number in made:
        for _ in range(number):
            metrics.count_request("/tag", "200", 0.01)
        WorkerFigures(metrics, tmp_path, number).leave()
    text = WorkerFigures(made[0][0], tmp_path, 1).text().decode()
    counted = re.findall(
        r'^spanwright_requests_total\{worker="(\d)",path="/tag",status="200"\} (\S+)$', text, re.M
    )
    assert counted == [("1", "1.0"), ("2", "2.0")]
    assert re.findall(r'^process_resident_memory_bytes\{worker="(\d)"\}', text, re.M) == ["1", "2"]
    helped = re.findall(r"^# HELP (\S+)", text, re.M)
    assert len(helped) == len(set(helped)) > 5
    families = [line.split("{")[0] for line in text.splitlines() if not line.startswith("#")]
    runs = [name for place, name in enumerate(families) if place == 0 or families[place - 1] != name]
    assert len([name for name in runs if name == "spanwright_requests_total"]) == 1


@pytest.fixture(scope="module")
def service(model: Path) -> Iterator[tuple[int, int]]:
    """The id of the first process, and the port."""
    with process(model, "--workers", 2, "--threads", 1, "--drain-seconds", 0) as (started, port):
        yield started.pid, port


def workers_of(first: int) -> list[int]:
    """The processes that answer: those children that have the model's weights."""
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [int(child) for child in children if is_mapped(child, Path("model.safetensors"))]


def figures(port: int) -> str:
    return httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text


def tag(port: int) -> int:
    """The status of a request on a connection of its own."""
    return httpx.post(f"http://127.0.0.1:{port}/tag", json={"text": "p53"}, timeout=PATIENCE).status_code


def serving(port: int) -> set[str]:
    """The workers that have answered requests to tag."""
    found = re.findall(
        r'^spanwright_requests_total\{worker="(\d)",path="/tag",status="200"', figures(port), re.M
    )
    return set(found)


@needs_proc
@pytest.mark.slow
def test_all_workers_answer_with_one_copy_of_the_weights(service: tuple[int, int], model: Path) -> None:
    first, port = service
    wait_until(lambda: tag(port) == 200 and serving(port) == {"1", "2"})
    assert len(workers_of(first)) == 2


@needs_proc
@pytest.mark.slow
def test_a_worker_that_dies_is_started_again(service: tuple[int, int]) -> None:
    first, port = service
    before = workers_of(first)
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: len(set(workers_of(first)) - set(before)) == 1)
    assert tag(port) == 200


@needs_proc
@pytest.mark.slow
def test_workers_end_with_the_first_process(model: Path) -> None:
    with process(model, "--workers", 2, "--threads", 1) as (started, port):
        workers = workers_of(started.pid)
        began = time.monotonic()
        started.send_signal(signal.SIGTERM)
        assert started.wait(PATIENCE) == 0
        assert time.monotonic() - began < 13
        assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def is_refused(port: int) -> bool:
    try:
        with connection(port):
            return False
    except ConnectionRefusedError:
        return True


@needs_proc
@pytest.mark.slow
def test_connections_are_refused_while_workers_still_answer_what_they_have(model: Path) -> None:
    options = ("--workers", 2, "--threads", 1, "--drain-seconds", 0, "--timeout", 300)
    with process(model, *options) as (started, port), connection(port) as waiting:
        waiting.sendall(tag_request(port, texts=["p53 and the beta cells of mice " * 2500] * 10))
        inside = re.compile(r'^spanwright_queue_requests\{worker="\d",model="\w+"\} 1', re.M)
        wait_until(lambda: inside.search(figures(port)) is not None)
        started.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(port))
        waiting.setblocking(False)
        with pytest.raises(BlockingIOError):
            waiting.recv(1)
        assert started.wait(PATIENCE) == 0


LOADING = """
import socket, time
from spanwright.service.workers import supervise

def work(number, on_ready):
    print("loading", number, flush=True)
    time.sleep(600)

if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listening:
        supervise(work, 2, listening, drain_seconds=60, on_ready=lambda: print("ready"), on_death=print)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_while_workers_are_loading(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "loading.py"
    script.write_text(LOADING)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen([sys.executable, str(script)], text=True, env=environment, **streams)
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "loading 1\n"
        started.send_signal(number)
        assert started.communicate(timeout=30) == ("", "")
        assert started.returncode == 0
    finally:
        started.kill()
        started.communicate()


@needs_proc
@pytest.mark.slow
def test_workers_end_when_the_first_process_is_killed(model: Path) -> None:
    with process(model, "--workers", 2, "--threads", 1) as (started, _):
        workers = workers_of(started.pid)
        started.kill()
        wait_until(lambda: not any(Path(f"/proc/{worker}/maps").exists() for worker in workers))


@pytest.mark.slow
def test_what_keeps_workers_from_starting_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as told, process(tmp_path, "--workers", 2):
        pass
    assert str(told.value).count("not a model directory") == 1
