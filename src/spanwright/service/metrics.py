"""Figures for Prometheus: what was asked, what was tagged, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spanwright.service.asgi import Application, Message, Receive, Scope, Send
from spanwright.service.batching import BatchFigures

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_WORDS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_LEFT = "left"
"""Status of a request whose client went before there was an answer."""


class Metrics:
    """All figures of one service."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        place: dict[str, Any] = {"namespace": "spanwright", "registry": self.registry}
        by_path, by_model = ("path", "status"), ("model",)
        self._requests = Counter("requests", "Requests, by path and status", by_path, **place)
        self._seconds = Histogram(
            "request_seconds", "Seconds to an answer", ("path",), buckets=_SECONDS, **place
        )
        self._queue = Gauge("queue_requests", "Requests inside, waiting or being tagged", by_model, **place)
        self._running = Gauge(
            "batch_running_seconds",
            "Seconds since the present batch began; 0 if none runs",
            by_model,
            **place,
        )
        self._documents = Counter("documents", "Documents that were tagged", by_model, **place)
        self._words = Counter("words", "Words that were tagged", by_model, **place)
        self._entities = Counter("entities", "Entities found, of any confidence", by_model, **place)
        self._batch_requests = Histogram(
            "batch_requests", "Requests in a batch", by_model, buckets=_SIZES, **place
        )
        self._batch_words = Histogram("batch_words", "Words in a batch", by_model, buckets=_WORDS, **place)

    def watch(self, model: str, length: Callable[[], int], busy_seconds: Callable[[], float]) -> None:
        """Tell the requests inside and the age of the batch whenever the figures are asked for."""
        self._queue.labels(model).set_function(length)
        self._running.labels(model).set_function(busy_seconds)

    def count_request(self, path: str, status: str, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    def count_batch(self, model: str, figures: BatchFigures) -> None:
        """Count what was tagged together."""
        self._documents.labels(model).inc(figures.documents)
        self._words.labels(model).inc(figures.words)
        self._entities.labels(model).inc(figures.entities)
        self._batch_requests.labels(model).observe(figures.requests)
        self._batch_words.labels(model).observe(figures.words)

    def text(self) -> bytes:
        """All figures in the text format of Prometheus."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


class Counted:
    """Counts requests by path and status, with the time they took."""

    def __init__(self, app: Application, *, metrics: Metrics, routes: Sequence[Any]) -> None:
        """Other paths than those of the routes are counted as one: a client could make up any number."""
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = _LEFT, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._metrics.count_request(
                self._counted_as(scope["path"]), status, time.perf_counter() - started
            )

    def _counted_as(self, path: str) -> str:
        """The path of the route, such as `/annotation/{number}`: also of a request that got no further."""
        found = (str(route.path) for route in self._routes if route.path_regex.match(path))
        return next(found, "other")
