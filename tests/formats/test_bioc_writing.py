from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from bioc_content import (
    ABSTRACT,
    BOTH,
    ENTITIES,
    HEADER,
    JSON,
    RELATED,
    TITLE,
    XML,
    Record,
    annotation,
    content,
    document,
    passage,
)
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import corpora, documents, entities, ids, texts
from token_documents import read, write

from spanwright.formats.format import Format
from spanwright.formats.io.safe_xml import is_legal
from spanwright.text import Document, Entity


def test_xml_that_was_read_is_written_as_it_was() -> None:
    given = content(XML, RELATED, document(TITLE, ABSTRACT, id="2"), **HEADER)
    found, log = read(XML, given)
    assert log.problems == []
    one, other = (ElementTree.canonicalize(each, strip_text=True) for each in (given, write(XML, *found)))
    assert one == other


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {name: without_empty(each) for name, each in value.items()}
        return {name: each for name, each in inner.items() if each not in ("", {}, [])}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


def test_json_that_was_read_is_written_as_it_was() -> None:
    odd = RELATED | {"id": "3", "_id": "3|None", "authors": ["A", "B"], "year": 1999}
    given = json.loads(content(JSON, RELATED, odd, **HEADER, bioctype="BioCCollection"))
    found, log = read(JSON, json.dumps(given))
    assert log.problems == []
    assert without_empty(json.loads(write(JSON, *found))) == without_empty(given)


def test_either_form_turns_into_the_other() -> None:
    given = write(XML, *read(XML, content(XML, RELATED, document(TITLE, id="2"), **HEADER))[0])
    by_json = read(JSON, write(JSON, *read(XML, given)[0]))[0]
    assert write(XML, *by_json) == given


def relations(record: Record) -> list[str]:
    return [each["id"] for each in record["relations"]] + [
        each["id"] for each in record["passages"][2]["sentences"][0]["relations"]
    ]


def test_relations_of_annotations_that_are_gone_go_with_them() -> None:
    (found,), _ = read(JSON, content(JSON, RELATED))
    assert relations(json.loads(write(JSON, found))["documents"][0]) == ["R1", "R3", "R2"]
    fewer = found.with_entities(found.entities[:1])
    assert relations(json.loads(write(JSON, fewer))["documents"][0]) == ["R3"]


@BOTH
def test_an_entity_that_changed_gets_an_id_and_infons_of_its_own(format: Format) -> None:
    (found,), _ = read(format, content(format, document(TITLE, ABSTRACT)))
    changed = found.with_entities((replace(ENTITIES[0], type="Drug"), ENTITIES[1]))
    written = write(format, changed)
    (again,), log = read(format, written)
    assert (again.entities, log.problems) == (changed.entities, [])
    assert "MESH" in written and "identifier" in written
    assert sorted(
        id for group in again.annotation_notes["bioc"]["annotations"].values() for id in (group[0]["id"],)
    ) == [
        "1",
        "2",
    ]


def test_an_entity_that_becomes_another_keeps_its_id_and_its_other_infons() -> None:
    (found,), _ = read(JSON, content(JSON, document(TITLE, ABSTRACT)))
    record = json.loads(write(JSON, found))["documents"][0]
    before = next(each for part in record["passages"] for each in part["annotations"])
    before["infons"]["annotator"] = "me"
    (noted,), _ = read(JSON, content(JSON, record))
    old = noted.entities[0]
    new = replace(old, type="Disorder", concepts=("MESH:D9",))
    changed = noted.with_changed_entities({each: each for each in noted.entities} | {old: new})
    written = json.loads(write(JSON, changed))["documents"][0]
    after = next(each for part in written["passages"] for each in part["annotations"])
    assert after["id"] == before["id"]
    assert after["infons"] == {"type": "Disorder", "identifier": "MESH:D9", "annotator": "me"}


def test_equal_entities_keep_their_own_infons() -> None:
    twins = [annotation(0, 3, id=id, type="A", by=id) for id in ("x", "y")]
    (found,), _ = read(JSON, content(JSON, document(passage(0, "one", *twins))))
    written = json.loads(write(JSON, found.with_entities((*found.entities, Entity(0, 3, "A")))))
    marks = written["documents"][0]["passages"][0]["annotations"]
    assert [(mark["id"], mark["infons"].get("by")) for mark in marks] == [("x", "x"), ("y", "y"), ("0", None)]


@BOTH
def test_a_document_with_another_text_is_written_with_passages_of_its_own(format: Format) -> None:
    (found,), _ = read(format, content(format, document(TITLE, ABSTRACT)))
    longer = replace(found, text=f"{found.text} again")
    (again,), _ = read(format, write(format, longer))
    assert (again.text, again.entities) == (longer.text, longer.entities)


STRANGE = [
    5,
    {"passages": 5, "annotations": 5, "relations": 5, "infons": 5, "collection": 5},
    {
        "passages": [5],
        "annotations": {"0 3\tA": 5},
        "relations": [5, {"nodes": 5}],
        "collection": {"infons": 5},
    },
    {"passages": [{"offset": -1, "length": 3}], "annotations": {"0 3\tA": [5, {"id": 5, "infons": 5}]}},
    {"passages": [{"offset": 0, "length": 3, "relations": [{"id": None, "nodes": [{"refid": None}]}]}]},
    {"passages": [{"offset": 0, "length": 2}], "annotations": {"0 3\tA": [{"infons": {"type": "B"}}]}},
    {"passages": [{"offset": 0, "length": 0, "sentences": [{"offset": 0, "length": 3}]}]},
    {
        "annotations": {
            "0 3\tA": [{"infons": {"type": "A", "MESH": "D1"}}, {"id": 1, "infons": {"type": "A", 5: None}}]
        }
    },
    {"collection": {"source": 5, "date": None, "key": [], "documents": "none"}},
]


@BOTH
@pytest.mark.parametrize("strange", STRANGE)
def test_metadata_of_other_sources_does_not_disturb_the_writing(format: Format, strange: object) -> None:
    twins, notes = (Entity(0, 3, "A"), Entity(0, 3, "B")), {"bioc": strange}
    given = Document("1", "one", twins, metadata=notes, annotation_notes=notes)
    (found,), log = read(format, write(format, given))
    assert (found.text, found.entities, log.problems) == (given.text, given.entities, [])


LEGAL_TEXTS = texts().map(lambda text: "".join(filter(is_legal, text)))


@given(corpus=corpora(documents(text=LEGAL_TEXTS, discontinuous=True, concepts=True, related="anything")))
def test_documents_survive_writing_and_reading(corpus: list[Document]) -> None:
    for format in (XML, JSON):
        assert [line for each in corpus for line in format.unwritable(each)] == []
        found, log = read(format, write(format, *corpus))
        assert found == corpus
        assert log.problems == []


@st.composite
def anything(draw: st.DrawFn) -> Document:
    """A document with given sentences, any id, any concepts and types that may be empty."""
    text = draw(texts())
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    sentences = tuple(zip(borders[::2], borders[1::2], strict=False))
    concepts = st.lists(st.sampled_from(["D1", "a|b", "-1", "", " D2", "\0", "a,b"]), max_size=3).map(tuple)
    marked = tuple(
        replace(each, type=draw(st.sampled_from(["A", "", " ", "\x01", "a b"])), concepts=draw(concepts))
        for each in draw(entities(text, discontinuous=True))
    )
    id = draw(st.one_of(ids(), st.sampled_from(["", " x", "\0", "<&>"])))
    return Document(id, text, marked, sentences=draw(st.sampled_from([None, sentences])))


def in_order(each: Document) -> Document:
    return replace(each, metadata={}, annotation_notes={}, entities=tuple(sorted(each.entities, key=repr)))


@given(anything())
def test_what_is_not_read_again_was_named_as_unwritable(one: Document) -> None:
    for format in (XML, JSON):
        (found,), log = read(format, write(format, one))
        assert (in_order(found) != in_order(one)) == bool(list(format.unwritable(one)))
        assert log.entities_rejected == 0


@given(anything())
def test_lossy_writing_keeps_every_offset(one: Document) -> None:
    for format in (XML, JSON):
        (found,), _ = read(format, write(format, one))
        assert len(found.text) == len(one.text)
        kept = sorted(each.ranges for each in one.entities if each.type.strip())
        assert sorted(each.ranges for each in found.entities) == kept


@BOTH
def test_given_sentences_are_written_where_the_gaps_can_be(format: Format) -> None:
    given = Document("1", "One. Two.\n  Three.", sentences=((0, 4), (5, 9), (12, 18)))
    assert list(format.unwritable(given)) == []
    (found,), _ = read(format, write(format, given))
    assert (found.text, found.sentences) == (given.text, given.sentences)
    other = replace(given, text="One.\tTwo.\n  Three.")
    assert ["the given sentences of document '1'" in line for line in format.unwritable(other)] == [True]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (Document("1", "one\0"), "the control characters of document '1'"),
        (Document("", "one"), "the id ''"),
        (Document("\x01", "one"), "the id '\\x01'"),
        (Document("1", "one", words=((0, 3),)), "the given words of document '1'"),
        (Document("1", "one", (Entity(0, 3, ""),)), "the type of '' 'one'"),
        (
            Document("1", "one", (Entity(0, 3, "\0"),)),
            "the control characters in the type or the concepts of",
        ),
        (Document("1", "one", (Entity(0, 3, "D", concepts=("a|b",)),)), "the concepts ['a|b'] of 'D' 'one'"),
    ],
)
def test_what_cannot_be_written_is_named(given: Document, line: str) -> None:
    (found,) = XML.unwritable(given)
    assert line in found
    assert len(read(XML, write(XML, given))[0]) == 1


PLACES = st.sampled_from(
    [
        ("id",),
        ("passages",),
        ("passages", 0),
        ("passages", 0, "offset"),
        ("passages", 0, "text"),
        ("passages", 0, "infons"),
        ("passages", 0, "annotations"),
        ("passages", 0, "annotations", 0),
        ("passages", 0, "annotations", 0, "id"),
        ("passages", 0, "annotations", 0, "text"),
        ("passages", 0, "annotations", 0, "infons"),
        ("passages", 0, "annotations", 0, "infons", "type"),
        ("passages", 0, "annotations", 0, "infons", "MESH"),
        ("passages", 0, "annotations", 0, "locations"),
        ("passages", 0, "annotations", 0, "locations", 0),
        ("passages", 0, "annotations", 0, "locations", 0, "length"),
        ("passages", 2, "sentences"),
        ("passages", 2, "sentences", 0, "offset"),
        ("passages", 2, "sentences", 0, "annotations", 0),
        ("relations",),
        ("relations", 0, "nodes"),
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@example(place=("passages", 0, "annotations", 0, "infons", "type"), value="\x1f")
@given(place=PLACES, value=VALUES)
def test_whatever_stands_in_a_document_is_counted_and_can_be_written(
    place: tuple[Any, ...], value: Any
) -> None:
    broken = json.loads(json.dumps(RELATED))
    target = broken
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    found, log = read(JSON, content(JSON, broken, document(TITLE, id="good")))
    assert log.documents_read + log.documents_rejected == 2
    assert found[-1].id == "good"
    for format in (XML, JSON):
        again, _ = read(format, write(format, *found))
        assert [[e.ranges for e in each.entities] for each in again] == [
            [e.ranges for e in each.entities] for each in found
        ]
        for before, after in zip(found, again, strict=True):
            # XML cannot hold control characters: then, and only then, something is named as unwritable.
            assert list(format.unwritable(before)) or after.entities == before.entities
