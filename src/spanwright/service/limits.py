"""Limits of a single request: the size of its body, the time to send it and to take the answer.

A body is read only while there is room for it, and counts until its answer is sent, so that memory stays
bounded however many clients there are. A client that leaves takes its request along.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spanwright.service.asgi import Application, Message, Receive, Scope, Send, answer, refuse
from spanwright.service.batching import OverloadError

_CHUNK_BYTES = 2**16
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """What one request, and all of them together, may take."""

    body_bytes: int = 2**20
    """Bytes of the body of a request."""
    tool_body_bytes: int = 2**24
    """The same for annotation tools, which send many tasks at once, or whole documents."""
    held_bytes: int = 2**25
    """Bytes of all bodies that are being read or answered."""
    request_words: int = 200_000
    """Words of all texts of a request."""
    body_seconds: float = 20.0
    """Until the body of a request has arrived."""
    answer_seconds: float = 20.0
    """Until a client has taken the next part of its answer."""


class _RefusalError(Exception):
    """A request that is answered before it is read to its end."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class _DepartureError(Exception):
    """The client has gone, or takes nothing any more."""


class Guard:
    """Reads the body of a request within the limits, and hands it on whole."""

    def __init__(
        self,
        app: Application,
        *,
        limits: ServiceLimits,
        check_room: Callable[[], None],
        tool_paths: tuple[str, ...] = (),
    ) -> None:
        """`check_room` raises `OverloadError` when no request with a body could be taken; `tool_paths` are
        what the paths of annotation tools begin with."""
        self._app = app
        self._limits = limits
        self._check_room = check_room
        self._tool_paths = tool_paths
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        try:
            await self._read(scope, receive, body)
            await self._answer(scope, bytes(body), receive, _TimedSend(send, self._limits.answer_seconds))
        except _RefusalError as refusal:
            await refuse(receive, send, refusal.status, str(refusal), refusal.headers)
        except _DepartureError:
            pass
        finally:
            self._held -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        """Read the body of a request."""
        names = {name for name, _ in scope["headers"]}
        if {b"transfer-encoding", b"content-length"} <= names:
            # Proxies that believe the one and servers that believe the other see different requests.
            raise _RefusalError(400, "expected Transfer-Encoding or Content-Length, and not both")
        if b"content-encoding" in names:
            reason = "the request has a Content-Encoding; expected JSON in UTF-8, uncompressed, without one"
            raise _RefusalError(415, reason, Accept_Encoding="identity")
        if scope["method"] == "POST":
            self._refuse_early(scope)
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while await self._read_chunk(scope, receive, body):
                    pass
        except TimeoutError:
            reason = f"the body did not arrive within {self._limits.body_seconds:g} s"
            raise _RefusalError(408, reason) from None

    def _refuse_early(self, scope: Scope) -> None:
        """Refuse by the head of a request alone, if that is enough to know."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        self._check_length(int(length) if length.isdigit() else 0, scope)
        try:
            self._check_room()
        except OverloadError as overload:
            raise _RefusalError(503, str(overload), Retry_After=str(overload.seconds)) from None

    def _check_length(self, length: int, scope: Scope) -> None:
        is_of_tool = scope["path"].startswith(self._tool_paths)
        most = self._limits.tool_body_bytes if is_of_tool else self._limits.body_bytes
        if length > most:
            raise _RefusalError(413, f"the body has more than {most} bytes, which is the limit")

    async def _read_chunk(self, scope: Scope, receive: Receive, body: bytearray) -> bool:
        """Read the next part of a body; whether more is to come."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _DepartureError
        chunk = message.get("body", b"")
        self._check_length(len(body) + len(chunk), scope)
        if self._held + len(chunk) > self._limits.held_bytes:
            raise _RefusalError(503, "too many bodies are being read; try again in 1 s", Retry_After="1")
        body += chunk
        self._held += len(chunk)
        return bool(message.get("more_body", False))

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: _TimedSend) -> None:
        """Run the application until it has answered, or its client has left."""
        answering = asyncio.current_task()
        assert answering is not None
        leaving = asyncio.create_task(_cancel_when_left(answering, receive))
        try:
            await self._run(scope, _replay(body), send)
        except asyncio.CancelledError:
            if not leaving.done():
                raise  # by the server, which ends
            answering.uncancel()
            raise _DepartureError from None
        finally:
            leaving.cancel()

    async def _run(self, scope: Scope, receive: Receive, send: _TimedSend) -> None:
        """Run the application; an error that nobody foresaw is logged, and answered with 500."""
        try:
            await self._app(scope, receive, send)
        except _DepartureError:
            raise
        except Exception:
            _logger.exception("%s %s failed", scope["method"], scope["path"])
            if not send.has_started:
                await answer(send, 500, "the service failed; its log has the reason")


class _TimedSend:
    """Sends in parts, each of which the client must take in time: no slow reader holds much memory."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self.has_started = False

    async def __call__(self, message: Message) -> None:
        self.has_started = True
        for part in _parts(message):
            try:
                async with asyncio.timeout(self._seconds):
                    await self._send(part)
            except TimeoutError:
                raise _DepartureError from None


def _parts(message: Message) -> Iterator[Message]:
    """A message of an answer, or several where its body is large."""
    body = message.get("body", b"")
    if len(body) <= _CHUNK_BYTES:
        yield message
        return
    for start in range(0, len(body), _CHUNK_BYTES):
        end = start + _CHUNK_BYTES
        is_last = end >= len(body) and not message.get("more_body", False)
        yield {**message, "body": body[start:end], "more_body": not is_last}


def _replay(body: bytes) -> Receive:
    """What an application receives of a request that was read before."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()  # the application is cancelled when the client leaves
        return messages.pop()

    return receive


async def _cancel_when_left(answering: asyncio.Task[Any], receive: Receive) -> None:
    """Cancel the task that answers a client when that has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    answering.cancel()
