"""A request inside the service: what waits to be tagged, what is done, and how its client gets to know.

A thread tags, and an event loop answers: all that a thread gives goes through a call of that loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from spanwright.text import Document

AskedTypes = tuple[tuple[str, str], ...]
"""Types of a request, by name and description."""


@dataclass(eq=False, slots=True)
class InsideRequest:
    """The documents of a request that wait for a batch, and those that are done, in order."""

    waiting: deque[Document]
    types: AskedTypes
    answer: asyncio.Future[list[Document]]
    steps: Generator[None, None, list[Document]] | None = None
    """Of the first document that waits, if it is long and begun."""
    done: list[Document] = field(default_factory=list)
    has_failed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether something of it is to be tagged, for somebody."""
        return bool(self.waiting) and not (self.has_failed or self.answer.done())


def succeed(requests: Sequence[InsideRequest]) -> None:
    """Answer requests that are done, all at once: each call of the event loop would wake it up."""

    def give() -> None:
        for request in requests:
            if not request.answer.done():  # otherwise its client has left
                request.answer.set_result(request.done)

    if requests:
        _call(requests[0], give)


def fail(request: InsideRequest, error: Exception) -> None:
    """Answer a request with an error."""
    request.has_failed = True

    def give() -> None:
        if not request.answer.done():
            request.answer.set_exception(error)

    _call(request, give)


def _call(request: InsideRequest, give: Callable[[], None]) -> None:
    """Have the event loop do something, unless it has ended with requests inside."""
    with suppress(RuntimeError):
        request.answer.get_loop().call_soon_threadsafe(give)
