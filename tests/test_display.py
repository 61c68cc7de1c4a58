"""Documents draw themselves, every entity as a bracket, and corpora and scores are tables of pandas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import spanwright
from spanwright.drawing import display, rows_of
from spanwright.text import Document, Entity

TEXT = "Human breast cancer cells, <olaparib> & BRCA1"
CELL, SPECIES, DISEASE = Entity(0, 25, "Cell"), Entity(0, 5, "Species"), Entity(6, 19, "Disease")
GENE = Entity(40, 45, "Gene")
DOCUMENT = Document("1", TEXT, (CELL, SPECIES, DISEASE, GENE))


def shown(html: str) -> str:
    """The text that a reader sees, without labels."""
    html = re.sub(r"<style>.*?</style>|<span class=\"sw-label\">.*?</span>", "", html, flags=re.S)
    return re.sub(r"<[^>]+>", "", html).strip()


def test_the_text_is_shown_whole_and_escaped() -> None:
    assert shown(display(DOCUMENT)) == "Human breast cancer cells, &lt;olaparib&gt; &amp; BRCA1"


def test_every_entity_has_a_label_and_two_ends() -> None:
    html = display(DOCUMENT)
    assert re.findall(r'sw-label">(\w+)<', html) == ["Species", "Cell", "Disease", "Gene"]
    assert html.count(" sw-first") == html.count(" sw-last") == 4


def test_an_entity_is_below_those_inside_it_and_beside_those_apart() -> None:
    assert rows_of(DOCUMENT.entities) == {SPECIES: 0, DISEASE: 0, GENE: 0, CELL: 1}


def test_labels_of_a_row_do_not_meet() -> None:
    short, next_to_it = Entity(0, 2, "GeneOrGeneProduct"), Entity(3, 5, "Gene")
    assert rows_of([short, next_to_it]) == {short: 0, next_to_it: 1}


def test_crossing_and_discontinuous_entities_are_drawn() -> None:
    crossing = (Entity(0, 12, "A"), Entity(6, 19, "B"), Entity(0, 25, "C", fragments=((0, 5), (20, 25))))
    html = display(Document("1", TEXT, crossing))
    assert html.count(" sw-first") == html.count(" sw-last") == 4  # one has two fragments


def test_a_notebook_draws_documents_and_corpora(tmp_path: Path) -> None:
    assert DOCUMENT._repr_html_() == display(DOCUMENT)
    spanwright.write([DOCUMENT] * 1, tmp_path / "one.jsonl")
    corpus = spanwright.read(tmp_path / "one.jsonl")
    assert shown(corpus._repr_html_()).endswith("BRCA1")


def test_a_page_of_its_own_is_written(tmp_path: Path) -> None:
    html = display([DOCUMENT], out=tmp_path / "page.html")
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>") and html in written


def test_a_browser_draws_nested_brackets_below_each_other(tmp_path: Path, browser: Any) -> None:
    display([DOCUMENT], out=tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 320, "height": 600})
    page.goto((tmp_path / "page.html").as_uri())
    tops = {
        name: page.locator(f".sw-line:has(:text-is('{name}'))").bounding_box()["y"]
        for name in ("Cell", "Species")
    }
    assert tops["Cell"] > tops["Species"] + 10
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.close()


def test_corpora_and_scores_are_tables(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    spanwright.write([DOCUMENT], tmp_path / "one.jsonl")
    corpus = spanwright.read(tmp_path / "one.jsonl")
    table = corpus.to_frame()
    assert list(table.columns) == ["document", "start", "end", "type", "mention", "confidence", "concepts"]
    assert list(table["mention"]) == ["Human breast cancer cells", "Human", "breast cancer", "BRCA1"]
    scores = spanwright.evaluate(corpus, [DOCUMENT.with_entities((CELL, GENE))]).to_frame()
    assert list(scores["type"]) == ["Cell", "Disease", "Gene", "Species", "all"]
    assert scores.iloc[-1]["recall"] == 0.5
