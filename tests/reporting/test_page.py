from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_making import ORIGIN, content_of, damaged, data_of, hostile, page_of

import making
from spanwright.reporting import System, gather, render_page, select_passages, write_page
from spanwright.reporting.page_tables import MEANINGS
from spanwright.reporting.passages import MOST_BYTES
from spanwright.text import Document, Entity

GOLD = making.documents(30)
FIRST = damaged(GOLD, seed=1)
SECOND = damaged(GOLD, seed=2, share=0.5)


class Reader(HTMLParser):
    """Collects elements, the words of the page and the rows of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = [[]]
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] not in ("script", "style"):
            self.text += data
        if self.rows[-1]:
            self.rows[-1][-1] += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def row(reader: Reader, *begin: str) -> list[str]:
    """The first row of a table that begins like this."""
    return next(row for row in reader.rows if tuple(row[: len(begin)]) == begin)


def test_the_tables_show_the_numbers_of_evaluation() -> None:
    content = content_of(GOLD, FIRST, SECOND)
    page = read(page_of(content))
    system = content.systems[1]
    micro = system.scores.micro
    counts = (micro.gold, micro.predicted, micro.true_positives, micro.false_positives, micro.false_negatives)
    assert ["B second", *map(str, counts)] in page.rows
    shown = row(page, "B second")
    for value, ratio in zip(shown[1:4], (micro.precision, micro.recall, micro.f1), strict=True):
        assert value.startswith(f"{100 * ratio:.1f}")
    loose = system.by_criterion["loose"].micro.f1
    assert shown[5] == f"{100 * loose:.1f}"
    for kind, number in system.mistakes.counts.items():
        rate = f"{100 * system.mistakes.rates[kind]:.1f} %"
        assert row(page, kind, MEANINGS[kind])[4:] == [str(number), rate]
    gene = system.scores.per_type["Gene"]
    assert row(page, "Gene", "B second")[2:6] == [
        str(gene.gold),
        str(gene.predicted),
        str(gene.true_positives),
        f"{100 * gene.precision:.1f}",
    ]


def test_several_systems_are_compared_and_one_is_not() -> None:
    content = content_of(GOLD, FIRST, SECOND)
    difference = content.differences[0].difference
    shown = row(read(page_of(content)), "A first", "B second")
    assert shown[4:6] == [f"{100 * difference.difference:+.1f}", f"{difference.p_value:.4f}"]
    assert 'id="comparison"' not in page_of(content_of(GOLD, FIRST))


def test_every_section_is_in_the_navigation_and_ids_are_distinct() -> None:
    text = page_of(content_of(GOLD, FIRST, SECOND))
    page = read(text)
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert re.findall('href="#([a-z]+)"', text[text.index("<nav") : text.index("</nav>")]) == sections
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert max(ids.values()) == 1


def test_training_curves_are_shown_where_there_is_a_journal() -> None:
    journal = [
        {"event": "step", "step": 20, "loss": 1.0},
        {"event": "epoch", "epoch": 1, "best": True, "dev": {"micro": {"f1": 0.5}}},
    ]
    systems = [System(name="run", documents=FIRST, journal=journal), System(name="file", documents=SECOND)]
    page = page_of(gather(GOLD, systems))
    assert "the model of epoch 1 was kept" in page
    assert page.count('aria-label="loss of A by step"') == 1
    assert 'id="training"' not in page_of(content_of(GOLD, FIRST))


def test_the_page_names_files_versions_facts_and_notes() -> None:
    system = System(name="one", documents=FIRST, facts={"recipe": "plain"}, notes=("three lines were bad",))
    page = read(page_of(gather(GOLD, [system])))
    assert ["gold", "folder/gold.jsonl", "12 bytes", "0123456789abcdef"] in page.rows
    assert ["A one", "recipe", "plain"] in page.rows
    assert "three lines were bad" in page.text
    assert "Made 2026-01-02 03:04:00 with spanwright 0.0." in page.text


def test_the_page_asks_for_nothing_from_outside() -> None:
    text = page_of(content_of(GOLD, FIRST))
    page = read(text)
    addresses = [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "data")
    ]
    assert {address for address in addresses if address and not address.startswith("#")} == {"data:,"}
    assert not re.search(r"https?:|@import|url\(", text)
    assert "default-src 'none'" in text


def test_hostile_text_stays_text() -> None:
    gold, predicted = hostile()
    text = render_page(
        gather(gold, [System(name="</title><script>window.hacked=4</script>", documents=predicted)]),
        ORIGIN,
        select_passages(content_of(gold, predicted)),
    )
    page = read(text)
    tags = Counter(tag for tag, _ in page.elements)
    assert (tags["script"], tags["img"], tags["b"]) == (2, 0, 6)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    # Everything between the two script elements of our own is ours: no third one can begin or end.
    assert text.count("<script") == text.count("</script>") == 2


def test_the_data_for_the_script_is_what_went_in() -> None:
    gold, predicted = hostile()
    data = data_of(page_of(content_of(gold, predicted)))
    [passage] = data["passages"]
    assert (passage[0], passage[4]) == (gold[0].id, gold[0].text)
    assert set(data["types"]) == {entity.type for entity in (*gold[0].entities, *predicted[0].entities)}


def test_the_page_tells_what_was_left_out() -> None:
    content = content_of(GOLD, FIRST)
    shown = select_passages(content, most_bytes=1500)
    page = read(render_page(content, ORIGIN, shown)).text
    assert f"{shown.wrong_shown} of {shown.wrong} passages with a mistake" in page
    assert f"{shown.wrong - shown.wrong_shown} passages with mistakes were left out" in page
    assert "were left out" not in read(page_of(content)).text


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (GOLD, []),
        ([Document("1", "nothing")], [Document("1", "nothing")]),
        ([Document("1", "")], []),
        (GOLD, GOLD),
    ],
    ids=["no predictions", "no entities", "no text", "all right"],
)
def test_extreme_inputs_make_a_page(gold: list[Document], predicted: list[Document]) -> None:
    page = page_of(content_of(gold, predicted))
    assert data_of(page)["systems"] == [{"key": "A", "name": "first"}]
    assert not re.search(r"\b(nan|inf)\b", page[: page.index("<script")])


def test_many_types_are_folded_away_but_all_there() -> None:
    text = " ".join(f"w{number:02}" for number in range(30))
    entities = tuple(Entity(4 * number, 4 * number + 3, f"type {number}") for number in range(30))
    page = read(page_of(content_of([Document("1", text, entities)], [])))
    assert "10 more types" in page.text
    assert sum(bool(row and row[0].startswith("type ")) for row in page.rows) == 30


def test_a_type_that_utf_8_cannot_hold_is_written_all_the_same(tmp_path: Path) -> None:
    document = Document("1", "p53", (Entity(0, 3, "odd \ud800"),))
    write_page(content_of([document], [document]), ORIGIN, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_of(page)["types"] == ["odd \ud800"]


def test_the_same_input_makes_the_same_page() -> None:
    assert page_of(content_of(GOLD, FIRST, SECOND)) == page_of(content_of(GOLD, FIRST, SECOND))


def test_a_thousand_documents_take_a_tenth_of_the_limits() -> None:
    """The limits are 20 MB and a minute for 10,000 documents of the length of an abstract."""
    gold = [_joined(making.documents(8, seed=seed)) for seed in range(1000)]
    predicted = damaged(gold, seed=1)
    began = time.process_time()
    content = gather(gold, [System(name="one", documents=predicted)])
    shown = select_passages(content, most_bytes=MOST_BYTES // 10)
    page = render_page(content, ORIGIN, shown)
    assert time.process_time() - began < 6
    assert len(page.encode()) < 2_000_000
    assert 0 < shown.wrong_shown < shown.wrong


def _joined(documents: list[Document]) -> Document:
    """One document of several sentences."""
    text = ""
    entities: list[Entity] = []
    for document in documents:
        text += " " if text else ""
        entities += (
            replace(entity, start=entity.start + len(text), end=entity.end + len(text))
            for entity in document.entities
        )
        text += document.text.capitalize()
    return Document(text[:40], text, tuple(entities))
