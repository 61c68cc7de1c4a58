"""Connections on which nothing comes: closed after a while, so that they do not add up.

The server bounds the time of a connection between two requests, but not that of a request whose head never
ends, nor that of an answer that is never taken.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

_LOOK_SECONDS = 1.0


class IdleConnections:
    """Notes since when each connection of a server has been idle."""

    def __init__(self, connections: set[Any], seconds: float) -> None:
        """`connections` are those of uvicorn's server state, which keeps the set up to date."""
        self._connections = connections
        self._seconds = seconds
        self._since: dict[Any, tuple[Any, float]] = {}
        """The last request of each idle connection, and the time when it was first seen idle."""

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.look(time.monotonic())

    def look(self, now: float) -> None:
        """Close what has been idle for too long."""
        idle: dict[Any, tuple[Any, float]] = {}
        for connection in filter(_is_idle, tuple(self._connections)):
            last, since = self._since.get(connection, (connection.cycle, now))
            since = since if last is connection.cycle else now
            idle[connection] = (connection.cycle, since)
            if now - since > self._seconds:
                connection.transport.abort()
        self._since = idle


def _is_idle(connection: Any) -> bool:
    """Whether a connection waits for the head of a request, or for its end."""
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or connection.transport.is_closing()
