"""The page with the real service behind it: what a visitor sees and saves is what the tagger finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tiny
from service.page_view import drawn, open_file, settle, shown, slide, tag, wait_for_answer, wait_for_text
from service.serving import Served, served
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document

TEXT = "cells of beta-catenin kinase in p53 cells, and TNFα of 2.5 cells"
HOSTILE = (
    "<script>window.hacked = 1; alert(1)</script> \u202ep53\u202c of cells 😀 <img src=x onerror=alert(2)>"
)
NEW = {"Animal": "names of animals"}


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    binder = tiny.model(("Cell",), seed=3, scorer={"kind": "bi-encoder", "types": "guidelines"})
    return {"binder": Tagger(binder), "plain": Tagger(tiny.model())}


@pytest.fixture(scope="module")
def service(taggers: dict[str, Tagger]) -> Iterator[Served]:
    with served(taggers) as running:
        yield running


@pytest.fixture
def page(browser: Any, service: Served) -> Iterator[Any]:
    with shown(browser, SimpleNamespace(address=f"http://127.0.0.1:{service.port}")) as opened:
        yield opened


def found(document: Document, lowest: float = 0.0) -> list[str]:
    """Type and mention of the entities of a document, in the order in which the page numbers them."""
    return sorted(
        f"{entity.type} {document.mention(entity)}"
        for entity in document.entities
        if (entity.confidence or 0) >= lowest
    )


def middle_confidence(document: Document) -> float:
    """A threshold of two digits that leaves some of the entities and takes others."""
    confidences = sorted(entity.confidence or 0.0 for entity in document.entities)
    return round((confidences[0] + confidences[-1]) / 2, 2)


def test_a_text_is_drawn_as_the_tagger_finds_it(page: Any, taggers: dict[str, Tagger]) -> None:
    tag(page, TEXT)
    document = taggers["binder"].tag(TEXT)
    assert len(document.entities) > 3
    assert page.text_content("#marked") == TEXT
    assert sorted(drawn(page)) == found(document)


def test_the_slider_leaves_what_is_confident_enough(page: Any, taggers: dict[str, Tagger]) -> None:
    page.select_option("#model", "plain")
    tag(page, TEXT)
    document = taggers["plain"].tag(TEXT)
    threshold = middle_confidence(document)
    slide(page, threshold)
    assert 0 < len(found(document, threshold)) < len(found(document))
    assert sorted(drawn(page)) == found(document, threshold)


def test_a_type_that_is_added_is_looked_for(page: Any, taggers: dict[str, Tagger]) -> None:
    tag(page, TEXT)
    page.get_by_text("Add a type by description").click()
    page.fill("#type-name", "Animal")
    page.fill("#type-description", NEW["Animal"])
    page.locator("#type-form button").click()
    page.wait_for_selector("button[value=Animal]")
    wait_for_answer(page)
    settle(page)
    document = taggers["binder"].with_types(NEW).tag(TEXT)
    assert any(entity.type == "Animal" for entity in document.entities)
    assert sorted(drawn(page)) == found(document)


@pytest.mark.parametrize("format_", ["jsonl", "pubtator"])
def test_a_download_is_read_back(page: Any, taggers: dict[str, Tagger], tmp_path: Path, format_: str) -> None:
    page.select_option("#model", "plain")
    tag(page, TEXT)
    document = taggers["plain"].tag(TEXT)
    threshold = middle_confidence(document)
    slide(page, threshold)
    with page.expect_download() as download:
        page.click(f"button[data-format={format_}]")
    saved = tmp_path / f"saved.{format_}"
    download.value.save_as(saved)
    (read_back,) = read(saved).documents
    assert read_back.text == TEXT
    assert found(read_back, threshold if format_ == "jsonl" else 0.0) == found(document, threshold)


def test_hostile_text_is_tagged_and_never_runs(page: Any, taggers: dict[str, Tagger]) -> None:
    open_file(page, HOSTILE.encode())
    page.click("#tag")
    wait_for_answer(page)
    assert page.text_content("#marked") == HOSTILE
    assert sorted(drawn(page)) == found(taggers["binder"].tag(HOSTILE)) != []
    assert page.evaluate("window.hacked") is None


def test_a_file_that_the_service_would_refuse_is_not_opened(page: Any) -> None:
    open_file(page, b"p53 " * 400_000)
    wait_for_text(page, "#notice-text", "files of up to 1 MB")


@pytest.mark.parametrize("width", (390, 1280))
def test_the_page_about_the_api_is_styled_and_fits(page: Any, service: Served, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"http://127.0.0.1:{service.port}/docs")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("getComputedStyle(document.querySelector('section')).borderRadius") == "14px"
    assert page.locator("pre").count() == 3
