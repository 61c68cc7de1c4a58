"""Starting the service as it was asked for: in this process, or as one of several workers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from spanwright.devices import AUTO
from spanwright.linking.linker import Linker
from spanwright.service import running
from spanwright.service.annotation import AnnotationFolder
from spanwright.service.answers import Service
from spanwright.service.limits import ServiceLimits
from spanwright.service.metrics import Metrics
from spanwright.service.models import ServedModel, load_models
from spanwright.service.worker_figures import WorkerFigures
from spanwright.service.workers import supervise


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What was asked for; `spanwright serve --help` tells of each."""

    models: Mapping[str, Path]
    workers: int
    threads: int | None
    queue: int
    batch_words: int
    request_words: int
    timeout: float
    token: str | None
    hosts: tuple[str, ...]
    drain_seconds: float
    stuck_seconds: float
    runtime: str | None
    device: str = AUTO
    precision: str = "float32"
    linker: Linker | None = None
    annotation: AnnotationFolder | None = None
    tool_types: Mapping[str, str] = field(default_factory=dict)


def start(
    options: ServeOptions,
    listening: socket.socket,
    *,
    on_ready: Callable[[], None],
    tell: Callable[[str], None],
) -> NoReturn:
    """Serve until the end; `tell` gets what goes wrong on the way."""
    if options.workers == 1:
        _serve(options, listening, on_ready, Metrics())
    with TemporaryDirectory(prefix="spanwright-serve-") as folder:
        work = partial(_serve_as_worker, options, listening, Path(folder))
        supervise(
            work,
            options.workers,
            listening,
            drain_seconds=options.drain_seconds,
            on_ready=on_ready,
            on_death=tell,
        )


def _serve_as_worker(
    options: ServeOptions, listening: socket.socket, folder: Path, number: int, on_ready: Callable[[], None]
) -> NoReturn:
    metrics = Metrics()
    _serve(options, listening, on_ready, metrics, WorkerFigures(metrics, folder, number), number - 1)


def _serve(
    options: ServeOptions,
    listening: socket.socket,
    on_ready: Callable[[], None],
    metrics: Metrics,
    figures: WorkerFigures | None = None,
    worker: int = 0,
) -> NoReturn:
    # Threads of OpenMP wait for work actively only while there are no more of them than cores. Each thread
    # that computes has its own, and keeps them: so this one must not compute, and the one that loads ends.
    with ThreadPoolExecutor(1) as loading:
        models = loading.submit(_load, options, metrics, worker).result()
    service = Service(
        models,
        metrics,
        timeout=options.timeout,
        token=options.token,
        limits=ServiceLimits(request_words=options.request_words),
        hosts=options.hosts,
        drain_seconds=options.drain_seconds,
        stuck_seconds=options.stuck_seconds,
        figures=figures,
        annotation=options.annotation,
        tool_types=options.tool_types,
    )
    running.run(service, listening, on_ready)


def _load(options: ServeOptions, metrics: Metrics, worker: int) -> list[ServedModel]:
    """The models, each with the thread that tags with it."""
    return load_models(
        options.models,
        metrics,
        requests=options.queue,
        batch_words=options.batch_words,
        runtime=options.runtime,
        device=options.device,
        precision=options.precision,
        threads=_threads(options),
        worker=worker,
        map_weights=options.workers > 1,
        linker=options.linker,
    )


def _threads(options: ServeOptions) -> int | None:
    """Threads of a worker: its share of the cores unless given; None for all of them."""
    if options.threads is not None or options.workers == 1:
        return options.threads
    return max(1, (os.cpu_count() or 1) // options.workers)
