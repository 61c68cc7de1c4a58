"""Answers in other formats: what a reader of the format gets back, and what it is told that it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.formats.files import read
from spanwright.service.formats import EXAMPLES, UNWRITABLE, Answer, answer_with
from spanwright.service.messages import OutputFormat
from spanwright.text import Document, Entity

NESTED = Document(
    "text-1",
    "p53 in beta 😀 cells\nof mice",
    (Entity(0, 3, "Gene", confidence=0.9), Entity(7, 19, "Cell", confidence=0.8), Entity(7, 11, "Gene")),
    generated_id=True,
)
FLAT = Document("text-2", "p53 in cells", (Entity(7, 12, "Cell", confidence=0.75),), generated_id=True)


def keys(document: Document) -> list[tuple[int, int, str]]:
    return sorted((entity.start, entity.end, entity.type) for entity in document.entities)


def read_back(answer: Answer, path: Path) -> list[Document]:
    path.write_bytes(answer.content)
    return read(path, strict=True).documents


@pytest.mark.parametrize("format", ["jsonl", "pubtator"])
def test_texts_and_nested_entities_are_read_back(format: str, tmp_path: Path) -> None:
    answer = answer_with([NESTED, FLAT], format, "m")
    found = read_back(answer, tmp_path / f"answer.{format}")
    assert [document.text for document in found] == [NESTED.text, FLAT.text]
    assert [keys(document) for document in found] == [keys(NESTED), keys(FLAT)]


def test_confidences_are_kept_where_the_format_has_a_place(tmp_path: Path) -> None:
    answer = answer_with([FLAT], "jsonl", "m")
    assert read_back(answer, tmp_path / "answer.jsonl")[0].entities[0].confidence == 0.75
    assert answer.headers == {UNWRITABLE: "0"}


@pytest.mark.parametrize("format", ["pubtator", "brat", "conll"])
def test_confidences_are_counted_where_the_format_has_no_place(format: str) -> None:
    answer = answer_with([FLAT, FLAT], format, "m")
    assert answer.headers[UNWRITABLE] == "2"
    assert "the confidences of 1 entity of document 'text-2'" in answer.headers[EXAMPLES]


def test_the_two_files_of_brat_are_read_back(tmp_path: Path) -> None:
    answer = answer_with([NESTED, FLAT], "brat", "m")
    assert answer.media_type == "application/json"
    for record in json.loads(answer.content):
        (tmp_path / f"{record['id']}.txt").write_text(record["text"], encoding="utf-8", newline="")
        (tmp_path / f"{record['id']}.ann").write_text(record["ann"], encoding="utf-8", newline="")
    found = read(tmp_path, strict=True).documents
    assert [(document.id, document.text) for document in found] == [
        (document.id, document.text) for document in (NESTED, FLAT)
    ]
    assert [keys(document) for document in found] == [keys(NESTED), keys(FLAT)]


def test_columns_leave_out_what_overlaps_and_say_so(tmp_path: Path) -> None:
    answer = answer_with([NESTED, FLAT], "conll", "m")
    assert answer.media_type.startswith("text/plain")
    assert answer.headers[UNWRITABLE] == "4"
    overlapping, *confidences = json.loads(answer.headers[EXAMPLES])
    assert "'Gene' 'beta' at [7, 11)" in overlapping
    assert [line.startswith("the confidences of ") for line in confidences] == [True, True]
    found = read_back(answer, tmp_path / "answer.conll")
    assert [len(document.entities) for document in found] == [2, 1]


def test_line_breaks_that_pubtator_cannot_express_are_told() -> None:
    answer = answer_with([Document("text-1", "a\nb\nc")], "pubtator", "m")
    assert answer.headers[UNWRITABLE] == "1"
    assert "line breaks" in answer.headers[EXAMPLES]


def test_of_many_unwritable_things_all_are_counted_and_some_are_shown() -> None:
    entities = tuple(Entity(0, end, "Cell") for end in range(1, 400))
    answer = answer_with([Document("text-1", "a" * 400, entities)], "conll", "m")
    assert int(answer.headers[UNWRITABLE]) > 300
    assert len(json.loads(answer.headers[EXAMPLES])) == 10
    assert len(answer.headers[EXAMPLES]) < 4000


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_no_text_breaks_the_headers(text: str) -> None:
    entities = tuple(Entity(0, end, text) for end in range(1, len(text) + 1))
    for format in ("pubtator", "brat", "conll"):
        headers = answer_with([Document("text-1", text, entities)], format, "m").headers
        assert all(" " <= character <= "~" for value in headers.values() for character in value)
        assert json.loads(headers.get(EXAMPLES, "[]")) or headers[UNWRITABLE] == "0"


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_have_a_row_for_each_entity(format: OutputFormat, delimiter: str) -> None:
    document = Document("text-1", "A gene here.", (Entity(2, 6, "Gene", confidence=0.5),))
    answer = answer_with([document], format, "m")
    assert answer.media_type.startswith(("text/csv", "text/tab-separated-values"))
    head, row = answer.content.decode().splitlines()
    assert head.split(delimiter)[:6] == ["document", "start", "end", "text", "type", "confidence"]
    assert row.split(delimiter)[:6] == ["text-1", "2", "6", "gene", "Gene", "0.5"]
