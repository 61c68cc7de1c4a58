"""The page about the paths of the service: a plain table, made from the OpenAPI file, without any script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}: the API</title></head>
<body>
<h1>{title} {version}: the API</h1>
<p>{description}</p>
<p>The same for programs: <a href="openapi.json">openapi.json</a>. To try it: <a href="./">the page</a>.</p>
{paths}
</body>
</html>
"""


def docs_page(openapi: dict[str, Any]) -> bytes:
    """The page about an OpenAPI document."""
    paths = (_path(path, methods) for path, methods in openapi["paths"].items())
    about = {name: escape(str(openapi["info"].get(name, ""))) for name in ("title", "version", "description")}
    fields = _fields(openapi["components"]["schemas"]["TagRequest"])
    return _PAGE.format(**about, paths="\n".join((*paths, fields))).encode("utf-8")


def _path(path: str, methods: dict[str, Any]) -> str:
    return "\n".join(_operation(f"{method.upper()} {path}", about) for method, about in methods.items())


def _operation(name: str, about: dict[str, Any]) -> str:
    answers = _list(f"{status}: {answer['description']}" for status, answer in about["responses"].items())
    return f"<h2>{escape(name)}</h2>\n<p>{escape(about['description'])}</p>\n{answers}"


def _fields(schema: dict[str, Any]) -> str:
    """The fields of a body."""
    rows = (
        f"{field}: {about.get('description', about.get('title', ''))}"
        for field, about in schema["properties"].items()
    )
    return f"<h2>Fields of the body of POST /tag</h2>\n{_list(rows)}"


def _list(rows: Iterator[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{escape(row)}</li>" for row in rows) + "\n</ul>"
