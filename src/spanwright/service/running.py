"""Running the service: from a free port to an orderly end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from spanwright.errors import InputError, MissingExtraError
from spanwright.service.answers import Service
from spanwright.service.app import make_app
from spanwright.service.connections import IdleConnections, protocol, server_protocol

if TYPE_CHECKING:
    from uvicorn import Server

_IDLE_SECONDS = 20
_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 8
"""Connections that are accepted before anything is done about them: the others keep their bodies for now."""
_WAITING_SECONDS = 5.0
"""Of the ten seconds that an end may take: for requests inside to be answered ..."""
_CONNECTIONS_SECONDS = 6
"""... and for their clients to take the answers. Two are for telling that the service is about to end."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def check_service_installed() -> None:
    """Raise an error with the command to install what the service needs, if it is not there."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        try:
            import_module(module)
        except ImportError:
            raise MissingExtraError("`spanwright serve`", module.replace("_", "-"), "serve") from None
    server_protocol()


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen at {host}, port {port}: {error}; choose --host and --port") from None
    # Connections inherit it. asyncio does not set it, as this socket does not name its protocol; and then the
    # body of an answer would wait until the client confirms the head, which takes most systems 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    return listening


class Signals:
    """The signals to end that have come since this listens, in the place of what would be done about them."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def listen(self) -> None:
        """Be told of them from now on."""
        for number in _ENDING:
            signal.signal(number, lambda number, frame: self.asked.append(number))

    @property
    def is_hurried(self) -> bool:
        """Whether it is ended by hand, or was asked twice."""
        return len(self.asked) != 1 or self.asked[0] == signal.SIGINT


def run(service: Service, listening: socket.socket, on_ready: Callable[[], None]) -> NoReturn:
    """Serve until a signal, then answer what is inside and end the process, by default within ten seconds.

    `on_ready` is called when requests are answered, and signals heard.
    """
    signals = Signals()
    signals.listen()
    asyncio.run(serve(service, listening, signals=signals, on_ready=on_ready))
    sys.stdout.flush()
    sys.stderr.flush()
    # All clients are answered. What may be left is a long batch, which would crash as Python ends around it;
    # and that end alone takes Python seconds with all of torch in memory.
    os._exit(0)


async def serve(
    service: Service,
    listening: socket.socket,
    *,
    signals: Signals | None = None,
    on_start: Callable[[Server], None] = lambda server: None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal, or until the server is told to end, which `on_start` gets to know."""
    import uvicorn

    idle = IdleConnections(_IDLE_SECONDS)
    config = uvicorn.Config(
        idle.watched(make_app(service)),
        http=protocol(idle),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_CONNECTIONS_SECONDS,
    )
    server = uvicorn.Server(config)
    watchers = [
        _watch_end(server, service, signals or Signals()),
        _when_started(server, listening, signals, on_ready),
    ]
    if service.figures is not None:
        watchers.append(service.figures.keep())
    on_start(server)
    try:
        # In a group: if one of them fails, the service fails, and does not go on without it.
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(watcher) for watcher in watchers]
            await server.serve(sockets=[listening])
            for task in watching:
                task.cancel()
    finally:
        for model in service.models:
            model.batcher.stop()
            model.batcher.give_up()


async def _when_started(
    server: Server, listening: socket.socket, signals: Signals | None, on_ready: Callable[[], None]
) -> None:
    """When the server has started: let more clients wait, take its signals over, and say that it is ready."""
    while not server.started:
        await asyncio.sleep(0.01)
    if server.should_exit:  # it was told to end meanwhile, and closes the socket
        return
    # Let more connections wait than are accepted at once: asyncio has one number for both.
    listening.listen(_BACKLOG)
    if signals is not None:
        signals.listen()  # of which the server would close its door at once
    on_ready()


async def _watch_end(server: Server, service: Service, signals: Signals) -> None:
    """When told to end: say so for a moment, take no further requests, and refuse what is not done in time.

    In that moment all is answered as before, but `/ready` says no: whoever deals out requests goes elsewhere.
    """
    while not (signals.asked or server.should_exit):
        await asyncio.sleep(0.05)
    service.draining = True
    until = time.monotonic() + service.drain_seconds
    while time.monotonic() < until and not (signals.is_hurried or server.should_exit):
        await asyncio.sleep(0.05)
    server.should_exit = True
    for model in service.models:
        model.batcher.stop()
    await asyncio.sleep(_WAITING_SECONDS)
    for model in service.models:
        model.batcher.give_up()
