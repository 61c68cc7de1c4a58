"""Running the service: from a free port to an orderly end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from spanwright.errors import InputError, MissingExtraError
from spanwright.service.answers import Service
from spanwright.service.app import make_app
from spanwright.service.connections import IdleConnections

if TYPE_CHECKING:
    from uvicorn import Server

_IDLE_SECONDS = 20
_SWITCH_SECONDS = 0.001
_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 8
"""Connections that are accepted before anything is done about them: the others keep their bodies for now."""
_WAITING_SECONDS = 7.0
"""Of the ten seconds that an end may take: for requests inside to be answered ..."""
_CONNECTIONS_SECONDS = 8
"""... and for their clients to take the answers."""


def check_service_installed() -> None:
    """Raise an error with the command to install what the service needs, if it is not there."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        try:
            import_module(module)
        except ImportError:
            raise MissingExtraError("`spanwright serve`", module.replace("_", "-"), "serve") from None


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


def run(service: Service, listening: socket.socket) -> NoReturn:
    """Serve until SIGTERM or SIGINT, then answer what is inside and end the process within ten seconds."""
    # uvicorn raises the signal again when it has ended, which would make a failure of an orderly end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    # So long the thread that tags holds up the one that answers, each time that this reads or writes.
    sys.setswitchinterval(_SWITCH_SECONDS)
    asyncio.run(serve(service, listening))
    sys.stdout.flush()
    sys.stderr.flush()
    # All clients are answered. What may be left is a long batch, which would crash as Python ends around it;
    # and that end alone takes Python seconds with all of torch in memory.
    os._exit(0)


async def serve(
    service: Service, listening: socket.socket, on_start: Callable[[Server], None] = lambda server: None
) -> None:
    """Serve until the server is told to end, which `on_start` gets to know."""
    import uvicorn

    config = uvicorn.Config(
        make_app(service),
        http="h11",
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
    idle = IdleConnections(server.server_state.connections, _IDLE_SECONDS)
    watchers = (idle.watch(), _drain(server, service), _lengthen_queue(server, listening))
    watching = [asyncio.create_task(watcher) for watcher in watchers]
    on_start(server)
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in watching:
            task.cancel()
        for model in service.models:
            model.batcher.stop()
            model.batcher.give_up()


async def _lengthen_queue(server: Server, listening: socket.socket) -> None:
    """Let more connections wait than are accepted at once: asyncio has one number for both."""
    while not server.started:
        await asyncio.sleep(0.01)
    listening.listen(_BACKLOG)


async def _drain(server: Server, service: Service) -> None:
    """When the server is told to end: take no further requests, and refuse what is not answered in time."""
    while not server.should_exit:
        await asyncio.sleep(0.05)
    service.draining = True
    for model in service.models:
        model.batcher.stop()
    await asyncio.sleep(_WAITING_SECONDS)
    for model in service.models:
        model.batcher.give_up()
