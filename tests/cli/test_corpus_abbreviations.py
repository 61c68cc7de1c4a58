"""`spanwright corpus abbreviations` lists what texts define, with exact offsets."""

from __future__ import annotations

import json
from pathlib import Path

from corpus_commands import corpus, put

from spanwright.text import Document

TEXT = "Tumour necrosis factor (TNF) is high. So is TNF."


def test_definitions_are_counted_in_a_table(tmp_path: Path) -> None:
    path = put(tmp_path, [Document("1", TEXT), Document("2", TEXT)])
    (row,) = [line for line in corpus("abbreviations", path).stdout.splitlines() if "TNF" in line]
    assert "Tumour necrosis factor" in row and "2" in row


def test_json_has_the_offsets_of_each_definition(tmp_path: Path) -> None:
    path = put(tmp_path, [Document("1", TEXT)])
    (line,) = corpus("abbreviations", path, "--json").stdout.splitlines()
    assert json.loads(line) == {
        "document": "1",
        "short": {"start": 24, "end": 27, "text": "TNF"},
        "long": {"start": 0, "end": 22, "text": "Tumour necrosis factor"},
    }
