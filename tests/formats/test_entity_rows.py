"""Tables of entities, and the text of mentions in JSON lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from spanwright.errors import InputError
from spanwright.formats.files import TABLES, named, read, write, writer_for
from spanwright.formats.tables.entity_rows import COLUMNS
from spanwright.text import Document, Entity

TEXT = 'BRCA1 and 2\tmatter. A "tab\t" here, and breast\ncancer.'
DOCUMENT = Document(
    "17",
    TEXT,
    (
        Entity(0, 11, "Gene", fragments=((0, 5), (10, 11)), confidence=0.98765, concepts=("1", "2")),
        Entity(TEXT.index("breast"), len(TEXT) - 1, "Disease"),
    ),
)


@pytest.mark.parametrize("name, delimiter", [("csv", ","), ("tsv", "\t")])
def test_a_row_has_mention_type_offsets_confidence_concepts_document_and_sentence(
    name: str, delimiter: str, tmp_path: Path
) -> None:
    out = tmp_path / "table"
    write([DOCUMENT, Document("18", "Nothing.")], out, format=name)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 2
    first, second = rows
    assert (first["document"], first["start"], first["end"], first["type"]) == ("17", "0", "11", "Gene")
    assert (first["confidence"], first["concepts"], first["fragments"]) == ("0.98765", "1|2", "0-5;10-11")
    assert first["sentence"] == "BRCA1 and 2 matter."
    assert second["text"] == "breast cancer" and second["confidence"] == ""
    assert out.read_text(encoding="utf-8").count("\n") == 3


def test_endings_choose_a_table_and_columns_keep_theirs() -> None:
    names = [writer_for(Path(file)).name for file in ("a.csv", "a.entities.tsv", "a.tsv", "a.jsonl")]
    assert names == ["csv", "tsv", "conll", "jsonl"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_not_read(name: str, tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "table", format=name)
    with pytest.raises(InputError, match="has no texts, so it can only be written"):
        read(tmp_path / "table", format=name)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_recognised_and_what_is_expected_is_said(name: str, tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "table", format=name)
    with pytest.raises(InputError, match=r"table: a table of entities has no texts.*; expected documents"):
        read(tmp_path / "table")


def test_json_lines_have_the_text_of_mentions_if_asked(tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "with.jsonl", options={"mentions": "yes"})
    write([DOCUMENT], tmp_path / "without.jsonl")
    record = json.loads((tmp_path / "with.jsonl").read_text())
    assert [entity["text"] for entity in record["entities"]] == [*map(DOCUMENT.mention, DOCUMENT.entities)]
    assert '"text"' not in json.dumps(json.loads((tmp_path / "without.jsonl").read_text())["entities"])
    corpus = read(tmp_path / "with.jsonl", strict=True)
    assert corpus.documents == [DOCUMENT]


def test_a_misspelt_format_is_told_with_the_right_one() -> None:
    with pytest.raises(InputError, match=r"unknown format 'jsnl' \(did you mean 'jsonl'\?\); expected "):
        named("jsnl")
    with pytest.raises(InputError, match=r"unknown format 'cvs' \(did you mean 'csv'\?\)"):
        named("cvs")
    with pytest.raises(InputError, match=r"no option 'mention' .*\(did you mean 'mentions'\?\)"):
        write([DOCUMENT], "x.jsonl", options={"mention": "yes"})
