"""How the page of the service draws texts and entities, however odd they are."""

from __future__ import annotations

import random
from itertools import combinations, pairwise, product
from typing import Any

import pytest

from naughty import NAUGHTY
from service.page_view import drawn, focused, open_file, settle, slide, tag, wait_for_answer
from service.stand_in import Entities, StandIn, found

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


def test_a_control_character_cannot_turn_the_text_after_it(page: Any, stand_in: StandIn) -> None:
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


DENSE = "one of the human cell virus genes in some longer words of a text that goes on " * 4


def dense(text: str) -> Entities:
    """Nested and neighbouring entities all over a text, many with labels that are longer than they are."""
    return [
        (start, min(start + width, len(text)), "Some long name"[: 1 + start % 14], 0.5)
        for start in range(0, len(text) - 5, 7)
        for width in (3, 12, 40)[: 1 + start % 3]
    ]


LABELS = """() => {
    const card = document.querySelector('#marked').getBoundingClientRect();
    const boxes = [...document.querySelectorAll('.label')].map(each => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return { left, right, top, bottom, text: each.dataset.label,
                 size: parseFloat(getComputedStyle(each, '::before').fontSize) };
    });
    const brackets = [...document.querySelectorAll('.entity')].flatMap(each => [...each.getClientRects()])
        .map(({ left, right, bottom }) => ({ left, right, top: bottom - 2, bottom }));
    const cross = (a, b, first, last) => a[first] < b[last] - 1 && b[first] < a[last] - 1;
    const meet = (a, b) => cross(a, b, 'left', 'right') && cross(a, b, 'top', 'bottom');
    return {
        labels: boxes.map(({ text }) => text),
        sizes: [...new Set(boxes.map(({ size }) => size))],
        outside: boxes.filter(({ left, right }) => left < card.left || right > card.right).length,
        over_labels: boxes.filter(one => boxes.some(other => other !== one && meet(one, other))).length,
        over_brackets: boxes.filter(one => brackets.some(other => meet(one, other))).length,
    };
}"""


@pytest.mark.parametrize("width", (390, 1280))
def test_labels_can_be_read_and_lie_over_nothing(page: Any, stand_in: StandIn, width: int) -> None:
    stand_in.find = dense
    page.set_viewport_size({"width": width, "height": 900})
    tag(page, DENSE)
    settle(page)
    found = page.evaluate(LABELS)
    assert len(found["labels"]) > 60
    assert min(found["sizes"]) >= 12
    assert (found["outside"], found["over_labels"], found["over_brackets"]) == (0, 0, 0)


def test_an_entity_that_is_wrapped_has_its_label_on_every_line(page: Any, stand_in: StandIn) -> None:
    stand_in.find = lambda text: [(10, 400, "Gene", 0.9)]
    page.set_viewport_size({"width": 700, "height": 900})
    tag(page, "many words " * 50)
    settle(page)
    labels = page.evaluate(LABELS)["labels"]
    assert labels[0] == "Gene .90" and len(labels) > 3
    assert set(labels[1:]) == {"… Gene"}
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    settle(page)
    assert len(page.evaluate(LABELS)["labels"]) > len(labels), "a narrower window has more lines"


def test_a_long_text_scrolls_by_itself_and_the_side_stays(page: Any, stand_in: StandIn) -> None:
    open_file(page, ("some words of Gene-0.90 and more\n" * 1700).encode())
    page.click("#tag")
    wait_for_answer(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    page.locator(".entity").first.focus()
    page.keyboard.press("End")
    settle(page)
    assert focused(page) == "Gene, confidence 0.90"
    assert page.evaluate("document.querySelector('#marked').scrollTop") > 10_000
    assert page.locator("#threshold").bounding_box()["y"] < 900
    # Only what is near is drawn, and labelled.
    assert page.locator(".label").count() < 200


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
    const { draw } = await import('/page/marks.js');
    return cases.map(([text, entities]) => {
        const given = entities.map(([start, end], number) => (
            { start, end, number, type: 'T', text: '', label: 'Disease .50', style: '', confidence: 0.5 }));
        const piece = { start: 100, text, element: document.createElement('p') };
        draw(piece, given);
        const parts = [...piece.element.querySelectorAll('.entity')];
        const read = given.map(({ number }) => parts.filter(part => Number(part.dataset.number) === number)
            .map(part => part.textContent).join(''));
        return [piece.element.textContent, read];
    });
}"""


def test_random_entities_are_drawn_whole(page: Any) -> None:
    generator = random.Random(5)
    cases = [random_case(generator) for _ in range(300)]
    for (text, entities), (shown_text, read) in zip(cases, page.evaluate(DRAW, cases), strict=True):
        assert shown_text == text
        # A piece begins at 100 here, and shows of an entity what lies in it.
        assert read == [text[max(start - 100, 0) : max(end - 100, 0)] for start, end in entities]


ARRANGE = """async cases => {
    const { arrange } = await import('/page/lanes.js');
    return cases.map(case_ => {
        const placed = case_.map(parts => ({ entity: parts, parts }));
        const lanes = arrange(placed);
        return placed.map(({ entity }) => lanes.get(entity));
    });
}"""


def test_brackets_and_labels_of_random_entities_have_lanes_that_do_not_collide(page: Any) -> None:
    generator = random.Random(6)
    cases = [[random_parts(generator) for _ in range(generator.randrange(14))] for _ in range(300)]
    for entities, lanes in zip(cases, page.evaluate(ARRANGE, cases), strict=True):
        for (one, lane), (other, later) in combinations(zip(entities, lanes, strict=True), 2):
            for part, beside in product(one, other):
                if (
                    part["row"] == beside["row"]
                    and part["from"] < beside["to"]
                    and beside["from"] < part["to"]
                ):
                    assert lane != later
                    if part["left"] < beside["right"] and beside["left"] < part["right"]:
                        assert lane < later, "those that come later are outside"


def random_parts(generator: random.Random) -> list[dict[str, int]]:
    """An entity on one to three rows, with its brackets and the room of its labels."""
    rows = range(first := generator.randrange(3), first + generator.randint(1, 3))
    lefts = [generator.randrange(300) for _ in rows]
    widths = [generator.randint(1, 80) for _ in rows]
    return [
        {"row": row, "left": left, "right": left + width, "from": left, "to": left + max(width, 60)}
        for row, left, width in zip(rows, lefts, widths, strict=True)
    ]


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
    assert page.evaluate("window.longest") < 5000, "milliseconds, on a machine that may be very busy"
