from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents, texts
from token_documents import problems, read, write

from spanwright.errors import InputError
from spanwright.formats.json.documents import FORMAT
from spanwright.text import Argument, Document, Entity, Relation

FULL = Document(
    "17",
    "Famotidine helps. 🧬",
    (
        Entity(0, 10, "Chemical", concepts=("D015738",), confidence=0.25),
        Entity(0, 16, "Odd", fragments=((0, 4), (11, 16))),
    ),
    words=((0, 10), (11, 16)),
    sentences=((0, 17),),
    corpus="sample",
    generated_id=True,
    metadata={"year": 1996, "tags": ["a", None, {"b": 1.5}]},
    relations=(
        Relation("CID", (Argument("D015738"), Argument(Entity(0, 16, "Odd", ((0, 4), (11, 16))), "Whole"))),
        Relation("Same", (Argument("D1"), Argument("D2")), "Novel"),
    ),
    annotation_notes={"brat_lines": ["#1\tNote T1\tx"]},
)


def line(**keys: Any) -> str:
    return json.dumps({"id": "1", "text": "a b c"} | keys) + "\n"


def test_everything_a_document_holds_is_written_and_read() -> None:
    found, log = read(FORMAT, write(FORMAT, FULL))
    assert found == [FULL]
    assert log.problems == []


def test_what_has_its_default_is_not_written() -> None:
    assert json.loads(write(FORMAT, Document("1", "a"))) == {"id": "1", "text": "a", "entities": []}


@st.composite
def any_documents(draw: st.DrawFn) -> Document:
    """Documents that use every field."""
    document = draw(documents(discontinuous=True, concepts=True, related="anything"))
    borders = sorted(draw(st.sets(st.integers(0, len(document.text)), max_size=6)))
    ranges = tuple(zip(borders[::2], borders[1::2], strict=False))
    values = st.recursive(st.none() | st.booleans() | st.integers() | texts(), st.lists, max_leaves=3)
    confidence = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    changes = {
        each: Entity(
            each.start,
            each.end,
            draw(texts()),
            each.fragments,
            (*each.concepts, draw(texts())),
            draw(confidence),
        )
        for each in document.entities
    }
    changed = document.with_changed_entities(changes)
    return Document(
        draw(texts()),
        changed.text,
        changed.entities,
        draw(st.sampled_from([None, ranges])),
        draw(st.sampled_from([None, ranges])),
        draw(st.none() | texts()),
        draw(st.booleans()),
        draw(st.dictionaries(texts(), values, max_size=3)),
        changed.relations,
        draw(st.dictionaries(texts(), values, max_size=3)),
    )


@given(document=any_documents())
def test_documents_survive_writing_and_reading(document: Document) -> None:
    found, log = read(FORMAT, write(FORMAT, document))
    assert found == [document]
    assert (log.documents_rejected, log.entities_rejected) == (0, 0)


@given(text=texts())
def test_a_document_is_one_line_for_every_tool(text: str) -> None:
    assert len(write(FORMAT, Document("1", text, metadata={text: text})).splitlines()) == 1


def test_a_text_alone_is_a_document() -> None:
    found, _ = read(
        FORMAT, '{"text": "a"}\n\n{"text": "b", "id": null}\n{"id": 7, "text": "c"}', "notes.jsonl"
    )
    assert found == [
        Document("notes#1", "a", generated_id=True),
        Document("notes#2", "b", generated_id=True),
        Document("7", "c"),
    ]


def test_unknown_keys_are_kept_as_metadata_and_noted() -> None:
    (document,), log = read(FORMAT, line(label=[[0, 1, "X"]], metadata={"year": 3}), "notes.jsonl")
    assert document.metadata == {"label": [[0, 1, "X"]], "year": 3}
    assert [note.rpartition("/")[2] for note in log.notes] == [
        "notes.jsonl: keys that are not read but kept as metadata: label"
    ]


def test_a_repeated_id_is_made_unique_with_a_remark() -> None:
    found, log = read(FORMAT, line() + line() + line(id="1#2"))
    assert [document.id for document in found] == ["1", "1#2", "1#2#2"]
    assert [line for line, _ in problems(log)] == [2, 3]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"text": "a"', "not JSON ("),
        (b'{"text": "a"} {"text": "b"}', "not JSON (Extra data"),
        (b'["text"]', "a JSON list was found; expected an object"),
        (b'{"id": "1"}', "the key 'text' is missing; expected a string"),
        (b'{"text": 5}', "'text' is 5; expected a string"),
        (b'{"text": null}', "'text' is None; expected a string"),
        (b'{"text": "a", "id": ["1"]}', "'id' is ['1']; expected a string"),
        (b'{"text": "a", "entities": {}}', "'entities' is {}; expected a list"),
        (b'{"text": "a", "metadata": []}', "'metadata' is []; expected an object"),
        (b'{"text": "a", "corpus": 1}', "'corpus' is 1; expected a string"),
        (b'{"text": "a", "generated_id": 1}', "'generated_id' is 1; expected true or false"),
        (
            b'{"text": "a", "words": [[0]]}',
            "'words' holds [0]; expected lists [start, end] of whole numbers",
        ),
        (
            b'{"text": "a", "words": [[0, 2]]}',
            "document 'corpus#1': word [0, 2) is empty, out of order or outside",
        ),
        (b'{"text": "a", "sentences": [[true, 1]]}', "'sentences' holds [True, 1]; expected lists"),
        (b'{"text": "a\\ud800"}', "an escape stands for the lone surrogate U+D800"),
        (b'{"text": "a", "id": "\\udfff"}', "an escape stands for the lone surrogate U+DFFF"),
        (b'{"text": "a", "x": NaN}', "not JSON (NaN is not a JSON number)"),
        (b'{"text": "a\xff"}', "byte 0xff at offset 11 of the line"),
        (b'{"text": ' + b"[" * 100_000, "not JSON (maximum recursion depth"),
        (b'{"text": "a", "x": ' + b"9" * 5000 + b"}", "not JSON (Exceeds the limit"),
    ],
)
def test_a_bad_line_is_rejected_and_the_others_are_read(bad: bytes, reason: str) -> None:
    found, log = read(FORMAT, bad + b'\n{"text": "fine", "id": "2"}\n')
    assert [document.id for document in found] == ["2"]
    ((number, found_reason),) = problems(log)
    assert number == 1
    assert found_reason.startswith(reason)
    assert (log.documents_read, log.documents_rejected) == (1, 1)


def test_entities_of_a_rejected_document_are_counted() -> None:
    _, log = read(FORMAT, '{"entities": [{}, {}]}\n')
    assert (log.documents_rejected, log.entities_rejected) == (1, 2)


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert read(FORMAT, '{"text": "\\ud83e\\uddec"}')[0][0].text == "🧬"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ([0, 1, "X"], "entity 1: [0, 1, 'X'] was found; expected an object"),
        ({"start": 0, "end": 1}, "entity 1: the key 'type' is missing; expected a string"),
        ({"end": 1, "type": "X"}, "entity 1: the key 'start' is missing; expected a whole number"),
        ({"start": 0, "end": "1", "type": "X"}, "entity 1: 'end' is '1'; expected a whole number"),
        ({"start": False, "end": 1, "type": "X"}, "entity 1: 'start' is False; expected a whole number"),
        ({"start": 0, "end": 1.0, "type": "X"}, "entity 1: 'end' is 1.0; expected a whole number"),
        ({"start": 4, "end": 6, "type": "X"}, "document '1': entity 'X' at [4, 6) is outside the text"),
        ({"start": 1, "end": 1, "type": "X"}, "document '1': entity 'X' at [1, 1) is outside the text"),
        ({"start": -2, "end": 1, "type": "X"}, "document '1': entity 'X' at [-2, 1) is outside the text"),
        (
            {"start": 0, "end": 5, "type": "X", "fragments": [[0, 1], [2, 3]]},
            "document '1': entity 'X' at [0, 5) has fragments",
        ),
        ({"start": 0, "end": 1, "type": "X", "concepts": ["a", 1]}, "entity 1: 'concepts' is ['a', 1]"),
        ({"start": 0, "end": 1, "type": "X", "confidence": True}, "entity 1: 'confidence' is True"),
        ({"start": 0, "end": 1, "type": "X", "confidence": "high"}, "entity 1: 'confidence' is 'high'"),
    ],
)
def test_a_wrong_entity_is_rejected_alone(bad: Any, reason: str) -> None:
    good = {"start": 2, "end": 3, "type": "Y"}
    (document,), log = read(FORMAT, "\n" + line(entities=[good, bad, good | {"type": "Z"}]))
    assert document.entities == (Entity(2, 3, "Y"), Entity(2, 3, "Z"))
    ((number, found_reason),) = problems(log)
    assert number == 2
    assert found_reason.startswith(reason)
    assert (log.entities_read, log.entities_rejected) == (2, 1)


def test_a_key_beside_metadata_and_in_it_is_remarked_on() -> None:
    (document,), log = read(FORMAT, line(year=[1], metadata={"year": [1]}, note=2))
    assert document.metadata == {"year": [1], "note": 2}
    assert problems(log) == [(1, "keys that are in 'metadata' too, which is kept: year")]


@pytest.mark.parametrize("number", ["1e999", "1" + "0" * 400])
def test_an_infinite_confidence_is_rejected(number: str) -> None:
    entity = f'{{"start": 0, "end": 1, "type": "X", "confidence": {number}}}'
    _, log = read(FORMAT, f'{{"text": "a", "entities": [{entity}]}}')
    ((line, reason),) = problems(log)
    assert line == 1
    assert reason.startswith("entity 0: 'confidence' is")
    assert reason.endswith("; expected a finite number")


def test_a_mention_that_is_not_at_its_offsets_is_remarked_on() -> None:
    entities = [{"start": 2, "end": 3, "type": type_, "text": text} for type_, text in ("Xc", "Yb")]
    (document,), log = read(FORMAT, line(entities=entities))
    assert len(document.entities) == 2
    assert problems(log) == [(1, "the mention is given as 'c', but [2, 3) is 'b'; offsets are kept")]


def test_unknown_keys_of_an_entity_are_remarked_on() -> None:
    (document,), log = read(FORMAT, line(entities=[{"start": 2, "end": 3, "type": "X", "note": "?"}]))
    assert document.entities == (Entity(2, 3, "X"),)
    assert problems(log) == [(1, "an entity has keys that are not read: note")]


@pytest.mark.parametrize(
    "document",
    [
        Document("1", "a", metadata={"x": object()}),
        Document("1", "a", metadata={"x": float("nan")}),
        Document("1", "a", metadata={"x": "\ud800"}),
    ],
)
def test_what_json_cannot_hold_is_refused(document: Document) -> None:
    with pytest.raises(InputError, match=r"document '1' cannot be written as JSON: .*; expected strings"):
        write(FORMAT, document)


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ('{"id": "1", "text": "a"}\n', "x", True),
        ('\n{"text" : "a"}', "x", True),
        ('{"id": "1", "text": "' + "long " * 20_000, "x", True),
        ('{"tokens": [], "entity_mentions": [], "text": ""}', "x.jsonl", False),
        ('{"name": "Chemical"}', "x.jsonl", False),
        ("", "x.jsonl", True),
        ("", "x.json", False),
        ("text", "x", False),
        ("{", "x.jsonl", False),
    ],
)
def test_json_documents_are_recognised(content: str, name: str, expected: bool) -> None:
    assert FORMAT.recognises(Path(name), content) is expected
