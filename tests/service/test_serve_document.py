"""docs/serve.md tells the options, limits and status codes that the service has."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import tiny
from places import ROOT
from service.serving import served
from spanwright.cli.serve import serve_command
from spanwright.predicting.tagger import Tagger
from spanwright.service import running
from spanwright.service.batching import _LONG_TOGETHER
from spanwright.service.limits import ServiceLimits

PAGE = (ROOT / "docs" / "serve.md").read_text()
OPTIONS = inspect.signature(serve_command).parameters
WORDS = {4: "four"}


def rows(heading: str) -> list[tuple[str, str]]:
    """The first two cells of each row of the table under a heading of columns."""
    _, _, below = PAGE.partition(f"| {heading} |")
    table = below.partition("\n\n")[0].splitlines()[2:]
    return [(first.strip(), second) for first, second in (line.split("|")[1:3] for line in table)]


def test_every_option_has_a_row_and_every_row_is_an_option() -> None:
    told = {name for first, _ in rows("option") for name in re.findall(r"--([\w-]+)", first)}
    assert told == {name.replace("_", "-") for name in OPTIONS} - {"models"}


@pytest.mark.parametrize(
    "option", ["host", "port", "workers", "queue", "batch-words", "request-words", "timeout", "drain-seconds"]
)
def test_the_usual_value_of_an_option_is_told(option: str) -> None:
    usual = OPTIONS[option.replace("-", "_")].default
    [meaning] = [second for first, second in rows("option") if f"`--{option}`" in first]
    number = f"{usual:g}" if isinstance(usual, float) else str(usual)
    assert number in meaning.replace(",", "")


def test_the_status_codes_are_those_of_the_openapi_file() -> None:
    with served({"plain": Tagger(tiny.model())}) as running:
        paths = running.client.get("/openapi.json").json()["paths"]
    answers = paths["/tag"]["post"]["responses"]
    assert [first for first, _ in rows("status")] == sorted(answers.keys() - {"200"})


def test_the_limits_of_a_request_are_told() -> None:
    limits = ServiceLimits()
    told = {
        "body_bytes": f"more than {limits.body_bytes // 2**20} MB",
        "tool_body_bytes": f"up to {limits.tool_body_bytes // 2**20} MB where annotation tools ask",
        "held_bytes": f"all bodies together have {limits.held_bytes // 2**20} MB",
        "request_words": f"{limits.request_words:,} unless given",
        "body_seconds": f"did not arrive within {limits.body_seconds:g} seconds",
        "answer_seconds": f"takes nothing of its answer for {limits.answer_seconds:g} seconds",
    }
    assert told.keys() == {field.name for field in fields(limits)}
    assert [line for line in told.values() if line not in " ".join(PAGE.split())] == []
    assert f"are closed after {running._IDLE_SECONDS} seconds" in " ".join(PAGE.split())
    assert f"At most {WORDS[_LONG_TOGETHER]} long texts" in " ".join(PAGE.split())
