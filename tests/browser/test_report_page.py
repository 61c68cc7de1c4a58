"""The report in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import making
from browser.pages import count, opened, undrawn
from reporting.report_making import ORIGIN, damaged, hostile
from service.serving import wait_until
from spanwright.reporting import Content, System, gather, write_page
from spanwright.reporting.marks import KINDS
from spanwright.text import Document, Entity

GOLD = making.documents(60)
JOURNAL = [
    {"event": "step", "step": 20, "loss": 2.0},
    {"event": "step", "step": 40, "loss": 1.0},
    *({"event": "epoch", "epoch": n, "best": True, "dev": {"micro": {"f1": n / 4}}} for n in (1, 2, 3)),
]
TRAINING = making.documents(10, prefix="train")


@pytest.fixture(scope="module")
def content() -> Content:
    systems = [
        System(name="first", documents=damaged(GOLD, seed=1), journal=JOURNAL),
        System(name="second", documents=damaged(GOLD, seed=2, share=0.5)),
    ]
    return gather(GOLD, systems, training=TRAINING)


@pytest.fixture(scope="module")
def file(content: Content, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_page(content, ORIGIN, path)
    return path


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    """The report of two systems; a complaint of the browser or a request to anywhere fails the test."""
    yield from opened(browser, file)


def test_every_chart_has_something_drawn_inside_the_page(page: Any) -> None:
    assert page.locator("svg.chart").count() == 3 + 9 + 2 + 4 + 2
    assert undrawn(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_a_phone_shows_it_all_and_that_tables_go_on(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    tables = page.locator(".scroll")
    wide = [table for table in tables.all() if table.evaluate("each => each.scrollWidth > each.clientWidth")]
    assert len(wide) > 3
    # A shadow at the side that scrolls with nothing, and a place for the keys that scroll it.
    assert "scroll" in wide[0].evaluate("each => getComputedStyle(each).backgroundAttachment")
    wide[0].focus()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: wide[0].evaluate("each => each.scrollLeft") > 0)


def test_small_charts_have_numbers_at_their_axes(page: Any) -> None:
    for chart in page.locator("#breakdowns svg.chart").all():
        assert {"0", "50", "100"} <= set(chart.locator("text.tick").all_text_contents())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "right"])
@pytest.mark.parametrize("system", [0, 1])
def test_filters_find_as_many_mistakes_as_were_counted(
    page: Any, content: Content, system: int, kind: str
) -> None:
    page.select_option("#filter-system", str(system))
    page.select_option("#filter-kind", label=kind)
    assert count(page)[1] == dict(content.systems[system].mistakes.counts)[kind] > 0


def test_a_number_in_the_table_of_mistakes_leads_to_its_examples(page: Any, content: Content) -> None:
    page.click("a[data-system='1'][data-kind='6']")
    assert count(page)[1] == content.systems[1].mistakes.counts["missed"]
    kinds = page.locator(".passage .kind").all_inner_texts()
    assert "B missed" in kinds
    assert not [kind for kind in kinds if kind.startswith("A")]


def test_the_type_filter_keeps_passages_with_a_mistake_of_that_type(page: Any) -> None:
    page.select_option("#filter-type", label="Other")
    passages, mistakes = count(page)
    assert 0 < passages <= mistakes
    for listed in page.locator(".passage-mistakes").all():
        assert "predicted Other" in listed.inner_text()


def test_the_search_finds_text_and_documents(page: Any) -> None:
    page.select_option("#filter-kind", label="all passages")
    page.fill("#filter-text", "MADE-7")
    assert page.locator(".passage-head").all_inner_texts() == ["made-7 · passage 1"]
    word = next(document for document in GOLD if document.id == "made-7").text.split()[0]
    page.fill("#filter-text", word)
    assert all(word in text for text in page.locator(".passage-text").all_text_contents())
    page.fill("#filter-text", "no such text")
    assert count(page) == (0, 0)


def test_passages_come_twenty_at_a_time(page: Any) -> None:
    page.select_option("#filter-kind", label="all passages")
    total, _ = count(page)
    seen = []
    while True:
        seen += page.locator(".passage-head").all_inner_texts()
        if page.is_disabled("#page-after"):
            break
        assert page.locator(".passage").count() == 20
        page.click("#page-after")
    assert len(seen) == len(set(seen)) == total


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_keys_move_between_passages_and_pages_with_visible_focus(page: Any) -> None:
    heads = [card.get_attribute("aria-label") for card in page.locator(".passage").all()]
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused(page) == heads[1]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    assert focused(page) == heads[0]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("n")
    assert page.inner_text("#page-number").startswith("page 2 of")
    assert focused(page) not in heads
    page.keyboard.press("k")
    assert focused(page) == heads[19]
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.input_value("#filter-text") == "jk"


def test_hostile_text_is_shown_and_never_runs(browser: Any, tmp_path: Path) -> None:
    gold, predicted = hostile()
    system = System(name="</script><script>window.hacked=4</script>", documents=predicted)
    write_page(gather(gold, [system]), ORIGIN, tmp_path / "report.html")
    for page in opened(browser, tmp_path / "report.html"):
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        shown = page.text_content(".passage-text")
        assert shown == gold[0].text.replace("\u202e", "U+202E").replace("\u202c", "U+202C")


def bars(page: Any, side: str) -> list[tuple[str, str]]:
    """The label of each bar and the text that it spans, by the tokens that it is drawn at."""
    found: dict[str, str] = {}
    for title, text in page.evaluate(
        f"[...document.querySelectorAll('.bar.{side}:not(.gap)')]"
        ".map(bar => [bar.title, bar.parentElement.firstChild.textContent])"
    ):
        found[title] = found.get(title, "") + text
    return sorted(found.items())


def test_bars_lie_under_exactly_the_mention_also_after_astral_characters(
    browser: Any, tmp_path: Path
) -> None:
    text = "🧬🧬 kidney or 𝔘𝔫𝔦 liver disease"
    split = Entity(3, 30, "Disease", fragments=((3, 9), (23, 30)))
    gold = [Document("1", text, (split, Entity(13, 16, "Name")))]
    predicted = [Document("1", text, (Entity(17, 30, "Disease", confidence=0.75), Entity(23, 30, "Word")))]
    assert [gold[0].mention(entity) for entity in gold[0].entities] == ["kidney disease", "𝔘𝔫𝔦"]
    write_page(gather(gold, [System(name="one", documents=predicted)]), ORIGIN, tmp_path / "report.html")
    for page in opened(browser, tmp_path / "report.html"):
        assert bars(page, "above") == [("Disease: gold", "kidneydisease"), ("Name: gold", "𝔘𝔫𝔦")]
        assert bars(page, "below") == [
            ("Disease: boundary, confidence 0.75", "liver disease"),
            ("Word: both", "disease"),
        ]
        nested = page.evaluate(
            "[...document.querySelectorAll('.bar.below.first')].map(bar => bar.getBoundingClientRect().top)"
        )
        assert nested[0] > nested[1] + 10, "the wider bar is outside the one it covers"


def test_print_leaves_the_error_browser_out(page: Any) -> None:
    page.emulate_media(media="print")
    assert not page.is_visible("#browser")
    assert page.is_visible("#summary")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for place in ("body", ".quiet", ".note", ".letter", "thead th", ".kind", ".passage-head", "nav a"):
        assert contrast(page, place) >= 4.5, place


def contrast(page: Any, place: str) -> float:
    """The contrast of the first such text and the ground behind it, as WCAG defines it."""
    colours = page.evaluate(
        """place => {
            let element = document.querySelector(place);
            const ink = getComputedStyle(element).color;
            const ground = () => getComputedStyle(element).backgroundColor;
            while (ground() === 'rgba(0, 0, 0, 0)') element = element.parentElement;
            return [ink, ground()];
        }""",
        place,
    )
    lighter, darker = sorted(map(_luminance, colours), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    numbers = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in numbers)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
