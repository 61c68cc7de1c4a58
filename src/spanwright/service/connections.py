"""Connections on which nothing comes: closed after a while, so that they do not add up.

The server bounds the time of a connection between two requests, but not that of a request whose head never
ends, nor that of an answer that is never taken.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from spanwright.errors import SpanwrightError
from spanwright.service.asgi import Application, Receive, Scope, Send

_PROTOCOL = ("uvicorn.protocols.http.h11_impl", "H11Protocol")
"""The one inner name of uvicorn that is used: its setting `http` takes a class, and this one is extended."""

_Address = tuple[Any, ...]


class IdleConnections:
    """Closes connections that are without a request for too long, known by the address of their client."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._transports: dict[_Address, asyncio.Transport] = {}
        self._ends: dict[_Address, asyncio.TimerHandle] = {}

    def opened(self, transport: asyncio.Transport) -> None:
        """Watch a new connection."""
        client = _client(transport)
        self._transports[client] = transport
        self._begin_to_wait(client)

    def closed(self, transport: asyncio.Transport) -> None:
        """Forget a connection."""
        client = _client(transport)
        if self._transports.get(client) is transport:
            self._end_to_wait(client)
            del self._transports[client]

    def watched(self, app: Application) -> Application:
        """An application during whose requests connections are not idle."""

        async def watching(scope: Scope, receive: Receive, send: Send) -> None:
            client = tuple(scope.get("client") or ())
            self._end_to_wait(client)
            try:
                await app(scope, receive, send)
            finally:
                if client in self._transports:
                    self._begin_to_wait(client)

        return watching

    def _begin_to_wait(self, client: _Address) -> None:
        self._end_to_wait(client)
        close = self._transports[client].abort
        self._ends[client] = asyncio.get_running_loop().call_later(self._seconds, close)

    def _end_to_wait(self, client: _Address) -> None:
        if client in self._ends:
            self._ends.pop(client).cancel()


def _client(transport: asyncio.BaseTransport) -> _Address:
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
