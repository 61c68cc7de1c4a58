"""The page about the paths of the service, made from the OpenAPI file, without any script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: the API</title>
<link rel="icon" href="page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page/page.css">
<link rel="stylesheet" href="page/docs.css">
</head>
<body class="docs">
<header>
  <img src="page/icon.svg" alt="" width="30" height="30">
  <h1>{title}</h1>
  <p class="quiet">{version}: the API</p>
  <a href="./">The page</a>
  <a href="openapi.json">openapi.json</a>
</header>
<main>
<p>{description}</p>
<section>
<h2>Ask it</h2>
{examples}
<p class="note">Where a token is set, send it as <code>Authorization: Bearer TOKEN</code> or
<code>X-API-Key: TOKEN</code>.</p>
</section>
{fields}
{paths}
</main>
</body>
</html>
"""
_BODY = '{"text": "Mutations of BRCA1 cause breast cancer."}'
_EXAMPLES = {
    "curl": f"""curl localhost:8000/tag -H 'Content-Type: application/json' \\
  -d '{_BODY}'""",
    "Python": f"""import httpx

request = {_BODY}
answer = httpx.post("http://localhost:8000/tag", json=request)
for entity in answer.raise_for_status().json()["documents"][0]["entities"]:
    print(entity["type"], entity["text"], entity["confidence"])""",
    "JavaScript": f"""const answer = await fetch("http://localhost:8000/tag", {{
  method: "POST",
  headers: {{ "Content-Type": "application/json" }},
  body: JSON.stringify({_BODY}),
}});
const [{{ text, entities }}] = (await answer.json()).documents;
const characters = Array.from(text); // offsets count characters, not UTF-16 units
for (const {{ start, end, type }} of entities) {{
  console.log(type, characters.slice(start, end).join(""));
}}""",
}


def docs_page(openapi: dict[str, Any]) -> bytes:
    """The page about an OpenAPI document."""
    about = {name: escape(str(openapi["info"].get(name, ""))) for name in ("title", "version", "description")}
    return _PAGE.format(
        **about,
        examples="\n".join(_example(name, text) for name, text in _EXAMPLES.items()),
        fields=_fields(openapi["components"]["schemas"]["TagRequest"]),
        paths="\n".join(_path(path, methods) for path, methods in openapi["paths"].items()),
    ).encode("utf-8")


def _example(name: str, text: str) -> str:
    return f"<h3>{escape(name)}</h3>\n<pre tabindex='0'><code>{escape(text)}</code></pre>"


def _path(path: str, methods: dict[str, Any]) -> str:
    return "\n".join(_operation(method.upper(), path, about) for method, about in methods.items())


def _operation(method: str, path: str, about: dict[str, Any]) -> str:
    answers = ((status, answer["description"]) for status, answer in about["responses"].items())
    heading = f"<h2><span class='method'>{escape(method)}</span> <code>{escape(path)}</code></h2>"
    table = _table(("status", "answer"), answers)
    return f"<section>\n{heading}\n<p>{escape(about['description'])}</p>\n{table}\n</section>"


def _fields(schema: dict[str, Any]) -> str:
    """The fields of a body."""
    rows = (
        (name, about.get("description", about.get("title", "")))
        for name, about in schema["properties"].items()
    )
    table = _table(("field", "meaning"), rows)
    return f"<section>\n<h2>Fields of the body of <code>POST /tag</code></h2>\n{table}\n</section>"


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    body = "\n".join(
        f"<tr><th scope='row'><code>{escape(name)}</code></th><td>{_with_code(text)}</td></tr>"
        for name, text in rows
    )
    columns = "".join(f"<th scope='col'>{name}</th>" for name in head)
    return f"<table>\n<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _with_code(text: str) -> str:
    """A text in which back quotes set off code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
