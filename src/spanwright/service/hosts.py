"""Which names the service answers to.

A web page elsewhere can have its own name lead to this machine (DNS rebinding), and would then read answers
as if they were its own. Its requests still carry that name, as Host and as Origin.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from spanwright.service.access import with_security_headers
from spanwright.service.asgi import Application, Receive, Scope, Send, refuse

_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


class Hosts:
    """Lets requests through that name this machine, the address they came to, or a host that was allowed."""

    def __init__(self, app: Application, *, allowed: Iterable[str]) -> None:
        self._app = app
        self._allowed = frozenset(host.lower() for host in allowed)
        self._known = self._allowed | _LOCAL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        problem = self._problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await refuse(receive, with_security_headers(send), *problem)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if any(not self._is_here(_name(f"//{host}"), scope) for host in hosts):
            return 421, "this Host is not served here; name it with --allow-host if it should be"
        if any(not self._is_own(origin, hosts) for origin in origins):
            return 403, "requests of other web sites are not answered"
        return None

    def _is_here(self, name: str | None, scope: Scope) -> bool:
        """Whether a name is one of this service, or the address of the connection."""
        return name in self._known or name == str((scope.get("server") or ("",))[0]).lower()

    def _is_own(self, origin: str, hosts: list[str]) -> bool:
        """Whether a page is from here: of the same host and port, or of a host that was allowed by name."""
        return origin.partition("://")[2].lower() in {host.lower() for host in hosts} or (
            _name(origin) in self._allowed
        )


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in scope["headers"] if key == name]


def _name(address: str) -> str | None:
    """The host of an address without its port; None if there is none that can be read."""
    try:
        parts = urlsplit(address)
        return parts.hostname if parts.username is None and parts.path in ("", "/") else None
    except ValueError:
        return None
