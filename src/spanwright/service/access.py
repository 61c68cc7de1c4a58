"""Who may ask, and the headers that keep browsers from doing more with an answer than they should."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Container
from contextlib import suppress

from spanwright.service.asgi import Application, Message, Receive, Scope, Send, refuse

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ENCODED = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class Access:
    """Lets requests with the right token through, and any request for open paths."""

    def __init__(self, app: Application, *, token: str | None, open_paths: Container[str]) -> None:
        """Without a token, every request is let through."""
        self._app = app
        self._expected = None if token is None else token.encode()
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._is_allowed(scope):
            await self._app(scope, receive, with_security_headers(send))
        else:
            headers = {"WWW-Authenticate": "Bearer"}
            reason = (
                "a token is needed; send it as the header 'Authorization: Bearer TOKEN' or 'X-API-Key: TOKEN'"
            )
            await refuse(receive, with_security_headers(send), 401, reason, headers)

    def _is_allowed(self, scope: Scope) -> bool:
        if self._expected is None or scope["path"] in self._open_paths:
            return True
        sent = [(name, value) for name, value in scope["headers"] if name in (b"authorization", b"x-api-key")]
        if len(sent) != 1:  # of two, a proxy may have checked the other
            return False
        # Takes as long for a token that is almost right as for one that is all wrong.
        return hmac.compare_digest(_token(*sent[0]), self._expected)


def _token(name: bytes, value: bytes) -> bytes:
    """The token in a header; empty, which no token is, if it is none."""
    if name == b"x-api-key":
        return value.strip()
    scheme, _, given = value.partition(b" ")
    match scheme.lower():
        case b"bearer":
            return given.strip()
        case b"basic":  # the password: Label Studio knows no other way
            with suppress(binascii.Error):
                return base64.b64decode(given.strip(), validate=True).partition(b":")[2]
    return b""


def with_security_headers(send: Send) -> Send:
    """Send an answer with the headers that every answer has."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_ENCODED]
        await send(message)

    return sending
