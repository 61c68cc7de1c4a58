"""What the service answers, over real HTTP: the same as the tagger, or an error that names the field."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiny
from service.serving import GatedTagger, Served, connection, served, texts, wait_until
from spanwright.evaluation import Calibration
from spanwright.palette import colour_numbers
from spanwright.predicting.tagger import Tagger
from spanwright.service.page_files import page_files
from spanwright.text import Document

THRESHOLDS = {"Cell": 0.52, "Gene": 0.6}
ANIMAL = {"Animal": "names of animals"}


def calibrated() -> Tagger:
    model = replace(tiny.model(), calibration=Calibration("temperature", 8.0), thresholds=THRESHOLDS)
    return Tagger(replace(model, facts={"scores": {"dev": {"f1": 0.5}}}))


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    binder = tiny.model(("Cell",), seed=3, scorer={"kind": "bi-encoder", "types": "guidelines"})
    return {"plain": calibrated(), "binder": Tagger(binder)}


@pytest.fixture(scope="module")
def service(taggers: dict[str, Tagger]) -> Iterator[Served]:
    with served(taggers) as running:
        yield running


def records(document: Document) -> list[dict[str, Any]]:
    return [
        {
            "start": entity.start,
            "end": entity.end,
            "type": entity.type,
            "text": document.mention(entity),
            "confidence": pytest.approx(entity.confidence, abs=1e-4),
        }
        for entity in document.entities
    ]


def test_an_answer_has_the_entities_of_the_tagger(service: Served, taggers: dict[str, Tagger]) -> None:
    given = [*texts(12), "", " \n", "😀 p53 in 𝔸 cells"]
    answer = service.tag(texts=given).json()
    assert answer["model"] == "plain"
    assert [document["text"] for document in answer["documents"]] == given
    assert [document["id"] for document in answer["documents"]] == [f"text-{n}" for n in range(1, 16)]
    alone = [taggers["plain"].tag(text) for text in given]
    assert sum(len(document.entities) for document in alone) > 30
    assert [document["entities"] for document in answer["documents"]] == list(map(records, alone))


def test_one_text_is_answered_like_a_list_of_one(service: Served) -> None:
    assert service.tag(text="p53 in cells").json() == service.tag(texts=["p53 in cells"]).json()


def test_offsets_count_characters_and_not_units_of_utf_16(service: Served) -> None:
    (document,) = service.tag(text="😀😀 p53 cells 😀").json()["documents"]
    assert document["characters"] == 14
    assert document["entities"]
    for entity in document["entities"]:
        assert document["text"][entity["start"] : entity["end"]] == entity["text"]


@pytest.mark.parametrize("minimum", [0.0, 0.55, 1.0])
@pytest.mark.parametrize("tuned", [False, True])
def test_thresholds_drop_what_the_tagger_would_drop(
    service: Served, taggers: dict[str, Tagger], minimum: float, tuned: bool
) -> None:
    given = texts(20, seed=1)
    answer = service.tag(texts=given, minimum_confidence=minimum, tuned_thresholds=tuned).json()
    kept = taggers["plain"].tag(given, minimum_confidence=minimum, tuned_thresholds=tuned)
    assert [document["entities"] for document in answer["documents"]] == [records(each) for each in kept]


def test_the_highest_of_several_thresholds_counts(service: Served) -> None:
    given = texts(20, seed=2)
    everything = service.tag(texts=given).json()["documents"]
    asked = {"minimum_confidence": 0.51, "thresholds": {"Cell": 0.56, "Gene": 0.5}, "tuned_thresholds": True}
    kept = service.tag(texts=given, **asked).json()["documents"]
    lowest = {"Cell": 0.56, "Gene": 0.6}
    for before, after in zip(everything, kept, strict=True):
        expected = [each for each in before["entities"] if each["confidence"] >= lowest[each["type"]]]
        assert after["entities"] == expected
    counts = [sum(len(each["entities"]) for each in answer) for answer in (kept, everything)]
    assert 0 < counts[0] < counts[1]


def test_requests_with_different_thresholds_share_a_batch(taggers: dict[str, Tagger]) -> None:
    gated = GatedTagger(taggers["plain"])
    minimums = [0.0, 0.53, 0.56, 0.6, 1.0]
    text = " ".join(texts(3, seed=5))
    with served({"gated": gated}) as running, ThreadPoolExecutor(6) as pool:
        first = pool.submit(running.tag, text="first")
        wait_until(lambda: bool(gated.calls))
        asked = [pool.submit(running.tag, text=text, minimum_confidence=minimum) for minimum in minimums]
        wait_until(lambda: running.service.models[0].batcher.length == 6)
        gated.gate.set()
        first.result()
        for minimum, answer in zip(minimums, asked, strict=True):
            kept = taggers["plain"].tag(text, minimum_confidence=minimum)
            assert answer.result().json()["documents"][0]["entities"] == records(kept)
        assert gated.calls == [["first"], [text] * 5]
        assert running.metric('spanwright_batch_requests_bucket{le="4.0",model="gated"}') == 1
        assert running.metric('spanwright_batch_requests_bucket{le="8.0",model="gated"}') == 2


def test_types_are_looked_for_by_their_descriptions(service: Served, taggers: dict[str, Tagger]) -> None:
    given = texts(8, seed=4)
    answer = service.tag(texts=given, model="binder", types=ANIMAL).json()
    alone = list(taggers["binder"].with_types(ANIMAL).tag(given))
    assert answer["model"] == "binder"
    assert {entity.type for document in alone for entity in document.entities} == {"Cell", "Animal"}
    assert [document["entities"] for document in answer["documents"]] == list(map(records, alone))


def test_a_threshold_of_a_type_of_the_request_is_legal(service: Served) -> None:
    asked = {"texts": texts(8, seed=4), "model": "binder", "types": ANIMAL}
    kept = service.tag(**asked, thresholds={"Animal": 1.0}).json()["documents"]
    found = {entity["type"] for document in kept for entity in document["entities"]}
    assert found == {"Cell"}


def test_models_tell_what_can_be_asked_of_them(service: Served) -> None:
    plain, binder = service.client.get("/model").json()["models"]
    assert plain == {
        "name": "plain",
        "recipe": "tiny",
        "description": "",
        "types": ["Cell", "Gene"],
        "colours": colour_numbers(["Cell", "Gene"]),
        "reads_descriptions": False,
        "corpora": [],
        "calibrated": True,
        "tuned_thresholds": THRESHOLDS,
        "scores": {"dev": {"f1": 0.5}},
        "default": True,
        "links": False,
    }
    assert (binder["name"], binder["reads_descriptions"], binder["calibrated"]) == ("binder", True, False)
    assert (binder["default"], binder["tuned_thresholds"]) == (False, {})


GOOD = {"text": "p53 in cells"}
BAD_FIELDS: list[tuple[str, dict[str, Any], list[str | int]]] = [
    ("neither", {}, ["body"]),
    ("both", {"text": "a", "texts": ["a"]}, ["body"]),
    ("no-string", {"text": 5}, ["body", "text"]),
    ("no-texts", {"texts": []}, ["body", "texts"]),
    ("a-text-of-many", {"texts": ["a", None]}, ["body", "texts", 1]),
    ("misspelt", {**GOOD, "treshold": 1}, ["body", "treshold"]),
    ("negative", {**GOOD, "minimum_confidence": -0.1}, ["body", "minimum_confidence"]),
    ("string", {**GOOD, "minimum_confidence": "0.5"}, ["body", "minimum_confidence"]),
    ("beyond-1", {**GOOD, "thresholds": {"Cell": 1.5}}, ["body", "thresholds", "Cell"]),
    ("unknown-type", {**GOOD, "thresholds": {"Cel": 0.5}}, ["body", "thresholds", "Cel"]),
    ("no-boolean", {**GOOD, "tuned_thresholds": 1}, ["body", "tuned_thresholds"]),
    ("untuned", {**GOOD, "model": "binder", "tuned_thresholds": True}, ["body", "tuned_thresholds"]),
    ("unknown-model", {**GOOD, "model": "other"}, ["body", "model"]),
    ("undescribable", {**GOOD, "types": ANIMAL}, ["body", "types"]),
    ("no-description", {**GOOD, "model": "binder", "types": {"A": ""}}, ["body", "types", "A"]),
    ("unknown-format", {**GOOD, "format": "xml"}, ["body", "format"]),
    ("no-corpora", {**GOOD, "corpus": "genia"}, ["body", "corpus"]),
]


@pytest.mark.parametrize(
    ("body", "place"), [row[1:] for row in BAD_FIELDS], ids=[row[0] for row in BAD_FIELDS]
)
def test_a_field_that_cannot_be_used_is_named(
    service: Served, body: dict[str, Any], place: list[str | int]
) -> None:
    answer = service.tag(**body)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"][: len(place)] == place
    assert problem["msg"] and problem["type"]


BAD_BYTES: list[tuple[str, bytes, int, list[str | int]]] = [
    ("lone-surrogate", rb'{"text": "ab\ud800"}', 422, ["body", "text"]),
    ("lone-surrogate-of-many", rb'{"texts": ["a", "ab\ud800"]}', 422, ["body", "texts", 1]),
    ("lone-surrogate-in-a-name", rb'{"text": "a", "\udfff": 1}', 422, ["body"]),
    ("lone-surrogate-in-a-model", rb'{"text": "a", "model": "\udfff"}', 422, ["body", "model"]),
    ("lone-surrogate-in-a-type", rb'{"text": "a", "thresholds": {"\udfff": 1}}', 422, ["body", "thresholds"]),
    ("lone-surrogate-in-a-corpus", rb'{"text": "a", "corpus": "\udfff"}', 422, ["body", "corpus"]),
    ("lone-surrogate-in-a-description", rb'{"text": "a", "types": {"A": "\udfff"}}', 422, ["body", "types"]),
    ("not-a-number", b'{"text": "a", "minimum_confidence": NaN}', 422, ["body", "minimum_confidence"]),
    ("infinity", b'{"text": "a", "thresholds": {"Cell": 1e999}}', 422, ["body", "thresholds", "Cell"]),
    ("cut-off", b'{"text": "a', 400, []),
    ("no-object", b"[1]", 422, ["body"]),
    ("null", b"null", 422, ["body"]),
    ("nothing", b"", 422, ["body"]),
    ("no-utf-8", b'{"text": "\xff"}', 400, []),
    ("nested-deeply", b"[" * 200_000, 400, []),
    ("huge-number", b'{"text": ' + b"1" * 10_000 + b"}", 400, []),
]


@pytest.mark.parametrize(
    ("content", "status", "place"), [row[1:] for row in BAD_BYTES], ids=[row[0] for row in BAD_BYTES]
)
def test_bytes_that_cannot_be_used_are_refused(
    service: Served, content: bytes, status: int, place: list[str | int]
) -> None:
    answer = service.client.post("/tag", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    detail = answer.json()["detail"]
    assert detail and (status == 400 or detail[0]["loc"][: len(place)] == place)


@pytest.mark.parametrize("path", ["/tag", "/doccano"])
@pytest.mark.parametrize(
    "content", ['{"text": "naïve"}'.encode("latin-1"), gzip.compress(b"{}")], ids=["latin-1", "gzip"]
)
def test_what_a_body_must_be_is_told_where_it_is_no_text(service: Served, content: bytes, path: str) -> None:
    answer = service.client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("the body cannot be read as JSON: 'utf-8' codec can't decode")
    assert answer.json()["detail"].endswith("; expected JSON in UTF-8, uncompressed")


def test_a_body_with_a_content_encoding_is_refused(service: Served) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = service.client.post("/tag", content=gzip.compress(b'{"text": "p53"}'), headers=headers)
    assert (answer.status_code, answer.headers["Accept-Encoding"]) == (415, "identity")
    assert "expected JSON in UTF-8, uncompressed" in answer.json()["detail"]


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
def test_a_body_of_another_media_type_is_refused_with_the_line_to_copy(
    service: Served, headers: dict[str, str]
) -> None:
    answer = service.client.post("/tag", content=b'{"text": "p53"}', headers=headers)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["body"]
    assert problem["msg"].startswith(
        "the Content-Type is text/plain; expected" if headers else "there is no Content-Type; expected"
    )
    assert """-H 'Content-Type: application/json' -d '{"text": "A text."}'""" in problem["msg"]


def test_an_unknown_field_is_told_with_the_one_that_was_meant(service: Served) -> None:
    problems = service.tag(txt="p53").json()["detail"]
    assert problems[0]["msg"].startswith("there is no such field; did you mean 'text'? expected text, texts")


RAW = re.compile(r"Input (should|tag)|Extra inputs|Field required|Value error|pydantic|valid dictionary")


@pytest.mark.parametrize(
    "body", [row[1] for row in BAD_FIELDS] + [[1], None, 3], ids=lambda body: json.dumps(body)[:30]
)
def test_no_answer_has_the_words_of_the_checking_library(service: Served, body: Any) -> None:
    assert not RAW.search(service.client.post("/tag", json=body).text)


def test_of_many_problems_the_first_are_told(service: Served) -> None:
    answer = service.tag(texts=[1] * 1000)
    assert answer.status_code == 422
    assert len(answer.json()["detail"]) == 20


_FIELDS = (
    "text",
    "texts",
    "model",
    "minimum_confidence",
    "thresholds",
    "tuned_thresholds",
    "types",
    "corpus",
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("binder")
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from([*_FIELDS, "format"]), _VALUES, max_size=4))
def test_no_body_makes_the_service_fail(service: Served, body: dict[str, Any]) -> None:
    content = json.dumps(body).encode()
    answer = service.client.post("/tag", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 422), answer.text


def test_without_the_token_only_the_open_paths_are_answered(taggers: dict[str, Tagger]) -> None:
    with served({"plain": taggers["plain"]}, token="s3cret") as running:
        for path in ("/health", "/ready", *page_files()):
            assert running.client.get(path).status_code == 200, path
        for header in (
            {},
            {"Authorization": "Bearer s3cre"},
            {"Authorization": "Basic s3cret"},
            {"X-API-Key": "s3cre"},
            {"X-API-Key": "Bearer s3cret"},
            {"X-API-Key": ""},
        ):
            for path in ("/model", "/metrics", "/openapi.json", "/nothing"):
                answer = running.client.get(path, headers=header)
                assert answer.status_code == 401, path
                assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert running.client.post("/tag", json=GOOD, headers=header).status_code == 401
        for right in ({"Authorization": "Bearer s3cret"}, {"X-API-Key": "s3cret"}):
            assert running.client.post("/tag", json=GOOD, headers=right).status_code == 200
            assert running.client.get("/model", headers=right).status_code == 200


def test_a_token_with_characters_beyond_ascii_is_compared_too(taggers: dict[str, Tagger]) -> None:
    with served({"plain": taggers["plain"]}, token="s3cret") as running:
        answer = running.client.get("/model", headers={"Authorization": b"Bearer \xff\xfe"})
        assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/", "/health", "/model", "/nothing", "/tag"])
def test_every_answer_has_the_security_headers(service: Served, path: str) -> None:
    headers = service.client.get(path).headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_the_page_and_all_that_it_loads_come_from_the_service(service: Served) -> None:
    page = service.client.get("/")
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    linked = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert any(path.endswith(".js") for path in linked)
    for path in linked:
        assert service.client.get(f"/{path.removeprefix('/')}").status_code == 200, path


@pytest.mark.parametrize("path", ["/page/../app.py", "/page/%2e%2e/app.py", "/page/", "/page/nothing.js"])
def test_no_other_file_is_served(service: Served, path: str) -> None:
    with connection(service.port) as opened:
        opened.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert opened.recv(100).startswith(b"HTTP/1.1 404 ")


def test_pages_that_would_load_scripts_from_elsewhere_are_off(service: Served) -> None:
    assert service.client.get("/redoc").status_code == 404
    page = service.client.get("/docs")
    assert page.status_code == 200
    assert "<code>/tag</code>" in page.text and "below the model&#x27;s own threshold" in page.text
    assert "<script" not in page.text and not re.search(r"(src|href)=.http", page.text)
    assert all(name in page.text for name in ("curl", "import httpx", "await fetch"))
    paths = service.client.get("/openapi.json").json()["paths"]
    tools = ("/label-studio/", "/inception/", "/doccano")
    assert {path for path in paths if not path.startswith(tools)} == {
        "/health",
        "/ready",
        "/model",
        "/metrics",
        "/tag",
    }


def test_a_service_that_is_about_to_end_is_alive_but_not_ready(taggers: dict[str, Tagger]) -> None:
    with served({"plain": taggers["plain"]}) as running:
        assert running.client.get("/ready").json() == {"status": "ready"}
        running.service.draining = True
        answer = running.client.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "draining"})
        assert running.client.get("/health").json() == {"status": "alive"}


def test_metrics_count_what_was_done(taggers: dict[str, Tagger]) -> None:
    with served({"plain": taggers["plain"]}) as running:
        found = running.tag(texts=["p53 in cells", "beta cells"]).json()["documents"]
        running.tag(text=5)
        running.client.get("/made-up")
        expected = {
            'spanwright_requests_total{path="/tag",status="200"}': 1,
            'spanwright_requests_total{path="/tag",status="422"}': 1,
            'spanwright_requests_total{path="other",status="404"}': 1,
            'spanwright_documents_total{model="plain"}': 2,
            'spanwright_words_total{model="plain"}': 5,
            'spanwright_entities_total{model="plain"}': sum(len(each["entities"]) for each in found),
            'spanwright_batch_words_sum{model="plain"}': 5,
            'spanwright_batch_requests_count{model="plain"}': 1,
            'spanwright_request_seconds_count{path="/tag"}': 2,
            'spanwright_queue_requests{model="plain"}': 0,
        }
        assert {line: running.metric(line) for line in expected} == expected
        assert running.metric("process_resident_memory_bytes") > 1e6


def test_an_error_that_nobody_foresaw_is_500_without_its_reason(
    taggers: dict[str, Tagger], caplog: pytest.LogCaptureFixture
) -> None:
    gated = GatedTagger(taggers["plain"])
    gated.gate.set()
    with served({"gated": gated}) as running:
        answer = running.tag(text="poison")
        assert answer.status_code == 500
        assert answer.json() == {"detail": "the service failed; its log has the reason"}
        assert "Content-Security-Policy" in answer.headers
        assert running.metric('spanwright_requests_total{path="/tag",status="500"}') == 1
        assert running.tag(text="later").status_code == 200
    assert "poisoned" in caplog.text


@pytest.mark.parametrize("path", ["/health", "/ready", "/"])
def test_a_head_has_no_body(service: Served, path: str) -> None:
    answer = service.client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_long_name_of_a_field_is_not_repeated_whole(service: Served) -> None:
    answer = service.tag(text="p53", **{"x" * 10_000: 1})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "x" * 100 + "…"]
    corpus = service.tag(text="p53", corpus="y" * 10_000)
    assert corpus.status_code == 422 and len(corpus.content) < 1000


def test_two_authorization_headers_are_refused(taggers: dict[str, Tagger]) -> None:
    right = ("Authorization", "Bearer s3cret")
    with served({"plain": taggers["plain"]}, token="s3cret") as running:
        assert running.client.get("/model", headers=[right]).status_code == 200
        for other in (right, ("Authorization", "Bearer wrong"), ("X-API-Key", "wrong")):
            assert running.client.get("/model", headers=[right, other]).status_code == 401
            assert running.client.get("/model", headers=[other, right]).status_code == 401


@pytest.mark.parametrize("text", ["\ufeffp53 in cells", "p53 in cells"])
def test_a_brat_answer_has_the_text_as_it_was_sent(service: Served, text: str) -> None:
    (document,) = service.tag(text=text, format="brat").json()
    assert document["text"] == text


FOREIGN = ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost@evil.example", "[", ""]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_refused(service: Served, host: str) -> None:
    for path in ("/", "/health", "/model"):
        answer = service.client.get(path, headers={"Host": host})
        assert answer.status_code in (400, 421), path
        assert "location" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:8000"])
def test_the_names_of_this_machine_are_answered(service: Served, host: str) -> None:
    assert service.client.get("/health", headers={"Host": host}).status_code == 200


def test_a_host_that_was_allowed_is_answered_and_may_send_its_page(taggers: dict[str, Tagger]) -> None:
    with served({"plain": taggers["plain"]}, hosts=["Tags.example"]) as running:
        named = {"Host": "tags.example:80", "Origin": "https://tags.example"}
        assert running.client.post("/tag", json=GOOD, headers=named).status_code == 200
        proxied = {"Origin": "https://tags.example"}
        assert running.client.post("/tag", json=GOOD, headers=proxied).status_code == 200
        assert running.client.get("/health", headers={"Host": "other.example"}).status_code == 421


def test_a_foreign_origin_is_refused_and_the_own_page_is_not(service: Served) -> None:
    own = f"http://127.0.0.1:{service.port}"
    for origin in (
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        own + ".evil.example",
    ):
        answer = service.client.post("/tag", json=GOOD, headers={"Origin": origin})
        assert answer.status_code == 403, origin
    assert service.client.post("/tag", json=GOOD, headers={"Origin": own}).status_code == 200


@pytest.mark.parametrize("path", ["/health/", "/tag/", "/model/", "/docs/"])
def test_no_path_with_a_slash_is_redirected(service: Served, path: str) -> None:
    assert service.client.get(path, follow_redirects=False).status_code == 404


def test_the_openapi_file_says_what_is_refused(service: Served) -> None:
    paths = service.client.get("/openapi.json").json()["paths"]
    refused = {"400", "401", "403", "408", "413", "415", "421", "422", "503"}
    assert paths["/tag"]["post"]["responses"].keys() == {"200"} | refused
    kinds = {
        "application/json",
        "application/x-ndjson",
        "text/csv",
        "text/plain",
        "text/tab-separated-values",
    }
    assert paths["/tag"]["post"]["responses"]["200"]["content"].keys() == kinds
    assert paths["/ready"]["get"]["responses"].keys() == {"200", "400", "403", "421", "503"}
