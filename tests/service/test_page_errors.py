"""What the page of the service says when an answer is no answer."""

from __future__ import annotations

from typing import Any

import pytest

from service.page_view import (
    ALL,
    TEXT,
    counts,
    drawn,
    settle,
    shown,
    tag,
    wait_for_answer,
    wait_for_text,
)
from service.stand_in import StandIn

REFUSED = ("Failed to load resource",)


def test_a_token_is_asked_for_and_sent(browser: Any, stand_in: StandIn) -> None:
    stand_in.token = "secret"
    with shown(browser, stand_in, REFUSED) as page:
        assert page.inner_text("#notice-text") == "The service asks for an access token."
        assert page.evaluate("document.activeElement.id") == "token"
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        wait_for_text(page, "#notice-text", "does not accept")
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        page.wait_for_selector("#notice", state="hidden")
        tag(page)
        assert drawn(page) == ALL


def test_a_busy_service_says_when_to_try_again(browser: Any, stand_in: StandIn) -> None:
    stand_in.refusals = [(503, "queue is full", {"Retry-After": "7"})]
    with shown(browser, stand_in, REFUSED) as page:
        page.fill("#text", TEXT)
        page.click("#tag")
        page.wait_for_selector("#notice:not([hidden])")
        assert page.inner_text("#notice-text") == "The service is busy. Try again in 7 seconds."
        assert page.inner_text("#tag") == "Tag"
        page.click("#again")
        wait_for_answer(page)
        assert not page.is_visible("#notice")
        assert drawn(page) == ALL


@pytest.mark.parametrize(
    ("status", "detail", "words"),
    [
        (413, "the limit is 9 bytes", "The text is too long for this service: the limit is 9 bytes"),
        (422, [{"loc": ["body", "texts", 0], "msg": "too odd", "type": "x"}], "texts.0: too odd"),
        (500, "the service failed; its log has the reason", "the service failed; its log has the reason"),
    ],
)
def test_a_refusal_says_why(browser: Any, stand_in: StandIn, status: int, detail: Any, words: str) -> None:
    stand_in.refusals = [(status, detail, {})]
    with shown(browser, stand_in, REFUSED) as page:
        page.fill("#text", TEXT)
        page.click("#tag")
        page.wait_for_selector("#notice:not([hidden])")
        assert page.inner_text("#notice-text") == words
        assert not page.is_visible("#again")
        assert page.input_value("#text") == TEXT


def test_a_service_that_is_gone_is_told(browser: Any, stand_in: StandIn) -> None:
    with shown(browser, stand_in, REFUSED) as page:
        page.route("**/tag", lambda route: route.abort())
        page.fill("#text", TEXT)
        page.click("#tag")
        page.wait_for_selector("#notice:not([hidden])")
        assert "does not answer" in page.inner_text("#notice-text")
        assert page.is_visible("#again")


def test_entities_of_another_model_are_not_left_when_the_new_one_fails(
    browser: Any, stand_in: StandIn
) -> None:
    with shown(browser, stand_in, REFUSED) as page:
        tag(page)
        stand_in.refusals = [(503, "full", {})]
        page.select_option("#model", "first")
        page.wait_for_selector("#notice:not([hidden])")
        assert page.inner_text("#notice-text") == "The service is busy. Try again in a moment."
        assert not page.is_visible("#marked")
        assert page.input_value("#text") == TEXT


def test_counts_of_another_text_are_not_left_while_tagging_and_after_an_error(
    browser: Any, stand_in: StandIn
) -> None:
    with shown(browser, stand_in, REFUSED) as page:
        tag(page)
        assert counts(page) == {"Gene": "2", "Disease": "1", "Cell": "1"}
        page.click("#write")
        nothing = {"Gene": "", "Disease": "", "Cell": ""}
        assert counts(page) == nothing
        page.route("**/tag", lambda route: None)
        page.fill("#text", "Another Gene-0.90.")
        page.click("#tag")
        assert counts(page) == nothing
        page.click("#tag")
        wait_for_text(page, "#tag", "Tag")
        # The newest route answers. Taking the first one away would send on the request that it holds.
        page.route("**/tag", lambda route: route.fulfill(status=500, json={"detail": "broken"}))
        page.click("#tag")
        page.wait_for_selector("#notice:not([hidden])")
        assert counts(page) == nothing
        page.click("#read")
        settle(page)
        assert counts(page) == {"Gene": "2", "Disease": "1", "Cell": "1"}


def test_tagging_can_be_stopped(page: Any) -> None:
    page.route("**/tag", lambda route: None)
    page.fill("#text", TEXT)
    page.click("#tag")
    assert page.inner_text("#tag") == "Stop"
    page.click("#tag")
    wait_for_text(page, "#tag", "Tag")
    assert not page.is_visible("#notice")
    # The newest route answers. Taking the first one away would send on the request that it holds.
    page.route("**/tag", lambda route: route.continue_())
    page.click("#tag")
    wait_for_answer(page)
