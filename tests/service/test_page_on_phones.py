"""The page of the service on a phone: narrow, without a mouse and without keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.page_view import PHONE, TEXT, drawn, settle, shown, tag
from service.stand_in import StandIn

WIDTH = PHONE["viewport"]["width"]


@pytest.fixture
def page(browser: Any, stand_in: StandIn) -> Iterator[Any]:
    with shown(browser, stand_in, **PHONE) as opened:
        yield opened


OUTSIDE = """() => [...document.querySelectorAll('body *')].filter(each => {
    if (!each.checkVisibility({ visibilityProperty: true }) || each.closest('.skip')) return false;
    const box = each.getBoundingClientRect();
    return box.width && (box.left < -1 || box.right > innerWidth + 1);
}).map(each => each.outerHTML.slice(0, 80))"""


def test_nothing_leaves_the_screen(page: Any) -> None:
    tag(page, f"{TEXT} {'y' * 300} Gene-0.90")
    page.tap(".entity")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [320, 360, 401])
def test_a_narrow_window_with_a_mouse_holds_all_buttons(browser: Any, stand_in: StandIn, width: int) -> None:
    """Hints about keys are shown with a mouse, and take room."""
    with shown(browser, stand_in, viewport={"width": width, "height": 700}) as page:
        assert page.is_visible("#open-side")
        assert page.evaluate(OUTSIDE) == []
        assert page.is_visible("#open-help") == (width > 400)


def test_the_token_is_asked_for_inside_the_card(browser: Any, stand_in: StandIn) -> None:
    stand_in.token = "secret"
    with shown(browser, stand_in, ("Failed to load resource",), **PHONE) as page:
        card, form = (page.locator(place).bounding_box() for place in ("#notice", "#token-form"))
        assert card["x"] <= form["x"] and form["x"] + form["width"] <= card["x"] + card["width"]
        assert page.evaluate(OUTSIDE) == []


def test_there_are_no_hints_about_keys(page: Any) -> None:
    tag(page)
    page.tap("#write")
    assert page.locator("kbd:visible").count() == 0
    assert not page.is_visible("#open-help")


def test_the_options_are_in_a_drawer(page: Any) -> None:
    tag(page)
    assert not page.is_visible("#threshold")
    page.tap("#open-side")
    settle(page)
    assert page.is_visible("#threshold")
    page.get_by_role("checkbox", name="Gene").uncheck()
    page.locator("#downloads").scroll_into_view_if_needed()
    assert page.is_visible("button[data-format=conll]")
    page.touchscreen.tap(100, 20)
    page.wait_for_selector("#side", state="hidden")
    settle(page)
    assert drawn(page) == ["Disease Disease-0.70", "Cell Cell-0.30"]
    page.tap("#open-side")
    page.tap("#close-side")
    page.wait_for_selector("#side", state="hidden")
    assert page.evaluate("document.activeElement.id") == "open-side"


def test_what_is_tapped_is_large_enough(page: Any) -> None:
    tag(page)
    page.tap("#open-side")
    sizes = page.evaluate(
        """[...document.querySelectorAll('button, select, label:has(input)')]
            .filter(each => each.checkVisibility({ visibilityProperty: true }))
            .map(each => [each.outerHTML.slice(0, 60), each.getBoundingClientRect().height])"""
    )
    assert [name for name, height in sizes if height < 24] == []
