"""How the page of the service draws texts and entities, however odd they are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import pytest

from naughty import NAUGHTY
from service.page_view import MODELS, drawn, focused, open_file, settle, shown, slide, tag, wait_for_answer
from service.stand_in import Entities, StandIn, found, serving


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with serving(StandIn(MODELS)) as started:
        yield started


@pytest.fixture
def page(browser: Any, stand_in: StandIn) -> Iterator[Any]:
    with shown(browser, stand_in) as opened:
        yield opened


FIVE = "one of the human cell virus genes"
NESTED: Entities = [
    (0, 33, "A", 0.9),
    (4, 33, "B", 0.8),
    (7, 33, "C", 0.7),
    (11, 27, "D", 0.6),
    (17, 21, "E", 0.5),
]
HOSTILE = {
    "script": "</script><script>window.hacked = 1; alert(1)</script>",
    "image": '<img src="http://elsewhere.invalid/x" onerror="window.hacked=2">&lt;b&gt; ${window.hacked=3}',
    "right to left": "المريض مصاب بداء السكري. בן אדם and \u202edrawkcab\u202c",
    "nested": FIVE,
    "long word": "x" * 10_000,
    "astral": "🧬𝔘𝔫𝔦 gene 👩\u200d🔬 " * 20,
    "naughty": " ".join(NAUGHTY),
    "line ends": "one\r\ntwo\rthree\n\n\nfour\u2028five\n",
}


def covering(text: str) -> Entities:
    """Every fifth character begins an entity of three to ten characters, so that many cross."""
    return [
        (start, min(start + 3 + start % 8, len(text)), "<b>", 0.5)
        for start in range(0, min(len(text), 400), 5)
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_shown_exactly_and_never_runs(page: Any, stand_in: StandIn, name: str) -> None:
    stand_in.find = covering
    text = HOSTILE[name]
    open_file(page, text.encode())
    page.click("#tag")
    wait_for_answer(page)
    settle(page)
    assert page.text_content("#marked") == text
    assert drawn(page) == [f"<b> {text[start:end]}" for start, end, _, _ in covering(text)]
    assert page.evaluate("window.hacked") is None
    assert page.locator("#paper img, #paper script, #types b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.locator(".entity").first.focus()
    page.keyboard.press("Enter")
    assert page.text_content("#details .mention") == text[: covering(text)[0][1]]


def test_a_control_character_cannot_turn_the_text_behind_it(page: Any, stand_in: StandIn) -> None:
    stand_in.find = lambda text: [(5, 7, "Gene", 0.9), (8, 10, "Gene", 0.9)]
    open_file(page, "\u202eabcdefghij".encode())
    page.click("#tag")
    wait_for_answer(page)
    settle(page)
    left, right = (each.bounding_box()["x"] for each in page.locator(".entity").all())
    assert left < right


def test_deeper_brackets_lie_lower_and_no_line_covers_another(page: Any, stand_in: StandIn) -> None:
    stand_in.find = lambda text: [(start + 6, end + 6, *rest) for start, end, *rest in NESTED]
    tag(page, f"First {FIVE} ends here.\nThe second line.")
    assert drawn(page) == [f"{type_} {FIVE[start:end]}" for start, end, type_, _ in NESTED]
    bottoms = [each.bounding_box() for each in page.locator(".entity").all()]
    levels = [box["y"] + box["height"] for box in bottoms]
    assert all(outer > inner + 10 for outer, inner in pairwise(levels))
    second = page.evaluate(
        "(() => { const range = document.createRange(); range.selectNodeContents("
        "document.querySelectorAll('.line')[1]); return range.getBoundingClientRect().top })()"
    )
    assert second > max(levels) + 10, "a label needs room, too"


def test_text_stands_where_it_would_stand_without_brackets(page: Any, stand_in: StandIn) -> None:
    """Deep brackets move what is below the line, not the words on it."""
    stand_in.find = lambda text: [(start + 6, end + 6, *rest) for start, end, *rest in NESTED]
    tag(page, f"First {FIVE} ends here.")
    tops = page.evaluate(
        """() => {
            const walker = document.createTreeWalker(document.querySelector('.line'), NodeFilter.SHOW_TEXT);
            const range = document.createRange();
            const tops = new Set();
            while (walker.nextNode()) {
                range.selectNodeContents(walker.currentNode);
                tops.add(Math.round(range.getBoundingClientRect().top));
            }
            return [...tops];
        }"""
    )
    assert len(tops) == 1


def test_crossing_entities_are_drawn_without_loss(page: Any, stand_in: StandIn) -> None:
    crossing: Entities = [(0, 11, "Gene", 0.9), (6, 17, "Cell", 0.8), (10, 25, "Disease", 0.7)]
    stand_in.find = lambda text: crossing
    text = "alpha beta gamma\ndelta end"
    tag(page, text)
    assert page.text_content("#marked") == text
    assert drawn(page) == [f"{type_} {text[start:end]}" for start, end, type_, _ in crossing]
    begun = page.locator(".entity.begins").evaluate_all("all => all.map(part => part.dataset.label)")
    assert begun == ["Gene .90", "Cell .80", "Disease .70"]
    assert page.locator(".entity.ends").count() == 3
    page.locator(".entity.begins", has_text="eta").last.focus()
    page.keyboard.press("Enter")
    assert "Crosses" in page.locator("#details").inner_text()
    assert page.locator(".selected").count() >= 2


DRAW = """async cases => {
    const { draw, lanes } = await import('/page/marks.js');
    return cases.map(([text, entities]) => {
        const given = entities.map(([start, end], number) => (
            { start, end, number, type: 'T', text: '', label: 'Disease .50', colour: 0, confidence: 0.5 }));
        const piece = { start: 100, text, element: document.createElement('p') };
        const lane = lanes(piece, given);
        draw(piece, given, lane);
        const parts = [...piece.element.querySelectorAll('.entity')];
        const read = given.map(({ number }) => parts.filter(part => Number(part.dataset.number) === number)
            .map(part => part.textContent).join(''));
        return [piece.element.textContent, read, given.map(entity => lane.get(entity))];
    });
}"""


def test_random_entities_are_drawn_whole_and_in_lanes_that_do_not_collide(page: Any) -> None:
    generator = random.Random(5)
    cases = [random_case(generator) for _ in range(300)]
    for (text, entities), (shown_text, read, lanes) in zip(cases, page.evaluate(DRAW, cases), strict=True):
        assert shown_text == text
        # A piece begins at 100 here, and shows of an entity what lies in it.
        assert read == [text[max(start - 100, 0) : max(end - 100, 0)] for start, end in entities]
        for (one, lane), (other, other_lane) in combinations(zip(entities, lanes, strict=True), 2):
            if one[0] < other[1] and other[0] < one[1]:
                assert lane != other_lane
                if one[0] <= other[0] and other[1] <= one[1] and one != other:
                    assert lane > other_lane, "the wider bracket is outside"


def random_case(generator: random.Random) -> tuple[str, list[tuple[int, int]]]:
    """A text, and entities that touch it, by their start and wider ones first."""
    text = "".join(generator.choices("ab \u202e\u05d0", k=generator.randint(1, 40)))
    starts = [generator.randrange(95, 100 + len(text)) for _ in range(generator.randrange(12))]
    entities = [(start, max(start, 100) + generator.randint(1, 15)) for start in starts]
    return text, sorted(entities, key=lambda entity: (entity[0], -entity[1]))


def test_a_long_text_with_thousands_of_entities_stays_responsive(page: Any, stand_in: StandIn) -> None:
    words = "some words of Gene-0.90 and Disease-0.40 in a Cell-0.70 that go on " * 1600
    text = words + "\n" + words[:2000] + "\n\nCell-0.10"
    assert len(text) > 100_000
    open_file(page, text.encode())
    page.click("#tag")
    wait_for_answer(page)
    assert page.text_content("#marked") == text
    page.evaluate(
        """() => {
            window.longest = 0;
            new PerformanceObserver(list => list.getEntries().forEach(each => {
                window.longest = Math.max(window.longest, each.duration);
            })).observe({type: 'longtask'});
        }"""
    )
    for value in (0.5, 0.8, 0.2):
        slide(page, value)
    total = len(found(text))
    assert total > 4000
    assert page.inner_text("#status") == f"{total - 1:,} of {total:,} entities"
    page.locator(".entity").first.focus()
    page.keyboard.press("End")
    assert focused(page) == "Cell, confidence 0.70"
    slide(page, 0)
    page.locator(".entity").first.focus()
    page.keyboard.press("End")
    assert focused(page) == "Cell, confidence 0.10"
    assert page.evaluate("window.longest") < 1500, "milliseconds, on a machine that may be busy"
