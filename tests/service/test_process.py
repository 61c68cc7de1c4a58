"""Promises 13, 16, 26 and 37 on a service that is a process of its own: load, long texts, signals, memory."""

from __future__ import annotations

import asyncio
import signal
import socket
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

import tiny
from service.serving import (
    PATIENCE,
    Asked,
    answer_of,
    ask,
    connection,
    forget_most_megabytes,
    head,
    most_megabytes,
    process,
    resident_megabytes,
    tag_request,
    wait_until,
)
from spanwright import artifact

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from /proc/PID/status"
)

QUEUE = 6
SENTENCE = "p53 and the beta cells of mice with 2.5 kinase, "


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "model"
    artifact.save(tiny.model(), folder)
    return folder


@pytest.fixture(scope="module")
def service(model: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with process(model, "--queue", QUEUE, "--threads", 1, "--timeout", 300) as (started, port):
        yield started, port


async def looks_at_health(port: int, is_over: Callable[[], bool]) -> float:
    """The seconds within which 95 of 100 looks at the health were answered, until something is over."""
    seconds: list[float] = []
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    while len(seconds) < 20 or not is_over():
        seconds.append((await ask(port, request)).seconds)
        await asyncio.sleep(0.02)
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


async def overload(port: int, text: str, clients: int) -> tuple[list[Asked], float]:
    """Many requests at the same time, and the health meanwhile."""
    request = tag_request(port, text=text)

    async def everyone() -> list[Asked]:
        return await asyncio.gather(*(ask(port, request) for _ in range(clients)))

    asking = asyncio.create_task(everyone())
    health = await looks_at_health(port, asking.done)
    return await asking, health


@pytest.mark.parametrize(
    ("clients", "bytes_"), [(40, 10_000), pytest.param(400, 100_000, marks=pytest.mark.slow)]
)
def test_overload_is_refused_and_not_queued_without_end(
    service: tuple[subprocess.Popen[str], int], clients: int, bytes_: int
) -> None:
    started, port = service
    text = (SENTENCE * (bytes_ // len(SENTENCE) + 1))[:bytes_]
    # The memory that one such text takes stays with the process, for the next.
    assert asyncio.run(ask(port, tag_request(port, text=text))).status == 200
    # What a look takes when there is nothing to do is not the service's fault, but that of a busy machine.
    idle = asyncio.run(looks_at_health(port, lambda: True))
    before, began = resident_megabytes(started.pid), time.monotonic()
    asked, health = asyncio.run(overload(port, text, clients))
    growth, took = resident_megabytes(started.pid) - before, time.monotonic() - began
    statuses = Counter(each.status for each in asked)
    assert statuses.keys() == {200, 503}
    assert statuses[200] >= QUEUE
    assert all(1 <= int(each.headers["retry-after"]) <= 60 for each in asked if each.status == 503)
    assert growth < 50
    assert health < 0.25 + idle
    # Nobody waits for more than those before it, each as long as the mean; a half more, as none is the mean.
    assert max(each.seconds for each in asked if each.status == 200) < 1.5 * QUEUE * took / statuses[200]


def burst(started: subprocess.Popen[str], port: int, clients: int) -> float:
    """Clients with large bodies that all wait when the service looks; by how much its memory grew at most."""
    request = head(port, length=2_000_000) + b"a" * 200_000
    with ExitStack() as stack:
        started.send_signal(signal.SIGSTOP)
        stack.callback(started.send_signal, signal.SIGCONT)
        opened = [stack.enter_context(connection(port)) for _ in range(clients)]
        for each in opened:
            each.sendall(request)
        forget_most_megabytes(started.pid)
        before = resident_megabytes(started.pid)
        started.send_signal(signal.SIGCONT)
        assert {answer_of(each)[0] for each in opened} == {413}
        return most_megabytes(started.pid) - before


def test_bodies_of_clients_who_come_at_the_same_moment_are_not_all_read_at_once(model: Path) -> None:
    with process(model, "--threads", 1) as (started, port):
        burst(started, port, 600)  # what the connections take stays with the process
        assert burst(started, port, 600) < 20


def test_a_signal_ends_the_service_when_all_inside_are_answered(model: Path) -> None:
    with process(model, "--threads", 1, "--batch-words", 100) as (started, port), connection(port) as opened:
        texts = [SENTENCE * 5] * 100
        opened.sendall(tag_request(port, texts=texts))
        _wait_until_inside(port)
        signalled = time.monotonic()
        started.send_signal(signal.SIGTERM)
        received = opened.recv(65536)
        assert received.startswith(b"HTTP/1.1 200 ")
        while opened.recv(65536):
            pass
        assert started.wait(PATIENCE) == 0
        assert time.monotonic() - signalled < 10


def _wait_until_inside(port: int) -> None:
    """Wait until a request has come inside; it may have been answered already."""
    names = ("spanwright_queue_requests{", "spanwright_documents_total{")
    wait_until(lambda: any(figure > 0 for figure in figures(port, names)))


def figures(port: int, names: tuple[str, ...]) -> list[float]:
    """The values of all lines of the metrics that begin with one of these."""
    with connection(port) as opened:
        opened.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        lines = answer_of(opened)[2].decode().splitlines()
    return [float(line.split()[-1]) for line in lines if line.startswith(names)]


def ready(port: int) -> tuple[int, bytes]:
    """What a new connection gets to know."""
    with connection(port) as opened:
        opened.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, _, body = answer_of(opened)
    return status, body


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_service_says_that_it_is_about_to_end_before_it_closes_its_door(
    model: Path, number: signal.Signals
) -> None:
    with process(model, "--threads", 1, "--drain-seconds", 3) as (started, port):
        signalled = time.monotonic()
        started.send_signal(number)
        while (answer := ready(port))[0] == 200:
            assert time.monotonic() - signalled < 3
        assert answer == (503, b'{"status":"draining"}')
        # Whoever has not seen it yet is still answered.
        assert asyncio.run(ask(port, tag_request(port, text="p53"))).status == 200
        assert started.wait(PATIENCE) == 0
        assert 3 <= time.monotonic() - signalled < 13
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


async def small_requests(
    process_id: int, port: int, is_over: Callable[[], bool]
) -> tuple[list[float], float]:
    """Seconds of small requests that come one after another, until something is over, and the most memory."""
    seconds: list[float] = []
    most = 0.0
    while not is_over():
        asked = await ask(port, tag_request(port, text="p53 and the beta cells of mice"))
        assert asked.status == 200
        seconds.append(asked.seconds)
        most = max(most, resident_megabytes(process_id))
        await asyncio.sleep(0.05)
    return seconds, most


@pytest.mark.slow
def test_a_text_of_a_megabyte_holds_up_nobody_and_is_given_up_when_its_client_leaves(model: Path) -> None:
    # A wide encoder would take minutes for such a text; even a tiny one takes long enough to see.
    text = "a " * (2**19 - 10)
    limits = ("--request-words", 10**6, "--timeout", 300)
    with process(model, "--threads", 1, *limits) as (started, port):
        before = resident_megabytes(started.pid)
        deadline = time.monotonic() + 8
        with connection(port) as opened:
            opened.sendall(tag_request(port, text=text))
            seconds, most = asyncio.run(
                small_requests(started.pid, port, lambda: time.monotonic() > deadline)
            )
        left = time.monotonic()
        while any(figures(port, ("spanwright_queue_requests{", "spanwright_batch_running_seconds{"))):
            assert time.monotonic() - left < 2
        assert statistics.quantiles(seconds, n=20, method="inclusive")[-1] < 2
        assert len(seconds) > 5
        assert most - before < 300


@pytest.mark.slow
def test_what_cannot_be_answered_in_ten_seconds_is_refused(model: Path) -> None:
    # A text that takes longer than that, and clients that hold the door: a half sent body, an unread answer.
    with (
        process(model, "--threads", 1, "--timeout", 300, "--request-words", 10**6) as (started, port),
        connection(port) as waiting,
        connection(port) as sending,
        connection(port) as idle,
    ):
        idle.sendall(b"GET /hea")
        sending.sendall(head(port, length=100) + b"{")
        waiting.sendall(tag_request(port, texts=[SENTENCE * 2000] * 10))
        _wait_until_inside(port)
        signalled = time.monotonic()
        started.send_signal(signal.SIGTERM)
        assert waiting.recv(65536).startswith(b"HTTP/1.1 503 ")
        assert started.wait(PATIENCE) == 0
        assert time.monotonic() - signalled < 10


@pytest.mark.slow
def test_an_idle_service_ends_at_once(model: Path) -> None:
    with process(model) as (started, port):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            assert client.get("/ready").status_code == 200
            started.send_signal(signal.SIGINT)
            assert started.wait(PATIENCE) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        assert started.stderr is not None and started.stderr.read() == ""
