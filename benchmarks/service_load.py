"""Speed of the service beside the bare tagger, and a long run of mixed requests.

    python benchmarks/service_load.py runs/plain/model --corpus test.jsonl --minutes 10 --json result.json

First the bare tagger and the service, with clients that ask again as soon as they are answered, take turns on
the same documents: the ratio is that of the medians of words per second. Clients run on the same machine and
take their part of it. Then texts of a megabyte are asked for beside small ones, until their clients leave.
Then mixed requests come at random times, at a share of the rate that was answered.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from machine import command, machine
from spanwright import sample
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document, words

_START = "from spanwright.cli.main import main; main()"
_KINDS = {
    "one": (70, 1),
    "several": (10, 5),
    "long": (2, 20),
    "columns": (8, 1),
    "wrong": (5, 0),
    "leaves": (5, 1),
    "dense": (0.1, 0),
    "huge": (0.2, 0),
}
"""Kinds of requests: how many of a hundred there are, and of how many documents each is. The last two have a
megabyte: as many words as that can hold, which are refused unless --request-words allows them, and as many
documents, whose client gives up."""
_MEGABYTE = 2**20 - 100
_PATIENCE = {"leaves": 0.02, "huge": 5.0}
"""Seconds after which clients of these kinds leave."""
_MEMORY = re.compile(rb"^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)", re.MULTILINE)
_INSIDE = re.compile(rb"^spanwright_queue_requests(?:\{[^}]*\})? (\S+)", re.MULTILINE)
_LOOK_SECONDS = 0.05


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--corpus", type=Path, default=sample.files()["test"], help="documents to tag")
    parser.add_argument("--clients", type=int, default=16, help="clients that ask at the same time")
    parser.add_argument("--turns", type=int, default=5, help="turns of tagger and service")
    parser.add_argument("--seconds", type=float, default=20, help="length of a turn")
    parser.add_argument("--long", type=float, default=30, help="seconds until clients with a megabyte leave")
    parser.add_argument("--minutes", type=float, default=10, help="length of the run of mixed requests")
    parser.add_argument("--share", type=float, default=0.7, help="its rate, as a share of what is possible")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--workers", type=int, default=1, help="of the service, with their share of threads")
    parser.add_argument("--option", action="append", default=[], help="of `spanwright serve`, as --queue=8")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    documents = read(arguments.corpus).documents
    tagger = load(arguments.model)
    started = {"command": command(), "machine": machine(), "threads": arguments.threads}
    started |= {"workers": arguments.workers}
    threads = max(1, arguments.threads // arguments.workers)
    options = [f"--threads={threads}", f"--workers={arguments.workers}", *arguments.option]
    with service(arguments.model, options) as port:
        speed = turns(tagger, documents, port, arguments)
        long = {
            kind: asyncio.run(beside_a_long_text(port, documents, kind, arguments.long))
            for kind in ("dense", "huge")
        }
        documents_per_request = sum(weight * size for weight, size in _KINDS.values()) / 100
        rate = arguments.share * speed["service_requests_per_second"] / documents_per_request
        mixed = asyncio.run(mixed_run(port, documents, rate, 60 * arguments.minutes))
    result = {**started, "documents": len(documents), "clients": arguments.clients, **speed}
    result |= {"beside_a_long_text": long, "mixed": mixed}
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


@contextmanager
def service(model: str, options: Sequence[str]) -> Iterator[int]:
    """The port of a service with a model, which is a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", _START, "serve", model, "--port=0", *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
        found = re.search(r":(\d+)$", told.strip())
        if not found:
            raise SystemExit(f"the service did not start: {told}{process.stderr.read()}")
        yield int(found[1])
    finally:
        process.terminate()
        process.communicate()


def turns(
    tagger: Tagger, documents: Sequence[Document], port: int, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Words per second of the bare tagger and of the service, in turns."""
    bodies = [body({"text": document.text}) for document in documents]
    sizes = [len(words(document)) for document in documents]
    list(tagger.tag(list(documents[:50])))
    bare: list[float] = []
    served: list[float] = []
    requests = 0.0
    for _ in range(arguments.turns):
        bare.append(bare_speed(tagger, documents, sum(sizes), arguments.seconds))
        began = time.perf_counter()
        answered = asyncio.run(closed_loop(port, bodies, arguments.clients, arguments.seconds))
        took = time.perf_counter() - began
        served.append(sum(sizes[number] for number in answered) / took)
        requests += len(answered) / took / arguments.turns
    ratios = [ours / theirs for ours, theirs in zip(served, bare, strict=True)]
    return {
        "ratio": round(statistics.median(served) / statistics.median(bare), 3),
        "ratio_spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "service_words_per_second": round(statistics.median(served)),
        "tagger_words_per_second": round(statistics.median(bare)),
        "service_requests_per_second": round(requests, 2),
    }


def bare_speed(tagger: Tagger, documents: Sequence[Document], size: int, seconds: float) -> float:
    """Words per second of a tagger, over as many whole passes as a turn has time for."""
    passes, started = 0, time.perf_counter()
    while passes == 0 or time.perf_counter() - started < seconds:
        list(tagger.tag(list(documents)))
        passes += 1
    return passes * size / (time.perf_counter() - started)


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


async def beside_a_long_text(
    port: int, documents: Sequence[Document], kind: str, seconds: float
) -> dict[str, Any]:
    """How small requests fare beside a text of a megabyte, and the service after its client has left."""
    small = [body({"text": document.text[:300]}) for document in documents]
    before = await figure(port, _MEMORY)
    client, other, took, most = Client(port), Client(port), list[float](), before
    long = asyncio.create_task(client.ask(body(request(kind, documents, random.Random(1)))))
    deadline = time.perf_counter() + seconds
    while len(took) < 2 or (time.perf_counter() < deadline and not long.done()):
        started = time.perf_counter()
        await other.ask(small[len(took) % len(small)])
        took.append(time.perf_counter() - started)
        most = max(most, await figure(port, _MEMORY))
        await asyncio.sleep(_LOOK_SECONDS)
    answer = long.result()[0] if long.done() else None
    client.close()
    other.close()
    left = time.perf_counter()
    while await figure(port, _INSIDE):
        await asyncio.sleep(_LOOK_SECONDS)
    given_up = time.perf_counter() - left
    await asyncio.gather(long, return_exceptions=True)
    return {
        "answer": answer,
        "small_requests": len(took),
        "small_seconds": quantiles(took),
        "given_up_seconds": round(given_up, 3),
        "grown_megabytes": round((most - before) / 2**20, 1),
    }


async def figure(port: int, pattern: re.Pattern[bytes]) -> float:
    """A figure of the service, summed over its workers, which count the weights that they share each."""
    client = Client(port)
    _, figures = await client.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.close()
    return sum(map(float, pattern.findall(figures)))


@dataclass
class Mixture:
    """What happened in a run of mixed requests."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


async def mixed_run(port: int, documents: Sequence[Document], rate: float, seconds: float) -> dict[str, Any]:
    """Requests of all kinds at random times, so many a second on average; some clients leave at once."""
    generator, mixture = random.Random(1), Mixture()
    watching = asyncio.create_task(watch(port, mixture))
    tasks: set[asyncio.Task[None]] = set()
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        kind = generator.choices(list(_KINDS), [weight for weight, _ in _KINDS.values()])[0]
        asked = body(request(kind, documents, generator))
        task = asyncio.create_task(one(port, kind, asked, mixture))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(generator.expovariate(rate))
    await asyncio.gather(*tasks)
    await asyncio.sleep(2)
    watching.cancel()
    return {
        "requests_per_second": round(rate, 2),
        "answers": dict(sorted(mixture.statuses.items())),
        "seconds": quantiles(mixture.seconds),
        "health_seconds": quantiles(mixture.health),
        "megabytes": {"over_time": over_time(mixture.megabytes), "most": max(mixture.megabytes)},
    }


def request(kind: str, documents: Sequence[Document], generator: random.Random) -> dict[str, Any]:
    """A request of a kind, of documents drawn by chance."""
    texts = [document.text for document in generator.choices(documents, k=_KINDS[kind][1])]
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


async def one(port: int, kind: str, request: bytes, mixture: Mixture) -> None:
    """Ask once, on a connection of its own."""
    client, started = Client(port), time.perf_counter()
    try:
        async with asyncio.timeout(_PATIENCE.get(kind, 120)):
            status, _ = await client.ask(request)
        mixture.statuses[f"{kind} {status}"] += 1
        if kind not in ("dense", "huge"):
            mixture.seconds.append(time.perf_counter() - started)
    except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
        mixture.statuses[f"{kind} {type(error).__name__}"] += 1
    finally:
        client.close()


async def watch(port: int, mixture: Mixture) -> None:
    """Look at health and memory twice a second, after a while to warm up."""
    await asyncio.sleep(5)
    while True:
        client, started = Client(port), time.perf_counter()
        await client.ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        mixture.health.append(time.perf_counter() - started)
        client.close()
        mixture.megabytes.append(round(await figure(port, _MEMORY) / 2**20, 1))
        await asyncio.sleep(0.5)


def over_time(values: Sequence[float], parts: int = 10) -> list[float]:
    """The median of each of some equal parts of a series; of fewer values, each of them."""
    borders = [len(values) * part // parts for part in range(parts + 1)]
    return [
        round(statistics.median(values[start:end]), 1)
        for start, end in itertools.pairwise(borders)
        if start < end
    ]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Some quantiles of values."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {name: round(cuts[place - 1], 4) for name, place in (("half", 50), ("95 %", 95), ("99 %", 99))} | {
        "most": round(max(values), 4)
    }


if __name__ == "__main__":
    main()
