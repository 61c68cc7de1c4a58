"""The little of ASGI that the layers around the application share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_DISCARDED_BYTES = 16 * 2**20
_DISCARDING_SECONDS = 5.0


async def answer(
    send: Send, status: int, detail: str, headers: Mapping[str, str] | None = None, *, is_last: bool = True
) -> None:
    """Send an error as JSON; with `is_last` False, the answer is complete but its end is not sent."""
    body = json.dumps({"detail": detail}).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})


async def refuse(
    receive: Receive, send: Send, status: int, detail: str, headers: Mapping[str, str] | None = None
) -> None:
    """Answer before the body of a request was read, and throw away what still comes of it.

    A client that sends all of a body before it looks for the answer would otherwise find a broken connection.
    """
    await answer(send, status, detail, {**(headers or {}), "Connection": "close"}, is_last=False)
    with suppress(TimeoutError):
        async with asyncio.timeout(_DISCARDING_SECONDS):
            await _discard(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _discard(receive: Receive) -> None:
    discarded = 0
    while discarded < _DISCARDED_BYTES:
        message = await receive()
        discarded += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
