"""A stand-in for the service: the real page with the headers it is served with, and canned answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import spanwright
from spanwright.palette import colour_numbers
from spanwright.service.access import SECURITY_HEADERS
from spanwright.service.page_files import page_files

PAGE = Path(spanwright.__file__).parent / "service" / "page"
FILES = page_files()

Entities = list[tuple[int, int, str, float]]
"""Start, end, type and confidence of each."""


def model(name: str, **changes: Any) -> dict[str, Any]:
    """What the service tells about a model."""
    return {
        "name": name,
        "recipe": "plain",
        "description": "",
        "types": ["Gene", "Disease", "Cell"],
        "colours": colour_numbers(["Gene", "Disease", "Cell"]),
        "reads_descriptions": False,
        "corpora": [],
        "calibrated": False,
        "tuned_thresholds": {},
        "scores": {},
        "default": False,
    } | changes


def found(text: str) -> Entities:
    """Every word such as `Gene-0.75` is an entity of that type and confidence."""
    pattern = re.compile(r"\b(Gene|Disease|Cell|Plant)-(\d\.\d+)")
    return [(each.start(), each.end(), each[1], float(each[2])) for each in pattern.finditer(text)]


@dataclass
class StandIn:
    """Answers, and what was asked."""

    models: list[dict[str, Any]]
    find: Callable[[str], Entities] = found
    refusals: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    """Status, detail and headers of the next answers to POST, before one succeeds."""
    token: str = ""
    """What requests must bring; none if empty."""
    unwritable: int = 0
    """Of the formats but JSON."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of requests that were answered."""
    address: str = ""

    def tag(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        """The answer to a request, as text unless it is JSON, and its headers."""
        self.asked.append(body)
        [text] = body["texts"]
        entities = [
            {"start": start, "end": end, "type": type_, "text": text[start:end], "confidence": confidence}
            for start, end, type_, confidence in self.find(text)
            if confidence >= body["minimum_confidence"]
        ]
        match body.get("format", "json"):
            case "json":
                document = {"id": "0", "text": text, "characters": len(text), "entities": entities}
                return {"model": body["model"], "documents": [document]}, {}
            case "brat":
                return [{"id": "0", "text": text, "ann": f"{len(entities)} in brat"}], {}
            case format_:
                return f"{len(entities)} in {format_}", {"Spanwright-Losses": str(self.unwritable)}


@contextmanager
def serving(stand_in: StandIn) -> Iterator[StandIn]:
    """The stand-in at an address of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/model":
                self.guarded(lambda: ({"models": stand_in.models}, {}))
                return
            content, kind = FILES.get(self.path, (b"", "text/plain"))
            self.answer(200 if content else 404, content, kind, {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.guarded(lambda: stand_in.tag(body))

        def guarded(self, act: Callable[[], tuple[Any, dict[str, str]]]) -> None:
            if stand_in.token and self.headers["Authorization"] != f"Bearer {stand_in.token}":
                self.answer(401, b'{"detail": "no"}', "application/json", {"WWW-Authenticate": "Bearer"})
            elif self.command == "POST" and stand_in.refusals:
                status, detail, headers = stand_in.refusals.pop(0)
                self.answer(status, json.dumps({"detail": detail}).encode(), "application/json", headers)
            else:
                content, headers = act()
                text = content if isinstance(content, str) else json.dumps(content)
                kind = "text/plain; charset=utf-8" if isinstance(content, str) else "application/json"
                self.answer(200, text.encode(), kind, headers)

        def answer(self, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
            self.send_response(status)
            fields = {"Content-Type": kind, "Content-Length": str(len(body))}
            for name, value in (fields | SECURITY_HEADERS | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: the tests look at what was asked."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stand_in.address = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield stand_in
        server.shutdown()
        thread.join()
