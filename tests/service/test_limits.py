"""Promises 13, 14 and 16 in the small: limits of requests, and clients that are slow, leave or never end."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

import tiny
from service.serving import (
    PATIENCE,
    GatedTagger,
    Served,
    answer_of,
    connection,
    head,
    served,
    tag_request,
    wait_until,
)
from spanwright.errors import SpanwrightError
from spanwright.predicting.tagger import Tagger
from spanwright.service import connections, running
from spanwright.service.answers import Service
from spanwright.service.limits import Guard, ServiceLimits
from spanwright.service.metrics import Metrics
from spanwright.service.models import serve_with


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture(scope="module")
def service(tagger: Tagger) -> Iterator[Served]:
    with served({"plain": tagger}) as started:
        yield started


@pytest.fixture
def gated(tagger: Tagger) -> Iterator[GatedTagger]:
    made = GatedTagger(tagger)
    yield made
    made.gate.set()


def inside(running: Served) -> int:
    return running.service.models[0].batcher.length


def chunked(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def test_a_length_beyond_the_limit_is_refused_before_any_of_the_body_is_sent(service: Served) -> None:
    with connection(service.port) as opened:
        opened.sendall(head(service.port, length=2_000_000))
        status, headers, body = answer_of(opened)
    assert status == 413
    assert b"more than 1048576 bytes" in body
    assert headers["connection"] == "close"


def test_a_body_in_chunks_is_refused_where_it_passes_the_limit(service: Served) -> None:
    with connection(service.port) as opened:
        opened.sendall(head(service.port, length=None))
        for _ in range(17):
            opened.sendall(chunked(b"a" * 65536))
        # The body has not ended, and the answer is there.
        assert answer_of(opened)[0] == 413


@pytest.mark.parametrize("length", [2_000_000, None], ids=["length", "chunks"])
def test_a_client_that_sends_all_before_it_reads_gets_the_answer(service: Served, length: int | None) -> None:
    with connection(service.port) as opened:
        opened.sendall(head(service.port, length=length))
        if length is None:
            for _ in range(4):
                opened.sendall(chunked(b"a" * 1_000_000))
            opened.sendall(b"0\r\n\r\n")
        else:
            opened.sendall(b"a" * length)
        assert answer_of(opened)[0] == 413
        assert opened.recv(1) == b""


def test_a_body_at_the_limit_is_read(service: Served) -> None:
    content = b'{"text": "p53"}'.ljust(2**20)
    with connection(service.port) as opened:
        opened.sendall(head(service.port, length=len(content)) + content)
        assert answer_of(opened)[0] == 200


def test_a_body_that_comes_too_slowly_is_refused(tagger: Tagger) -> None:
    with (
        served({"plain": tagger}, limits=ServiceLimits(body_seconds=0.3)) as started,
        connection(started.port) as opened,
    ):
        opened.sendall(head(started.port, length=100) + b"{")
        status, _, body = answer_of(opened)
        assert (status, b"within 0.3 s" in body) == (408, True)


def test_bodies_have_room_together_and_leave_it(tagger: Tagger, gated: GatedTagger) -> None:
    text = "p53 " * 50
    with (
        served({"gated": gated}, limits=ServiceLimits(held_bytes=600)) as started,
        ThreadPoolExecutor(2) as pool,
    ):
        held = [pool.submit(started.tag, text=text) for _ in range(2)]
        wait_until(lambda: inside(started) == 2)
        refused = started.tag(text=text)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert started.client.get("/health").status_code == 200
        gated.gate.set()
        assert [each.result().status_code for each in held] == [200, 200]
        assert [started.tag(text=text).status_code for _ in range(3)] == [200] * 3


def test_more_requests_than_fit_are_refused_by_their_head(gated: GatedTagger) -> None:
    with served({"gated": gated}, queue=2) as started, ThreadPoolExecutor(2) as pool:
        held = [pool.submit(started.tag, text="p53") for _ in range(2)]
        wait_until(lambda: inside(started) == 2)
        with connection(started.port) as opened:
            opened.sendall(head(started.port, length=100_000))
            status, headers, body = answer_of(opened)
        assert status == 503
        assert 1 <= int(headers["retry-after"]) <= 60
        assert b"2 requests are waiting already" in body
        gated.gate.set()
        assert [each.result().status_code for each in held] == [200, 200]


def test_one_full_model_does_not_close_the_others(tagger: Tagger, gated: GatedTagger) -> None:
    with served({"gated": gated, "plain": tagger}, queue=1) as started, ThreadPoolExecutor(1) as pool:
        held = pool.submit(started.tag, text="p53")
        wait_until(lambda: inside(started) == 1)
        assert started.tag(text="p53").status_code == 503
        assert started.tag(text="p53", model="plain").status_code == 200
        gated.gate.set()
        assert held.result().status_code == 200


def test_a_text_that_takes_too_long_by_itself_is_refused_with_the_limit_and_leaves(
    gated: GatedTagger,
) -> None:
    with served({"gated": gated}, timeout=0.3) as started:
        answer = started.tag(text="p53")
        assert answer.status_code == 413, "trying again would not help"
        assert "longer than the limit of 0.3 s" in answer.json()["detail"]
        assert "--timeout" in answer.json()["detail"]
        assert "Retry-After" not in answer.headers
        assert inside(started) == 0


def test_a_long_text_whose_time_is_up_is_tagged_no_further(tagger: Tagger) -> None:
    gated = GatedTagger(tagger)
    with served({"gated": gated}, timeout=0.3, batch_words=20) as started:
        assert started.tag(text="p53 in cells " * 100).status_code == 413
        gated.gate.set()
        wait_until(lambda: not started.service.models[0].batcher._begun)
        started.service.timeout = PATIENCE
        assert started.tag(text="p53").status_code == 200
        # None if even its first step came too late, on a machine that is very busy.
        assert len(gated.steps) <= 1


def test_a_request_that_waits_too_long_for_others_is_told_when_to_try_again(gated: GatedTagger) -> None:
    with served({"gated": gated}) as started, ThreadPoolExecutor(1) as pool:
        other = pool.submit(started.tag, text="p53")
        wait_until(lambda: inside(started) == 1)
        started.service.timeout = 0.3
        refused = started.tag(text="p53")
        assert refused.status_code == 503
        assert "limit of 0.3 s, beside 1 other" in refused.json()["detail"]
        assert int(refused.headers["Retry-After"]) >= 1
        gated.gate.set()
        assert other.result().status_code == 200


def test_both_ways_to_tell_the_length_of_a_body_are_refused(service: Served) -> None:
    content = b'{"text": "p53"}'
    both = head(service.port, length=len(content)).replace(
        b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with connection(service.port) as opened:
        opened.sendall(both + chunked(content) + b"0\r\n\r\n")
        status, headers, body = answer_of(opened)
    assert (status, headers["connection"]) == (400, "close")
    assert b"Transfer-Encoding or Content-Length" in body


def test_more_words_than_a_request_may_have_are_refused_with_both_numbers(tagger: Tagger) -> None:
    with served({"plain": tagger}, limits=ServiceLimits(request_words=10)) as started:
        assert started.tag(texts=["p53 in cells", "1 2 3 4 5 6 7"]).status_code == 200
        answer = started.tag(texts=["p53 in cells", "1 2 3 4 5 6 7 8"])
        assert answer.status_code == 413
        assert "has 11 words, and at most 10 are allowed" in answer.json()["detail"]
        assert "--request-words 11" in answer.json()["detail"]


def test_a_batch_that_is_stuck_is_told(gated: GatedTagger) -> None:
    with served({"gated": gated}, stuck_seconds=0.2) as started, ThreadPoolExecutor(1) as pool:
        assert started.client.get("/ready").status_code == 200
        held = pool.submit(started.tag, text="p53")
        wait_until(lambda: started.client.get("/ready").status_code == 503)
        assert started.client.get("/ready").json() == {"status": "stuck: gated"}
        assert started.metric('spanwright_batch_running_seconds{model="gated"}') > 0.2
        gated.gate.set()
        assert held.result().status_code == 200
        wait_until(lambda: started.client.get("/ready").status_code == 200)
        assert started.metric('spanwright_batch_running_seconds{model="gated"}') == 0


def test_health_is_quick_while_a_model_is_busy(gated: GatedTagger) -> None:
    with served({"gated": gated}) as started, ThreadPoolExecutor(1) as pool:
        held = pool.submit(started.tag, text="p53")
        wait_until(lambda: inside(started) == 1)
        assert started.client.get("/health").status_code == 200
        assert started.client.get("/ready").status_code == 200
        assert not held.done()
        gated.gate.set()


def test_a_client_that_leaves_frees_its_place(gated: GatedTagger) -> None:
    with served({"gated": gated}, queue=1) as started:
        with connection(started.port) as opened:
            opened.sendall(tag_request(started.port, text="p53"))
            wait_until(lambda: inside(started) == 1)
            assert started.tag(text="p53").status_code == 503
        wait_until(lambda: inside(started) == 0)
        gated.gate.set()
        assert started.tag(text="p53").status_code == 200
        assert started.metric('spanwright_requests_total{path="/tag",status="left"}') == 1


def test_a_client_that_leaves_while_it_sends_leaves_nothing_behind(service: Served) -> None:
    before = service.metric('spanwright_requests_total{path="/tag",status="left"}')
    with connection(service.port) as opened:
        opened.sendall(head(service.port, length=100) + b"{")
    wait_until(lambda: service.metric('spanwright_requests_total{path="/tag",status="left"}') == before + 1)


def test_a_client_that_takes_no_answer_is_dropped() -> None:
    taken: list[int] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a" * 300_000})

    async def receive() -> dict[str, Any]:
        if not taken:
            return {"type": "http.request", "body": b"{}", "more_body": False}
        return await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        taken.append(len(message.get("body", b"")))
        if len(taken) == 3:
            await asyncio.get_running_loop().create_future()

    guard = Guard(application, limits=ServiceLimits(answer_seconds=0.1), check_room=lambda: None)
    scope = {"type": "http", "method": "POST", "path": "/tag", "headers": []}
    asyncio.run(asyncio.wait_for(guard(scope, receive, send), PATIENCE))
    assert taken == [0, 65536, 65536]


def test_slow_clients_do_not_block_others(service: Served) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(connection(service.port)) for _ in range(50)]
        for number, opened in enumerate(slow):
            whole = tag_request(service.port, text="p53 in cells")
            opened.sendall(whole[: 20 if number % 2 else -5])
        started = time.monotonic()
        for _ in range(5):
            assert service.tag(text="p53").status_code == 200
            for opened in slow:
                opened.sendall(b" ")  # a sign of life, as a slow client gives
        assert time.monotonic() - started < 30


def test_a_connection_without_a_request_is_closed(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_IDLE_SECONDS", 0.5)
    with served({"plain": tagger}) as started, connection(started.port) as opened:
        opened.sendall(b"POST /tag HTTP/1.1\r\nHost: ")
        assert opened.recv(1) == b""


@pytest.mark.slow
def test_a_connection_is_kept_for_the_next_request(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    """For longer than the server would keep it unless told."""
    monkeypatch.setattr(running, "_IDLE_SECONDS", 7)
    with served({"plain": tagger}) as started, connection(started.port) as opened:
        opened.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer_of(opened)[0] == 200
        answered = time.monotonic()
        assert opened.recv(1) == b""
        assert time.monotonic() - answered > 6


def test_a_connection_whose_request_takes_long_is_not_closed(
    gated: GatedTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_IDLE_SECONDS", 2)
    with served({"gated": gated}) as started, connection(started.port) as asking:
        asking.sendall(tag_request(started.port, text="p53"))
        wait_until(lambda: inside(started) == 1)
        with connection(started.port) as idle:
            assert idle.recv(1) == b"", "it came later, and is closed already"
        gated.gate.set()
        assert answer_of(asking)[0] == 200


def test_a_service_that_is_to_end_before_it_has_started_ends_in_order(tagger: Tagger) -> None:
    metrics = Metrics()
    model = serve_with("plain", tagger, metrics, requests=1, batch_words=100)
    signals = running.Signals()
    signals.asked = [signal.SIGTERM, signal.SIGTERM]
    ready: list[bool] = []
    serving = running.serve(
        Service([model], metrics),
        running.listen("127.0.0.1", 0),
        signals=signals,
        on_ready=lambda: ready.append(True),
    )
    asyncio.run(asyncio.wait_for(serving, PATIENCE))
    assert not ready


def test_connections_wait_while_the_service_does_something_else(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It accepts a few at a time; the system would drop the others, who would try again after seconds."""
    busy, gate = threading.Event(), threading.Event()

    def status(service: Service) -> str:
        busy.set()
        assert gate.wait(PATIENCE)
        return "ready"

    monkeypatch.setattr(Service, "status", property(status))
    with served({"plain": tagger}) as started, ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(gate.set)
        held = pool.submit(started.client.get, "/ready")
        assert busy.wait(PATIENCE)
        waiting = [stack.enter_context(connection(started.port, seconds=2)) for _ in range(100)]
        gate.set()
        assert held.result().status_code == 200
        for opened in waiting:
            opened.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer_of(opened)[0] == 200


def test_an_inner_name_of_the_server_that_is_gone_is_told_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_PROTOCOL", ("uvicorn.protocols.http.h11_impl", "Gone"))
    with pytest.raises(SpanwrightError, match=r"uvicorn 0\.\S+ has no uvicorn\.\S+\.Gone, .* pip install"):
        running.check_service_installed()


def test_a_service_without_its_watchers_does_not_go_on(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a later version of the server has no `started` or `should_exit`."""

    async def fail(*given: object) -> None:
        raise AttributeError("should_exit")

    monkeypatch.setattr(running, "_watch_end", fail)
    metrics = Metrics()
    service = Service([serve_with("plain", tagger, metrics, requests=1, batch_words=1)], metrics)
    with running.listen("127.0.0.1", 0) as listening, pytest.raises(ExceptionGroup) as told:
        asyncio.run(asyncio.wait_for(running.serve(service, listening), PATIENCE))
    assert told.group_contains(AttributeError, match="should_exit")


def test_no_part_of_an_answer_waits_for_the_client_to_confirm_the_one_before() -> None:
    with (
        running.listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
