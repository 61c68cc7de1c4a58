"""Clients of a service for load tests: what they ask, and how they are answered."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import time
from collections.abc import Sequence
from typing import Any

from spanwright.text import Document, words

KINDS = {
    "one": (70, 1),
    "several": (10, 5),
    "long": (2, 20),
    "columns": (8, 1),
    "wrong": (5, 0),
    "leaves": (5, 1),
}
"""Kinds of requests: how many of a hundred there are, and of how many documents each is."""
MEGABYTES = ("dense", "huge")
"""Requests of a megabyte: as many words as that can hold, which are refused unless --request-words allows
them, and as many documents, whose client gives up."""
PATIENCE = {"leaves": 0.02, "huge": 5.0}
"""Seconds after which clients of these kinds leave."""
_MEGABYTE = 2**20 - 100
_MEMORY = re.compile(rb"^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)", re.MULTILINE)
_INSIDE = re.compile(rb"^spanwright_queue_requests(?:\{[^}]*\})? (\S+)", re.MULTILINE)


def body(request: dict[str, Any]) -> bytes:
    """A request to tag, as it goes over the wire."""
    content = json.dumps(request).encode()
    lines = ("POST /tag HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    return "\r\n".join((*lines, f"Content-Length: {len(content)}", "", "")).encode() + content


class Client:
    """A connection that is kept for the next request."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and content of the answer to a request."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        content = await reader.readexactly(int(length[1]) if length else 0)
        if b"connection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1]), content

    def close(self) -> None:
        """Leave, even if an answer is on its way."""
        if self._streams is not None:
            self._streams[1].transport.abort()
        self._streams = None


async def closed_loop(port: int, bodies: Sequence[bytes], clients: int, seconds: float) -> list[int]:
    """The numbers of the requests of clients who ask again as soon as they are answered, for so long."""
    answered: list[int] = []
    deadline = time.perf_counter() + seconds
    following = iter(range(10**9))

    async def work() -> None:
        client = Client(port)
        while time.perf_counter() < deadline:
            number = next(following) % len(bodies)
            status, content = await client.ask(bodies[number])
            if status != 200:
                raise SystemExit(f"a request was answered with {status}: {content!r}")
            answered.append(number)
        client.close()

    await asyncio.gather(*(work() for _ in range(clients)))
    return answered


def request(kind: str, documents: Sequence[Document], generator: random.Random) -> dict[str, Any]:
    """A request of a kind, of documents drawn by chance."""
    count = KINDS[kind][1] if kind in KINDS else 0
    texts = [document.text for document in generator.choices(documents, k=count)]
    match kind:
        case "several":
            return {"texts": texts, "minimum_confidence": 0.5}
        case "columns":
            return {"text": texts[0], "format": "conll"}
        case "wrong":
            return {"txt": "no such field"}
        case "dense":
            return {"text": "a " * (_MEGABYTE // 2)}
        case "huge":
            return {"text": _repeated(documents)}
    return {"text": " ".join(texts)}


def _repeated(documents: Sequence[Document]) -> str:
    """The texts of documents, again and again, up to a megabyte of a body."""
    once = " ".join(document.text for document in documents)
    whole = json.dumps(f"{once} " * (_MEGABYTE // len(once) + 1))[1:]
    return str(json.loads(f'"{whole[:_MEGABYTE].rpartition(" ")[0]}"'))


async def megabytes(port: int) -> float:
    """Memory of a service, summed over its workers, which count the weights that they share each."""
    return await _figure(port, _MEMORY) / 2**20


async def inside(port: int) -> float:
    """Requests that wait or are being tagged."""
    return await _figure(port, _INSIDE)


async def _figure(port: int, pattern: re.Pattern[bytes]) -> float:
    client = Client(port)
    _, figures = await client.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.close()
    return sum(map(float, pattern.findall(figures)))


def cut(documents: Sequence[Document], size: int) -> list[Document]:
    """Documents of so many words each, cut from given ones; what is left over of each is dropped."""
    return [
        Document(f"{document.id}-{start}", document.text[found[start][0] : found[start + size - 1][1]])
        for document in documents
        for found in (words(document),)
        for start in range(0, len(found) - size + 1, size)
    ]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Some quantiles of values."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {name: round(cuts[place - 1], 4) for name, place in (("half", 50), ("95 %", 95), ("99 %", 99))} | {
        "most": round(max(values), 4)
    }
