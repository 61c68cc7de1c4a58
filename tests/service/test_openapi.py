"""Promise 15: whatever clients make of the OpenAPI file, the service answers as it says, and never fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import tiny
from service.serving import Served, served
from spanwright.predicting.tagger import Tagger

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

OPERATIONS = ("GET /health", "GET /ready", "GET /model", "GET /metrics", "POST /tag")


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    with served({"plain": Tagger(tiny.model())}) as started:
        yield started


@pytest.fixture(scope="module")
def schema(service: Served) -> Any:
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}/openapi.json")


def check(schema: Any, operation: str, mode: str, examples: int) -> None:
    """Send generated requests, and compare every answer with the file."""
    from schemathesis.specs.openapi import checks

    method, path = operation.split()
    strategy = schema[path][method].as_strategy(generation_mode=schemathesis.GenerationMode(mode))
    expected = [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]

    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def send(case: Any) -> None:
        case.call_and_validate(checks=expected)

    send()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_are_as_the_openapi_file_says(schema: Any, operation: str) -> None:
    check(schema, operation, "positive", examples=15 if "POST" in operation else 2)


def test_wrong_requests_are_refused_as_the_openapi_file_says(schema: Any) -> None:
    check(schema, "POST /tag", "negative", examples=20)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_many_requests_are_answered_as_the_openapi_file_says(schema: Any, mode: str) -> None:
    check(schema, "POST /tag", mode, examples=500)
