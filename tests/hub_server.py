"""A stand-in for the Hugging Face Hub: an HTTP server with the few addresses that up- and download use."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

Files = dict[str, bytes]


class Hub:
    """Repositories, each a list of commits, and what was asked of the server."""

    def __init__(self) -> None:
        self.address = ""
        self.commits: dict[str, list[Files]] = {}
        self.requests: list[str] = []
        self.tokens: set[str | None] = set()
        self.created: list[dict[str, Any]] = []
        self.failing: dict[str, tuple[int, dict[str, str], Any]] = {}
        """Answers to give to every address with some text in it: status, headers, body."""

    def files(self, repository: str, revision: str) -> Files | None:
        """The files at a revision: `main`, or a commit."""
        commits = self.commits[repository]
        revisions = {sha(repository, number): files for number, files in enumerate(commits)}
        return (commits[-1] if commits else {}) if revision == "main" else revisions.get(revision)

    def fetched(self) -> set[str]:
        """The names of all files whose content was asked for."""
        return {
            request.split("/resolve/")[1].partition("/")[2]
            for request in self.requests
            if "/resolve/" in request
        }


def sha(repository: str, number: int) -> str:
    """The name of a commit."""
    return hashlib.sha1(f"{repository} {number}".encode()).hexdigest()


@contextmanager
def running() -> Iterator[Hub]:
    """A server on a free port of this machine."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield hub
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.hub.requests.append(f"{self.command} {path}")
        self.hub.tokens.add(self.headers.get("Authorization"))
        failing = [answer for part, answer in self.hub.failing.items() if part in path]
        status, headers, content = failing[0] if failing else self._content(path, body)
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(sent))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent)

    def _content(self, path: str, body: bytes) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body of an answer."""
        if path == "/api/validate-yaml":
            return 200, {}, {}
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(\w+)/(.+))?", path):
            return self._repository(*found.groups(), body)
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._file(*found.groups())
        return 404, {}, {"error": f"the stand-in has no {path}"}

    def _create(self, wish: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        name = f"{wish['organization']}/{wish['name']}"
        self.hub.created.append(wish)
        is_new = self.hub.commits.setdefault(name, []) == []
        return 200 if is_new else 409, {}, {"url": f"{self.hub.address}/{name}"}

    def _repository(
        self, name: str, verb: str | None, revision: str | None, body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        if name not in self.hub.commits:
            return 404, {"X-Error-Code": "RepoNotFound"}, {}
        if verb == "preupload":
            asked = json.loads(body)["files"]
            return (
                200,
                {},
                {"files": [each | {"uploadMode": "regular", "shouldIgnore": False} for each in asked]},
            )
        if verb == "commit":
            return self._commit(name, body)
        files = self.hub.files(name, revision or "main")
        if files is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, {}
        if verb == "tree":
            listed = [{"type": "file", "path": path, "size": len(files[path]), "oid": "0"} for path in files]
            return 200, {}, listed
        number = next((place for place, each in enumerate(self.hub.commits[name]) if each is files), 0)
        siblings = [{"rfilename": path} for path in files]
        return 200, {}, {"id": name, "sha": sha(name, number), "siblings": siblings}

    def _commit(self, name: str, body: bytes) -> tuple[int, dict[str, str], Any]:
        lines = [json.loads(line) for line in body.splitlines()]
        added = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"])
            for line in lines
            if line["key"] == "file"
        }
        removed = {line["value"]["path"] for line in lines if line["key"] == "deletedFile"}
        commits = self.hub.commits[name]
        before = {
            path: each for path, each in (commits[-1] if commits else {}).items() if path not in removed
        }
        commits.append({**before, **added})
        commit = sha(name, len(commits) - 1)
        return 200, {}, {"commitUrl": f"{self.hub.address}/{name}/commit/{commit}", "commitOid": commit}

    def _file(self, name: str, revision: str, path: str) -> tuple[int, dict[str, str], Any]:
        content = (self.hub.files(name, revision) or {})[path]
        etag = hashlib.sha1(content).hexdigest()
        return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": revision}, content
