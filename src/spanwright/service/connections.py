"""Connections on which nothing comes: closed after a while, so that they do not add up.

The server bounds the time of a connection between two requests, but not that of a request whose head never
ends, nor that of an answer that is never taken.
"""

from __future__ import annotations

import asyncio
import time
from importlib import import_module
from typing import Any

from spanwright.errors import SpanwrightError
from spanwright.service.asgi import Application, Receive, Scope, Send

_LOOK_SECONDS = 1.0
_PROTOCOL = ("uvicorn.protocols.http.h11_impl", "H11Protocol")
"""The one inner name of uvicorn that is used: its setting `http` takes a class, and this one is extended."""


class IdleConnections:
    """Notes since when each connection has been without a request, by the address of its client."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._transports: dict[Any, asyncio.Transport] = {}
        self._busy: set[Any] = set()
        self._since: dict[Any, float] = {}

    def opened(self, transport: asyncio.Transport) -> None:
        """Watch a new connection."""
        client = _client(transport)
        self._transports[client] = transport
        self._since[client] = time.monotonic()

    def closed(self, transport: asyncio.Transport) -> None:
        """Forget a connection."""
        client = _client(transport)
        if self._transports.get(client) is transport:
            del self._transports[client], self._since[client]

    def watched(self, app: Application) -> Application:
        """An application whose requests make their connections busy."""

        async def watching(scope: Scope, receive: Receive, send: Send) -> None:
            client = tuple(scope.get("client") or ())
            self._busy.add(client)
            try:
                await app(scope, receive, send)
            finally:
                self._busy.discard(client)
                if client in self._since:
                    self._since[client] = time.monotonic()

        return watching

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.look(time.monotonic())

    def look(self, now: float) -> None:
        """Close what has been idle for too long."""
        for client, transport in tuple(self._transports.items()):
            if client not in self._busy and now - self._since[client] > self._seconds:
                transport.abort()


def _client(transport: asyncio.BaseTransport) -> tuple[Any, ...]:
    """Host and port of a client, as the scope of a request has them."""
    return tuple(transport.get_extra_info("peername") or ())[:2]


def protocol(idle: IdleConnections) -> type[asyncio.Protocol]:
    """The protocol of the server, which also tells of connections that come and go."""

    class WatchedProtocol(server_protocol()):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            self._watched = transport
            idle.opened(transport)
            super().connection_made(transport)

        def connection_lost(self, error: Exception | None) -> None:
            idle.closed(self._watched)
            super().connection_lost(error)

    return WatchedProtocol


def server_protocol() -> Any:
    """The class that speaks HTTP in uvicorn; an error that says so if this version of it has none."""
    import uvicorn

    module, name = _PROTOCOL
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        raise SpanwrightError(
            f"uvicorn {uvicorn.__version__} has no {module}.{name}, without which clients that never end "
            f"a request cannot be stopped; install one that has it: pip install 'uvicorn==0.54.0'"
        ) from None
