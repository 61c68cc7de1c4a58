"""The page to annotate on, with the real service behind it: by mouse, by keys and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tiny
from service.annotating import found, texts
from service.page_view import PHONE, settle, wait_for_text
from service.serving import Served, served
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.service.annotation import AnnotationFolder
from spanwright.service.limits import ServiceLimits
from spanwright.text import Document, Entity


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "annotated"


@pytest.fixture
def service(tagger: Tagger, folder: Path) -> Iterator[Served]:
    with served({"plain": tagger}, annotation=AnnotationFolder(texts(), folder)) as running:
        yield running


@contextmanager
def annotating(browser: Any, service: Served, expected: str = "-", **options: Any) -> Iterator[Any]:
    """The page to annotate on; what the browser complains of fails the test."""
    address = f"http://127.0.0.1:{service.port}/"
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: request.url.startswith(address) or complaints.append(request.url))
    page.goto(f"{address}annotate")
    wait_for_text(page, "#progress-words", "Text 1 of 3")
    settle(page)
    yield page
    assert [text for text in complaints if expected not in text] == []
    context.close()


@pytest.fixture
def page(browser: Any, service: Served) -> Iterator[Any]:
    with annotating(browser, service) as opened:
        yield opened


def marks(page: Any) -> list[str]:
    """Label and text of everything that is marked, in order; a question mark for what nobody has judged."""
    settle(page)
    parts = page.locator(".entity").evaluate_all(
        "all => all.map(part => [part.dataset.number, part.dataset.label ?? '', part.textContent])"
    )
    joined: dict[str, tuple[str, str]] = {}
    for number, label, text in parts:
        old = joined.get(number, ("", ""))
        joined[number] = (old[0] or label, old[1] + text)
    return [" ".join(joined[number]) for number in sorted(joined, key=int)]


def entity(page: Any, text: str) -> Any:
    return page.locator(".entity.begins", has_text=text).last


def mark_words(page: Any, first: str, last: str) -> None:
    """Select what lies between two words, as a mouse or a finger does."""
    page.evaluate(
        """([first, last]) => {
            const walker = document.createTreeWalker(document.querySelector('#marked'), NodeFilter.SHOW_TEXT);
            const range = document.createRange();
            let begun = false;
            while (walker.nextNode()) {
                const { data } = walker.currentNode;
                if (!begun && data.includes(first)) {
                    range.setStart(walker.currentNode, data.indexOf(first) + 1);
                    begun = true;
                }
                if (begun && data.includes(last)) {
                    range.setEnd(walker.currentNode, data.indexOf(last) + last.length - 1);
                    break;
                }
            }
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        [first, last],
    )
    page.wait_for_selector("#chosen:not([hidden])")


def kept(folder: Path) -> dict[str, list[str]]:
    files = [folder / name for name in ("train.jsonl", "dev.jsonl") if (folder / name).exists()]
    return {document.id: found(document) for document in read(*files, strict=True).documents}


def test_suggestions_are_judged_corrected_and_added_with_the_mouse(page: Any, folder: Path) -> None:
    assert marks(page) == ["Gene? BRCA1", "Disease? breast cancer", "Cell? mice"]
    assert page.inner_text("#reason") == "Chosen because: unsure of text 0"
    page.click("#save")
    wait_for_text(page, "#notice-text", "3 suggestions are not judged yet")
    assert kept(folder) == {}
    entity(page, "BRCA1").click()
    page.click("#accept")
    assert marks(page)[0] == "Gene BRCA1"
    entity(page, "breast cancer").click()
    page.click("[aria-label='Begin a word earlier']")
    assert marks(page)[1] == "Disease hereditary breast cancer"
    entity(page, "mice").click()
    page.click("#reject")
    assert marks(page) == ["Gene BRCA1", "Disease hereditary breast cancer"]
    # Marked inside another one, and by whole words.
    mark_words(page, "reast", "cance")
    page.get_by_role("button", name="Disease", exact=False).click()
    assert marks(page)[1:] == ["Disease hereditary breast cancer", "Disease breast cancer"]
    page.click("#save")
    wait_for_text(page, "#progress-words", "Text 2 of 3, 1 done")
    assert kept(folder) == {
        "text 0": ["Disease breast cancer", "Disease hereditary breast cancer", "Gene BRCA1"]
    }


def test_everything_can_be_done_with_keys(page: Any, folder: Path) -> None:
    press = page.keyboard.press
    press("ArrowRight")
    assert page.inner_text("#chosen-state") == "Gene, suggested with confidence 0.90"
    press("Enter")
    assert page.inner_text("#chosen-text") == "breast cancer", "the next that is open"
    press(",")
    assert marks(page)[1] == "Disease hereditary breast cancer"
    press("Shift+ArrowLeft")
    assert marks(page)[1] == "Disease hereditary breast"
    press("u")
    assert marks(page)[1] == "Disease hereditary breast cancer"
    press("ArrowRight")
    assert page.inner_text("#chosen-text") == "mice"
    press("x")
    # A new one inside the disease: at its first word, then one further, and of the first type.
    press("ArrowRight")
    press("ArrowRight")
    assert page.inner_text("#chosen-text") == "hereditary breast cancer"
    press("n")
    press("ArrowRight")
    press("Shift+ArrowRight")
    press("2")
    assert marks(page) == ["Gene BRCA1", "Disease hereditary breast cancer", "Gene breast cancer"]
    press("s")
    wait_for_text(page, "#progress-words", "Text 2 of 3, 1 done")
    assert kept(folder)["text 0"] == ["Disease hereditary breast cancer", "Gene BRCA1", "Gene breast cancer"]
    press("Shift+A")
    assert marks(page) == ["Gene BRCA1", "Disease breast cancer", "Cell mice"]
    press("s")
    wait_for_text(page, "#progress-words", "Text 3 of 3, 2 done")
    press("k")
    wait_for_text(page, "#progress-words", "Text 2 of 3")
    assert marks(page) == ["Gene BRCA1", "Disease breast cancer", "Cell mice"], "as it was saved"


def test_another_type_can_be_added(page: Any, folder: Path) -> None:
    page.keyboard.press("Shift+A")
    page.get_by_text("Another type").click()
    page.fill("#type-name", "Species")
    page.keyboard.press("Enter")
    entity(page, "mice").click()
    page.get_by_role("button", name="Species").click()
    page.click("#save")
    wait_for_text(page, "#progress-words", "1 done")
    assert "Species mice" in kept(folder)["text 0"]


def test_a_phone_does_it_all_by_touch(browser: Any, service: Served, folder: Path) -> None:
    with annotating(browser, service, **PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("kbd:visible").count() == 0
        entity(page, "BRCA1").tap()
        page.tap("#accept")
        entity(page, "mice").tap()
        page.tap("#reject")
        entity(page, "breast cancer").tap()
        page.tap("[aria-label='Begin a word earlier']")
        mark_words(page, "reast", "cance")
        page.get_by_role("button", name="Cell").tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.tap("#save")
        wait_for_text(page, "#progress-words", "Text 2 of 3, 1 done")
        assert kept(folder)["text 0"] == [
            "Cell breast cancer",
            "Disease hereditary breast cancer",
            "Gene BRCA1",
        ]
        page.tap("#open-side")
        page.get_by_role("button", name="3. text 2").tap()
        wait_for_text(page, "#progress-words", "Text 3 of 3")


def test_of_two_people_the_second_is_told_and_sees_the_first(
    browser: Any, service: Served, folder: Path
) -> None:
    with annotating(browser, service, "409") as page:
        first = texts()[0]
        assert service.service.annotation is not None
        service.service.annotation.save(first, (Entity(2, 7, "Cell"),), "")
        page.click("#accept-all")
        page.click("#save")
        wait_for_text(page, "#notice-text", "somebody else has saved the text 'text 0' meanwhile")
        assert marks(page) == ["Cell BRCA1"]
        wait_for_text(page, "#progress-words", "Text 1 of 3, 1 done")
        assert page.locator("#texts .done").count() == 1
        assert kept(folder) == {"text 0": ["Cell BRCA1"]}
        (refused,) = read(folder / "conflicts.jsonl").documents
        assert found(refused) == ["Cell mice", "Disease breast cancer", "Gene BRCA1"]


def test_texts_without_suggestions_get_those_of_the_model(browser: Any, tagger: Tagger, folder: Path) -> None:
    bare = [Document(f"text {number}", "cells of p53 kinase") for number in range(3)]
    serving = served({"plain": tagger}, annotation=AnnotationFolder(bare, folder))
    with serving as service, annotating(browser, service) as page:
        expected = tagger.tag("cells of p53 kinase")
        assert expected.entities
        assert sorted(each.replace("?", "") for each in marks(page)) == found(expected)


def test_a_text_whose_suggestions_fail_can_be_annotated(browser: Any, tagger: Tagger, folder: Path) -> None:
    bare = [Document(f"text {number}", "cells of p53 kinase") for number in range(3)]
    limits = ServiceLimits(request_words=3)
    serving = served({"plain": tagger}, annotation=AnnotationFolder(bare, folder), limits=limits)
    with serving as service, annotating(browser, service, "413") as page:
        wait_for_text(page, "#notice-text", "has 4 words, and at most 3 are allowed")
        assert page.locator("#texts button").count() == 3
        assert marks(page) == []
        mark_words(page, "p53", "p53")
        page.get_by_role("button", name="Gene").click()
        page.click("#save")
        wait_for_text(page, "#progress-words", "Text 2 of 3, 1 done")
        assert kept(folder) == {"text 0": ["Gene p53"]}


def test_work_goes_on_where_it_ended(browser: Any, tagger: Tagger, folder: Path) -> None:
    kept_in = AnnotationFolder(texts(), folder)
    kept_in.save(texts()[0], (), "")
    with served({"plain": tagger}, annotation=AnnotationFolder(texts(), folder)) as service:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{service.port}/annotate")
        wait_for_text(page, "#progress-words", "Text 2 of 3, 1 done")
        page.close()
