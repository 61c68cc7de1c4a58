"""Speed of the service beside the bare tagger and with two workers, and long runs of mixed requests.

    python benchmarks/service_load.py biomed --steps speed workers --words 40 \\
        --json benchmarks/results/service-forty-words.json
    python benchmarks/service_load.py biomed --steps mixed --minutes 30 --share 0.8 --threads 1 \\
        --option=--request-words=600000 --json benchmarks/results/service-load.json

Steps: `speed` has the bare tagger and the service take turns on the same documents, with clients that ask
again as soon as they are answered; the ratio is that of the medians of words per second. `workers` does so
for one worker and for two, of one thread each. `long` asks for texts of a megabyte beside small ones, until
their clients leave. `mixed` sends requests of all kinds at random times, at a share of the rate that is held,
and now and then one with a text of a megabyte. Clients run on the same machine and take their part of it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine import command, machine
from service_clients import (
    KINDS,
    MEGABYTES,
    PATIENCE,
    Client,
    body,
    closed_loop,
    cut,
    inside,
    megabytes,
    quantiles,
    request,
)
from spanwright import sample
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document, words

_START = "from spanwright.cli.main import main; main()"
_LOOK_SECONDS = 0.05


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    documents = read(arguments.corpus).documents
    if arguments.words:
        documents = cut(documents, arguments.words)
    result = {
        "command": command(),
        "machine": machine(),
        "threads": arguments.threads,
        "documents": len(documents),
        "words": sum(len(words(document)) for document in documents),
        "clients": arguments.clients,
    }
    for step in arguments.steps:
        result[step] = _STEPS[step](documents, arguments)
        print(json.dumps({step: result[step]}, indent=2), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--steps", nargs="+", choices=list(_STEPS), default=list(_STEPS))
    parser.add_argument("--corpus", type=Path, default=sample.files()["test"], help="documents to tag")
    parser.add_argument("--words", type=int, help="cut the documents into texts of so many words")
    parser.add_argument("--clients", type=int, default=16, help="clients that ask at the same time")
    parser.add_argument("--turns", type=int, default=5, help="turns of tagger and service")
    parser.add_argument("--seconds", type=float, default=20, help="length of a turn")
    parser.add_argument("--long", type=float, default=30, help="seconds until clients with a megabyte leave")
    parser.add_argument("--minutes", type=float, default=10, help="length of the run of mixed requests")
    parser.add_argument("--share", type=float, default=0.8, help="its rate, as a share of what is held")
    parser.add_argument(
        "--megabytes", type=float, default=30, help="seconds between texts of a megabyte in it"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the network")
    parser.add_argument("--option", action="append", default=[], help="of `spanwright serve`, as --queue=8")
    parser.add_argument("--json", type=Path, help="write the result here")
    return parser.parse_args()


def _options(arguments: argparse.Namespace, threads: int, workers: int = 1) -> list[str]:
    """Of a service, each of whose workers has so many threads."""
    return [f"--threads={threads}", f"--workers={workers}", *arguments.option]


def speed(documents: Sequence[Document], arguments: argparse.Namespace) -> dict[str, Any]:
    """Words per second of the bare tagger and of the service, in turns."""
    tagger = load(arguments.model, threads=arguments.threads)
    list(tagger.tag(list(documents[:50])))
    with service(arguments.model, _options(arguments, arguments.threads)) as port:
        served = Served(port, documents, arguments.clients)
        ways = {"tagger": lambda seconds: bare_speed(tagger, documents, seconds), "service": served.speed}
        return turns(ways, arguments)


def workers(documents: Sequence[Document], arguments: argparse.Namespace) -> dict[str, Any]:
    """Words per second of one worker and of two, with one thread each, in turns."""
    with ExitStack() as stack:
        ways = {}
        for name, count in (("one", 1), ("two", 2)):
            port = stack.enter_context(service(arguments.model, _options(arguments, 1, count)))
            ways[name] = Served(port, documents, arguments.clients).speed
        return turns(ways, arguments)


def long(documents: Sequence[Document], arguments: argparse.Namespace) -> dict[str, Any]:
    """How small requests fare beside texts of a megabyte."""
    with service(arguments.model, _options(arguments, arguments.threads)) as port:
        return {
            kind: asyncio.run(beside_a_long_text(port, documents, kind, arguments.long)) for kind in MEGABYTES
        }


def mixed(documents: Sequence[Document], arguments: argparse.Namespace) -> dict[str, Any]:
    """Requests of all kinds for a long time, at a share of the rate at which documents are answered."""
    per_request = sum(weight * size for weight, size in KINDS.values()) / 100
    with service(arguments.model, _options(arguments, arguments.threads)) as port:
        held = Served(port, documents, arguments.clients).documents_per_second(arguments.seconds)
        rate = arguments.share * held / per_request
        return {"held_documents_per_second": round(held, 2)} | asyncio.run(
            mixed_run(port, documents, rate, 60 * arguments.minutes, arguments.megabytes)
        )


_STEPS: Mapping[str, Callable[[Sequence[Document], argparse.Namespace], dict[str, Any]]] = {
    step.__name__: step for step in (speed, workers, long, mixed)
}


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


def turns(ways: Mapping[str, Callable[[float], float]], arguments: argparse.Namespace) -> dict[str, Any]:
    """Words per second of two ways, in turns, and how often the second has the first."""
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.turns):
        for name, measure in ways.items():
            speeds[name].append(measure(arguments.seconds))
    first, second = speeds.values()
    ratios = [ours / theirs for theirs, ours in zip(first, second, strict=True)]
    return {
        "ratio": round(statistics.median(second) / statistics.median(first), 3),
        "ratio_spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "words_per_second": {name: round(statistics.median(found)) for name, found in speeds.items()},
        "turns": {name: [round(each) for each in found] for name, found in speeds.items()},
    }


def bare_speed(tagger: Tagger, documents: Sequence[Document], seconds: float) -> float:
    """Words per second of a tagger, over as many whole passes as a turn has time for."""
    size = sum(len(words(document)) for document in documents)
    passes, started = 0, time.perf_counter()
    while passes == 0 or time.perf_counter() - started < seconds:
        list(tagger.tag(list(documents)))
        passes += 1
    return passes * size / (time.perf_counter() - started)


class Served:
    """Clients of a service who ask for documents one by one, again as soon as they are answered."""

    def __init__(self, port: int, documents: Sequence[Document], clients: int) -> None:
        self._port = port
        self._bodies = [body({"text": document.text}) for document in documents]
        self._sizes = [len(words(document)) for document in documents]
        self._clients = clients

    def speed(self, seconds: float) -> float:
        """Words per second."""
        answered, took = self._answered(seconds)
        return sum(self._sizes[number] for number in answered) / took

    def documents_per_second(self, seconds: float) -> float:
        """Documents per second."""
        answered, took = self._answered(seconds)
        return len(answered) / took

    def _answered(self, seconds: float) -> tuple[list[int], float]:
        started = time.perf_counter()
        answered = asyncio.run(closed_loop(self._port, self._bodies, self._clients, seconds))
        return answered, time.perf_counter() - started


async def beside_a_long_text(
    port: int, documents: Sequence[Document], kind: str, seconds: float
) -> dict[str, Any]:
    """How small requests fare beside a text of a megabyte, and the service after its client has left."""
    small = [body({"text": document.text[:300]}) for document in documents]
    before = await megabytes(port)
    client, other, took, most = Client(port), Client(port), list[float](), before
    asked = asyncio.create_task(client.ask(body(request(kind, documents, random.Random(1)))))
    deadline = time.perf_counter() + seconds
    while len(took) < 2 or (time.perf_counter() < deadline and not asked.done()):
        started = time.perf_counter()
        await other.ask(small[len(took) % len(small)])
        took.append(time.perf_counter() - started)
        most = max(most, await megabytes(port))
        await asyncio.sleep(_LOOK_SECONDS)
    answer = asked.result()[0] if asked.done() else None
    client.close()
    other.close()
    left = time.perf_counter()
    while await inside(port):
        await asyncio.sleep(_LOOK_SECONDS)
    given_up = time.perf_counter() - left
    await asyncio.gather(asked, return_exceptions=True)
    return {
        "answer": answer,
        "small_requests": len(took),
        "small_seconds": quantiles(took),
        "given_up_seconds": round(given_up, 3),
        "grown_megabytes": round(most - before, 1),
    }


@dataclass
class Mixture:
    """What happened in a run of mixed requests."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


async def mixed_run(
    port: int, documents: Sequence[Document], rate: float, seconds: float, between: float
) -> dict[str, Any]:
    """Requests of all kinds at random times, so many a second on average; some clients leave at once.

    So many seconds lie `between` two texts of a megabyte.
    """
    mixture = Mixture()
    watching = asyncio.create_task(watch(port, mixture))
    async with asyncio.TaskGroup() as group:
        for times in (small_requests(rate), long_requests(between)):
            group.create_task(send(port, documents, times, seconds, mixture))
    await asyncio.sleep(2)
    watching.cancel()
    errors = {name: count for name, count in mixture.statuses.items() if re.search(r" 5(?!03)\d\d$", name)}
    return {
        "requests_per_second": round(rate, 2),
        "answers": dict(sorted(mixture.statuses.items())),
        "server_errors_but_503": sum(errors.values()),
        "seconds": quantiles(mixture.seconds),
        "health_seconds": quantiles(mixture.health),
        "megabytes": {"over_time": over_time(mixture.megabytes), "most": max(mixture.megabytes)},
    }


Times = Iterator[tuple[float, str]]
"""Of requests: the seconds since the one before, and the kind."""


def small_requests(rate: float) -> Times:
    """Small requests at random times, so many a second on average."""
    generator = random.Random(1)
    weights = [weight for weight, _ in KINDS.values()]
    while True:
        yield generator.expovariate(rate), generator.choices(list(KINDS), weights)[0]


def long_requests(between: float) -> Times:
    """Texts of a megabyte of all kinds, in turns."""
    for kind in itertools.cycle(MEGABYTES):
        yield between, kind


async def send(
    port: int, documents: Sequence[Document], times: Times, seconds: float, mixture: Mixture
) -> None:
    """Send requests at their times, for so long, whether or not those before are answered."""
    generator, deadline = random.Random(2), time.perf_counter() + seconds
    async with asyncio.TaskGroup() as group:
        for pause, kind in times:
            await asyncio.sleep(pause)
            if time.perf_counter() >= deadline:
                return
            group.create_task(one(port, kind, body(request(kind, documents, generator)), mixture))


async def one(port: int, kind: str, request: bytes, mixture: Mixture) -> None:
    """Ask once, on a connection of its own."""
    client, started = Client(port), time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE.get(kind, 120)):
            status, _ = await client.ask(request)
        mixture.statuses[f"{kind} {status}"] += 1
        if kind not in MEGABYTES:
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
        mixture.megabytes.append(round(await megabytes(port), 1))
        await asyncio.sleep(0.5)


def over_time(values: Sequence[float], parts: int = 10) -> list[float]:
    """The median of each of some equal parts of a series; of fewer values, each of them."""
    borders = [len(values) * part // parts for part in range(parts + 1)]
    return [
        round(statistics.median(values[start:end]), 1)
        for start, end in itertools.pairwise(borders)
        if start < end
    ]


if __name__ == "__main__":
    main()
