"""Runs services for tests: in a thread of this process, where they can be looked into, or as a process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from places import ROOT
from spanwright.linking.linker import Linker
from spanwright.predicting.tagger import Tagger
from spanwright.service import running
from spanwright.service.answers import Service
from spanwright.service.limits import ServiceLimits
from spanwright.service.metrics import Metrics
from spanwright.service.models import serve_with
from spanwright.text import Document

PATIENCE = 60.0
"""Seconds that tests wait for what comes at once unless the machine is very busy."""


WORDS = ("cells", "p53", "of", "beta-catenin", "kinase.", "TNFα", "2.5", "\u200b", "😀")


def texts(count: int, *, seed: int = 0, longest: int = 30) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(0, longest))) for _ in range(count)]


@dataclass(frozen=True)
class Served:
    """A service in a thread, and a client of it."""

    service: Service
    port: int
    client: httpx.Client

    def tag(self, **request: Any) -> httpx.Response:
        return self.client.post("/tag", json=request)

    def metric(self, line: str) -> float:
        """The value of a line of the metrics; 0 if there is none."""
        found = re.search(rf"^{re.escape(line)} (\S+)$", self.client.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0


@contextmanager
def served(
    taggers: Mapping[str, Any],
    *,
    queue: int = 64,
    batch_words: int = 2000,
    limits: ServiceLimits | None = None,
    linker: Linker | None = None,
    **settings: Any,
) -> Iterator[Served]:
    """Serve taggers by name, in a thread of this process."""
    metrics = Metrics()
    models = [
        serve_with(name, tagger, metrics, requests=queue, batch_words=batch_words, linker=linker)
        for name, tagger in taggers.items()
    ]
    service = Service(models, metrics, limits=limits or ServiceLimits(), **{"timeout": PATIENCE, **settings})
    listening = running.listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    servers: list[Any] = []
    thread = threading.Thread(
        target=lambda: asyncio.run(running.serve(service, listening, on_start=servers.append))
    )
    thread.start()
    try:
        wait_until(lambda: bool(servers) and servers[0].started)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            yield Served(service, port, client)
    finally:
        servers[0].should_exit = True
        thread.join(PATIENCE)
    assert not thread.is_alive()


@contextmanager
def process(model: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`spanwright serve` as a process of its own, once it is ready, and its port."""
    command = [sys.executable, "-c", "from spanwright.cli.main import main; main()", "serve", str(model)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen(
        [*command, "--port", "0", *map(str, arguments)], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield started, _port(started)
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate(timeout=PATIENCE)


def _port(started: subprocess.Popen[str]) -> int:
    assert started.stderr is not None
    told = ""
    for line in started.stderr:
        told += line
        if found := re.search(r"^serving .* at http://127\.0\.0\.1:(\d+)$", line):
            return int(found[1])
    raise AssertionError(told)


@dataclass
class GatedTagger:
    """A tagger that tags only while its gate is open, and notes what it was given."""

    inner: Tagger
    gate: threading.Event = field(default_factory=threading.Event)
    calls: list[list[str]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    """The text of each step of long ones."""

    @property
    def model(self) -> Any:
        return self.inner.model

    def tag(self, source: str | list[Document]) -> Any:
        if isinstance(source, str):  # the text with which a service warms up
            return self.inner.tag(source)
        self.calls.append([document.text for document in source])
        assert self.gate.wait(PATIENCE)
        if "poison" in self.calls[-1]:
            raise RuntimeError("poisoned")
        return self.inner.tag(source)

    def tag_in_steps(self, documents: list[Document]) -> Generator[None, None, list[Document]]:
        [document] = documents
        steps = self.inner.tag_in_steps(documents)
        while True:
            self.steps.append(document.text)
            assert self.gate.wait(PATIENCE)
            if document.text.startswith("poison"):
                raise RuntimeError("poisoned")
            try:
                next(steps)
            except StopIteration as end:
                return list(end.value)
            yield


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that must come true."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def head(port: int, *, length: int | None, path: str = "/tag") -> bytes:
    """The head of a POST request; without a length, its body comes in chunks."""
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{size}\r\n\r\n"
    ).encode()


@contextmanager
def connection(port: int, *, seconds: float = PATIENCE) -> Iterator[socket.socket]:
    """A bare connection to a service, made within so many seconds."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as opened:
        opened.settimeout(PATIENCE)
        yield opened


def answer_of(opened: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer on a connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        part = opened.recv(65536)
        assert part, f"the connection ended after {received!r}"
        received += part
    status, headers, body = _parsed(received)
    while len(body) < int(headers.get("content-length", 0)):
        part = opened.recv(65536)
        assert part, f"the connection ended after {len(body)} bytes of the body"
        body += part
    return status, headers, body


def _parsed(received: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(": ") for line in lines)
    return int(first.split()[1]), {name.lower(): value for name, _, value in fields}, body


@dataclass(frozen=True)
class Asked:
    """How one of many concurrent requests went."""

    status: int
    headers: dict[str, str]
    seconds: float


async def ask(port: int, request: bytes) -> Asked:
    """Send a whole request on a connection of its own and read the answer to its end."""
    started = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        await writer.drain()
        status, headers, _ = _parsed(await reader.readuntil(b"\r\n\r\n"))
        await reader.readexactly(int(headers["content-length"]))
        return Asked(status, headers, time.monotonic() - started)
    finally:
        writer.transport.abort()


def tag_request(port: int, **request: Any) -> bytes:
    """The bytes of a request to tag."""
    body = json.dumps(request).encode()
    return head(port, length=len(body)) + body


def resident_megabytes(process_id: int) -> float:
    """Memory of a process that is in use now."""
    return _megabytes(process_id, "VmRSS:")


def most_megabytes(process_id: int) -> float:
    """The most memory that a process had in use since that was forgotten."""
    return _megabytes(process_id, "VmHWM:")


def forget_most_megabytes(process_id: int) -> None:
    """From now on, look at the most memory of a process again."""
    Path(f"/proc/{process_id}/clear_refs").write_text("5")


def _megabytes(process_id: int, name: str) -> float:
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
