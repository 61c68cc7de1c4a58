"""The page of the service without a mouse, in light and dark, in narrow windows; and what it is made of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from service.page_view import drawn, focused, settle, shown, tag, wait_for_answer
from service.stand_in import PAGE, StandIn
from spanwright.palette import TYPE_COLOURS


def test_everything_can_be_done_with_keys(page: Any, stand_in: StandIn) -> None:
    stand_in.find = lambda text: [(0, 13, "Disease", 0.9), (0, 6, "Cell", 0.8), (18, 23, "Gene", 0.7)]
    page.focus("#text")
    page.keyboard.type("breast cancer and BRCA1")
    page.keyboard.press("Control+Enter")
    wait_for_answer(page)
    settle(page)
    page.focus("#read")
    page.keyboard.press("Tab")
    assert focused(page) == "Disease, confidence 0.90"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for key, label in [
        ("ArrowDown", "Cell, confidence 0.80"),
        ("ArrowRight", "Gene, confidence 0.70"),
        ("ArrowLeft", "Cell, confidence 0.80"),
        ("ArrowUp", "Disease, confidence 0.90"),
        ("End", "Gene, confidence 0.70"),
        ("Home", "Disease, confidence 0.90"),
    ]:
        page.keyboard.press(key)
        assert focused(page) == label, key
    page.keyboard.press("Enter")
    assert page.locator("#details .mention").inner_text() == "breast cancer"
    page.keyboard.press("ArrowRight")
    assert page.locator("#details .mention").inner_text() == "breast"
    page.keyboard.press("Tab")
    assert focused(page) == "Close the details"
    page.keyboard.press("Escape")
    assert not page.is_visible("#details")
    assert focused(page) == "Cell, confidence 0.80"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "threshold":
            break
    page.keyboard.press("End")
    settle(page)
    assert drawn(page) == []


def test_every_control_has_a_name(page: Any) -> None:
    tag(page)
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea')]"
        ".filter(each => each.checkVisibility() && !each.ariaLabel && !each.labels?.length"
        " && !each.textContent.trim()).map(each => each.outerHTML)"
    )
    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_brackets_stand_out_from_their_ground(browser: Any, stand_in: StandIn, scheme: str) -> None:
    with shown(browser, stand_in, color_scheme=scheme) as page:
        tag(page)
        page.locator(".entity").first.click()
        for place in (
            "body",
            "h1",
            "h2",
            ".quiet",
            ".note",
            ".count",
            "#status",
            ".mention",
            ".details .type",
            ".line",
        ):
            assert contrast(page, place) >= 4.5, place
        for number in range(len(TYPE_COLOURS)):
            assert contrast(page, ".line", f"var(--type-{number})") >= 4.5, number
        page.click("#write")
        assert contrast(page, "#tag") >= 4.5


def test_the_theme_follows_the_system_unless_one_is_chosen(browser: Any, stand_in: StandIn) -> None:
    with shown(browser, stand_in, color_scheme="dark") as page:
        assert is_dark(page)
        page.click("#theme")
        assert page.inner_text("#theme") == "Theme: light"
        assert not is_dark(page)
        page.emulate_media(color_scheme="light")
        page.click("#theme")
        assert is_dark(page)
        page.reload()
        assert is_dark(page)
        assert page.inner_text("#theme") == "Theme: dark"
        page.click("#theme")
        assert not is_dark(page)


def is_dark(page: Any) -> bool:
    return luminance(colour(page, "body", "background-color")) < 0.2


def contrast(page: Any, place: str, ink: str = "") -> float:
    """The contrast of the text at a place, or of another ink, with its ground, as WCAG defines it."""
    front = luminance(colour(page, place, "color", ink))
    lighter, darker = sorted((front, luminance(colour(page, place, "background-color"))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def colour(page: Any, place: str, name: str, ink: str = "") -> str:
    """A computed colour; the ground is that of the first ancestor that has one."""
    return str(
        page.evaluate(
            """([place, name, ink]) => {
                let element = document.querySelector(place);
                if (ink) {
                    element = element.appendChild(document.createElement('i'));
                    element.style.color = ink;
                }
                const found = () => getComputedStyle(element)[name];
                while (name !== 'color' && found() === 'rgba(0, 0, 0, 0)') element = element.parentElement;
                return found();
            }""",
            [place, name, ink],
        )
    )


def luminance(rgb: str) -> float:
    numbers = [int(part) / 255 for part in re.findall(r"\d+", rgb)[:3]]
    red, green, blue = (n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in numbers)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_keys_are_listed_in_a_dialog(page: Any) -> None:
    page.locator("#example").focus()
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    page.focus("#text")
    page.keyboard.type("Who?")
    assert not page.is_visible("#help")
    page.click("#open-help")
    assert "previous and next entity" in page.inner_text("#help")
    page.keyboard.press("Enter")
    assert not page.is_visible("#help")


def test_the_page_knows_how_many_colours_there_are() -> None:
    assert f"const COLOURS = {len(TYPE_COLOURS)};" in (PAGE / "colours.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(PAGE.glob("*.js")), ids=lambda file: file.name)
def test_scripts_never_write_markup(file: Path) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|createContextualFragment"
    )
    assert not re.search(forbidden, file.read_text(encoding="utf-8"))


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    for file in sorted(PAGE.iterdir()):
        found = re.findall(r"https?://[^\s\"']+|\sstyle=|\son\w+=", file.read_text(encoding="utf-8"))
        assert [each for each in found if each != "http://www.w3.org/2000/svg"] == [], file.name
