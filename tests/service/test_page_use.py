"""The page of the service in a real browser: tagging, filters, types, files, downloads and details."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.page_view import (
    ALL,
    TEXT,
    counts,
    drawn,
    open_file,
    settle,
    slide,
    tag,
    wait_for_answer,
    wait_for_text,
)
from service.stand_in import StandIn


def test_entities_of_a_text_are_drawn_and_counted(page: Any, stand_in: StandIn) -> None:
    tag(page)
    assert page.text_content("#marked") == TEXT
    assert drawn(page) == ALL
    assert counts(page) == {"Gene": "2", "Disease": "1", "Cell": "1"}
    assert page.inner_text("#status") == "4 entities"
    assert stand_in.asked == [{"texts": [TEXT], "model": "reader", "minimum_confidence": 0}]


def test_labels_say_type_and_confidence(page: Any) -> None:
    tag(page, "Gene-0.999 Gene-0.50 Gene-1.0")
    labels = page.locator(".entity").evaluate_all("all => all.map(part => part.dataset.label)")
    assert labels == ["Gene .99", "Gene .50", "Gene 1.00"]


def test_the_slider_acts_without_the_service(page: Any, stand_in: StandIn) -> None:
    tag(page)
    slide(page, 0.6)
    assert drawn(page) == ["Gene Gene-0.90", "Disease Disease-0.70"]
    assert counts(page) == {"Gene": "1 of 2", "Disease": "1", "Cell": "0 of 1"}
    assert page.inner_text("#status") == "2 of 4 entities"
    slide(page, 0.5)
    assert len(drawn(page)) == 3
    slide(page, 0)
    assert drawn(page) == ALL
    assert len(stand_in.asked) == 1


def test_types_are_shown_and_hidden(page: Any) -> None:
    tag(page)
    page.get_by_role("checkbox", name="Gene").uncheck()
    settle(page)
    assert drawn(page) == ["Disease Disease-0.70", "Cell Cell-0.30"]
    page.click("#no-types")
    settle(page)
    assert drawn(page) == []
    assert page.text_content("#marked") == TEXT
    page.click("#all-types")
    settle(page)
    assert drawn(page) == ALL


def test_thresholds_tuned_for_each_type_can_be_used(page: Any, stand_in: StandIn) -> None:
    page.select_option("#model", "several")
    tag(page)
    page.get_by_label("Thresholds tuned for each type").check()
    settle(page)
    assert drawn(page) == ["Gene Gene-0.90", "Disease Disease-0.70", "Cell Cell-0.30"]
    with page.expect_download():
        page.click("button[data-format=jsonl]")
    assert stand_in.asked[-1]["tuned_thresholds"] is True
    page.select_option("#model", "first")
    page.wait_for_selector("#tuned-choice", state="hidden")
    wait_for_answer(page)
    settle(page)
    assert drawn(page) == ALL


def test_a_type_is_added_by_its_description_and_removed(page: Any, stand_in: StandIn) -> None:
    tag(page, "Oaks are old.")
    stand_in.find = lambda text: [(0, 4, "Plant", 0.8)]
    page.get_by_text("Add a type by description").click()
    page.fill("#type-name", "Plant")
    page.fill("#type-description", "Trees, herbs and mosses.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("button[value=Plant]")
    wait_for_answer(page)
    settle(page)
    assert stand_in.asked[-1]["types"] == {"Plant": "Trees, herbs and mosses."}
    assert drawn(page) == ["Plant Oaks"]
    assert counts(page)["Plant"] == "1"
    page.get_by_label("Remove the type Plant").click()
    page.wait_for_selector("button[value=Plant]", state="detached")
    wait_for_answer(page)
    assert "types" not in stand_in.asked[-1]


def test_a_type_that_the_model_has_cannot_be_added(page: Any) -> None:
    page.get_by_text("Add a type by description").click()
    page.fill("#type-name", " Gene ")
    page.fill("#type-description", "Again.")
    page.locator("#type-form button").click()
    assert page.locator("#types li").count() == 3
    assert page.evaluate("document.querySelector('#type-name').validationMessage") != ""
    page.fill("#type-name", "Genes")
    page.locator("#type-form button").click()
    assert page.locator("#types li").count() == 4


def test_only_models_that_read_descriptions_take_types(page: Any, stand_in: StandIn) -> None:
    page.get_by_text("Add a type by description").click()
    page.fill("#type-name", "Plant")
    page.fill("#type-description", "Trees.")
    page.locator("#type-form button").click()
    page.select_option("#model", "first")
    assert not page.is_visible("#adding")
    tag(page)
    assert "types" not in stand_in.asked[-1]


def test_the_corpus_of_a_model_of_several_is_chosen(page: Any, stand_in: StandIn) -> None:
    assert not page.is_visible("#corpus")
    page.select_option("#model", "several")
    page.select_option("#corpus", "two")
    tag(page)
    assert stand_in.asked[-1]["model"] == "several"
    assert stand_in.asked[-1]["corpus"] == "two"


def test_another_model_tags_the_shown_text_anew(page: Any, stand_in: StandIn) -> None:
    tag(page)
    with page.expect_response("**/tag"):
        page.select_option("#model", "first")
    assert [asked["model"] for asked in stand_in.asked] == ["reader", "first"]


def test_the_page_says_what_confidences_mean(page: Any) -> None:
    tag(page)
    assert page.inner_text("#calibration").startswith("Calibrated")
    page.select_option("#model", "first")
    assert page.inner_text("#calibration").startswith("Not calibrated")


@pytest.mark.parametrize("format_", ["jsonl", "csv", "tsv", "pubtator", "conll"])
def test_downloads_hold_what_the_threshold_leaves(page: Any, stand_in: StandIn, format_: str) -> None:
    open_file(page, TEXT.encode())
    page.click("#tag")
    wait_for_answer(page)
    slide(page, 0.6)
    with page.expect_download() as download:
        page.click(f"button[data-format={format_}]")
    assert download.value.suggested_filename == f"notes.v2.{format_}"
    assert Path(download.value.path()).read_text() == f"2 in {format_}"
    assert stand_in.asked[-1]["minimum_confidence"] == 0.6


def test_brat_is_saved_as_text_and_annotations(page: Any) -> None:
    tag(page)
    with (
        page.expect_download(lambda each: each.suggested_filename == "tagged.txt") as text,
        page.expect_download(lambda each: each.suggested_filename == "tagged.ann") as annotations,
    ):
        page.click("button[data-format=brat]")
    assert Path(text.value.path()).read_text() == TEXT
    assert Path(annotations.value.path()).read_text() == "4 in brat"


def test_what_a_format_cannot_express_is_told(page: Any, stand_in: StandIn) -> None:
    stand_in.unwritable = 3
    tag(page)
    with page.expect_download():
        page.click("button[data-format=conll]")
    wait_for_text(page, "#status", "^Saved tagged.conll, without 3 things that the format cannot express$")


def test_a_click_on_an_entity_shows_its_details(page: Any, stand_in: StandIn) -> None:
    stand_in.find = lambda text: [(2, 25, "Disease", 0.9123), (2, 8, "Cell", 0.5), (2, 8, "Gene", 0.4)]
    text = "🧬 kidney and liver cancer"
    tag(page, text)
    page.locator(".entity", has_text="kidney").last.click()
    details = page.locator("#details")
    assert details.locator(".mention").inner_text() == "kidney"
    assert "2 to 8" in details.inner_text(), "in characters, not in UTF-16 units"
    assert "Same span as" in details.inner_text()
    details.get_by_role("button", name="kidney and liver cancer").click()
    assert details.locator(".type").inner_text() == "Disease"
    assert "0.912" in details.inner_text()
    assert "Contains" in details.inner_text()
    page.keyboard.press("Escape")
    assert not details.is_visible()


def test_offsets_of_a_file_are_those_of_its_own_line_ends(page: Any, stand_in: StandIn) -> None:
    text = "\ufeffone\r\nGene-0.90\r\nGene-0.80"
    open_file(page, text.encode())
    page.click("#tag")
    wait_for_answer(page)
    settle(page)
    assert stand_in.asked[-1]["texts"] == [text.removeprefix("\ufeff")]
    assert drawn(page) == ["Gene Gene-0.90", "Gene Gene-0.80"]


def test_a_file_can_be_dropped(page: Any) -> None:
    transfer = page.evaluate_handle(
        "() => { const data = new DataTransfer(); const file = new File(['Gene-0.90'], 'a.txt');"
        " data.items.add(file); return data }"
    )
    page.dispatch_event("body", "dragover", {"dataTransfer": transfer})
    assert page.locator("body.dropping").count() == 1
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    wait_for_text(page, "#status", "^9 characters from a$")
    assert page.input_value("#text") == "Gene-0.90"
    assert page.locator("body.dropping").count() == 0


def test_a_file_that_is_no_text_is_refused(page: Any) -> None:
    open_file(page, b"\xff\xfe\x00", "picture.png")
    page.wait_for_selector("#notice:not([hidden])")
    assert page.inner_text("#notice-text") == "picture.png cannot be read as text in UTF-8."


def test_the_example_can_be_tagged(page: Any, stand_in: StandIn) -> None:
    page.click("#example")
    page.click("#tag")
    wait_for_answer(page)
    assert "BRCA1" in stand_in.asked[0]["texts"][0]
