"""Files of annotation tools: what they hold survives, and what is wrong in them is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, documents
from token_documents import problems, read, write

from spanwright.formats import files
from spanwright.formats.files import FORMATS, with_options
from spanwright.formats.format import Format
from spanwright.formats.io.safe_xml import is_legal
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Argument, Document, Entity, Relation

ENTITIES_FORM = with_options(FORMATS["doccano"], {"form": "entities"})
TEXT_FORMATS = {
    "label-studio": FORMATS["label-studio"],
    "doccano": FORMATS["doccano"],
    "doccano entities": ENTITIES_FORM,
    "prodigy": FORMATS["prodigy"],
    "argilla": FORMATS["argilla"],
}
EACH = pytest.mark.parametrize("format", TEXT_FORMATS.values(), ids=TEXT_FORMATS)
TEXT = "😀 Acute renal failure treated"
NESTED = (Entity(2, 21, "Disease"), Entity(8, 13, "Organ"), Entity(2, 21, "Finding"))


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """Documents with nested and discontinuous entities, concepts, confidences and relations."""
    document = draw(documents(discontinuous=True, concepts=True, related="anything"))
    confidence = st.none() | st.floats(0, 1)
    changes = {each: replace(each, confidence=draw(confidence)) for each in document.entities}
    return replace(
        document.with_changed_entities(changes),
        metadata=draw(st.dictionaries(st.sampled_from(["year", "journal"]), st.integers(), max_size=2)),
    )


def expected(document: Document, unwritable: list[Unwritable]) -> Document:
    """What a format gives back that lists this as unwritable: whole kinds, or what is in several pieces."""
    kinds = {line.kind for line in unwritable}
    kept = {entity: entity for entity in document.entities if not entity.fragments}
    if "concepts" in kinds:
        kept = {entity: replace(changed, concepts=()) for entity, changed in kept.items()}
    if "confidences" in kinds:
        kept = {entity: replace(changed, confidence=None) for entity, changed in kept.items()}
    lines = [str(line) for line in unwritable if line.kind == "relations"]
    relations = [
        each for each in document.relations if not any(f"relation {each.type!r}" in x for x in lines)
    ]
    return replace(document, relations=tuple(relations)).with_changed_entities(kept)


def without_relations(document: Document) -> Document:
    return replace(document, relations=())


@EACH
@given(corpus=corpora(annotated()))
def test_documents_survive_but_for_what_is_counted(format: Format, corpus: list[Document]) -> None:
    unwritable = {document.id: list(format.unwritable(document)) for document in corpus}
    found, log = read(format, write(format, *corpus))
    assert log.problems == []
    assert [without_relations(each) for each in found] == [
        without_relations(expected(document, unwritable[document.id])) for document in corpus
    ]
    for document, again in zip(corpus, found, strict=True):
        lost = sum(line.kind == "relations" for line in unwritable[document.id])
        assert len(document.relations) - lost == len(again.relations)


@EACH
@pytest.mark.parametrize("unit", ["characters", "utf-16"])
def test_offsets_are_exact_where_a_tool_counts_utf_16_units(
    tmp_path: Path, format: Format, unit: str
) -> None:
    document = Document("1", TEXT, NESTED)
    content = write(format, document)
    if unit == "utf-16":
        for entity in sorted({border for each in NESTED for border in (each.start, each.end)}, reverse=True):
            for mark in (f": {entity},", f": {entity}}}", f"[{entity},", f", {entity},"):
                content = content.replace(mark, mark.replace(str(entity), f"<{entity + 1}>"))
        content = content.replace("<", "").replace(">", "")
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    corpus = files.read(path, format=format.name, options={"offsets": unit}, strict=True)
    assert corpus.documents == [document]


@EACH
def test_relations_of_mentions_survive_where_there_is_a_place(format: Format) -> None:
    document = Document("1", TEXT, NESTED)
    related = replace(document, relations=(Relation("in", (Argument(NESTED[1]), Argument(NESTED[0]))),))
    (found,), _ = read(format, write(format, related))
    has_place = not any(line.kind == "relations" for line in format.unwritable(related))
    assert found == (related if has_place else document)
    assert has_place is (format.name in ("label-studio", "prodigy") or format is ENTITIES_FORM)


@EACH
def test_a_text_alone_survives_without_an_id(format: Format) -> None:
    (found,), _ = read(format, write(format, Document("x", "a b", generated_id=True)), "notes.data")
    assert found == Document("notes#1", "a b", generated_id=True)


# XMI.


@given(document=documents(concepts=True))
def test_a_cas_holds_nested_entities_and_a_concept_of_each(document: Document) -> None:
    pytest.importorskip("cassis")
    from spanwright.formats.tools.cas_files import load_cas, new_cas, new_types

    types = new_types()
    content = new_cas(document, document.entities, types).to_xmi().encode()
    cas = load_cas(content, types)
    layer = FORMATS["xmi"].read.__kwdefaults__["layer"]
    found = {(each.begin, each.end, each.value, each.identifier) for each in cas.select(layer)}
    assert found == {
        (each.start, each.end, each.type, each.concepts[0] if len(each.concepts) == 1 else None)
        for each in document.entities
    }
    assert not is_legal(document.text) or cas.sofa_string == document.text


def test_a_folder_of_cas_files_is_read_again(tmp_path: Path) -> None:
    pytest.importorskip("cassis")
    words, sentences = ((0, 1), (2, 7), (8, 13), (14, 21)), ((0, 21),)
    entities = (*NESTED[:2], Entity(22, 29, "Event", concepts=("D1",)))
    document = Document("a/b 1", TEXT, entities, words, sentences)
    files.write([document, Document("2", "x")], tmp_path / "corpus", format="xmi")
    corpus = files.read(tmp_path / "corpus", strict=True)
    assert corpus.documents == [Document("2", "x"), document]
    assert 'begin="3" end="22"' in (tmp_path / "corpus" / "a%2Fb%201.xmi").read_text()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "a DOCTYPE was found"),
        ("<xmi:XMI", "cannot be read by dkpro-cassis"),
        ('<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"/>', "there is no text in it"),
    ],
)
def test_a_broken_cas_is_rejected_with_a_reason(tmp_path: Path, content: str, reason: str) -> None:
    pytest.importorskip("cassis")
    (tmp_path / "1.xmi").write_text(content)
    log = files.read(tmp_path, format="xmi").log
    assert reason in problems(log)[0][1]
    assert log.documents_rejected == 1


# What is wrong.


def label_studio(**task: Any) -> str:
    return json.dumps([{"data": {"id": "1", "text": "a b c"}} | task])


def region(start: Any, end: Any, *labels: str, type: str = "labels", **others: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)}
    return {"id": "r", "from_name": "label", "to_name": "text", "type": type, "value": value} | others


def studio_results(*results: Any) -> str:
    return label_studio(annotations=[{"result": list(results)}])


def line(**keys: Any) -> str:
    return json.dumps({"id": "1", "text": "a b c"} | keys)


def argilla(*spans: Any, **keys: Any) -> str:
    answers = {"responses": {"q": [{"value": list(spans)}]}}
    return json.dumps([{"id": "1", "fields": {"text": "a b c"}} | answers | keys])


BAD_MARKS: list[tuple[str, str, str]] = [
    ("label-studio", studio_results(region(0, 9, "X")), "[(0, 9)] is not in the text"),
    ("label-studio", studio_results(region("0", 1, "X")), "'start' is '0'; expected a whole number"),
    ("label-studio", studio_results(region(0, 1)), "it has no label"),
    ("label-studio", studio_results(5), "5 was found; expected an object"),
    (
        "label-studio",
        studio_results({"type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["X"]}}),
        "the type 'rectanglelabels' is of no text",
    ),
    ("doccano", line(label=[[0, 9, "X"]]), "[(0, 9)] is not in the text"),
    ("doccano", line(label=[[0, 1]]), "[0, 1] was found; expected an object"),
    ("doccano", line(entities=[{"label": "X", "start_offset": 0}]), "the key 'end_offset' is missing"),
    ("prodigy", line(spans=[{"start": 3, "end": 2, "label": "X"}]), "[(3, 2)] is not in the text"),
    ("prodigy", line(spans=[{"start": 0, "end": 1, "label": 7}]), "'label' is 7; expected a string"),
    ("argilla", argilla({"start": 0, "end": 9, "label": "X"}), "[(0, 9)] is not in the text"),
    ("argilla", argilla({"start": 0, "end": 1}), "the key 'label' is missing"),
]


@pytest.mark.parametrize(("name", "content", "reason"), BAD_MARKS)
def test_a_wrong_mark_is_rejected_alone(name: str, content: str, reason: str) -> None:
    found, log = read(FORMATS[name], content)
    assert found == [Document("1", "a b c")]
    assert reason in problems(log)[0][1]
    assert (log.documents_rejected, log.entities_rejected) == (0, 1)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("label-studio", '[{"data": 5}]', "'data' is 5; expected an object"),
        ("label-studio", '[{"data": {"image": "x.png"}}]', "no text under 'text'"),
        ("doccano", line(label={}), "'label' is {}; expected a list"),
        ("prodigy", line(spans=[{}], answer="reject"), "the answer is 'reject'; only accepted tasks"),
        ("prodigy", line(spans=[], tokens=[{"start": 0, "end": 9}]), "[(0, 9)] is not in the text"),
        ("argilla", argilla(fields={"a": "x", "b": "y"}), "no text in the field 'text'"),
    ],
)
def test_a_wrong_document_is_rejected_with_a_reason(name: str, content: str, reason: str) -> None:
    found, log = read(FORMATS[name], content)
    assert found == []
    assert reason in problems(log)[0][1]
    assert log.documents_rejected == 1


def pair_of_doccano(first: Any) -> str:
    marks = [{"id": 0, "label": "X", "start_offset": 0, "end_offset": 1}]
    return line(entities=marks, relations=[{"id": 0, "from_id": first, "to_id": 0, "type": "r"}])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("doccano", pair_of_doccano(7)),
        ("doccano", pair_of_doccano([])),
        (
            "label-studio",
            studio_results(
                region(0, 1, "X"), {"type": "relation", "from_id": "r", "to_id": "gone", "labels": ["r"]}
            ),
        ),
    ],
)
def test_a_relation_of_a_mark_that_is_gone_is_rejected_alone(name: str, content: str) -> None:
    (found,), log = read(FORMATS[name], content)
    assert found.entities == (Entity(0, 1, "X"),)
    assert (log.relations_rejected, log.entities_rejected) == (1, 0)


# Label Studio's own ways.


def test_a_region_with_several_labels_is_several_entities() -> None:
    (document,), _ = read(FORMATS["label-studio"], studio_results(region(0, 1, "X", "Y")))
    assert document.entities == (Entity(0, 1, "X"), Entity(0, 1, "Y"))


@pytest.mark.parametrize(
    ("annotations", "type_"),
    [
        ([{"result": [region(0, 1, "X")]}, {"result": [region(0, 1, "Y")]}], "X"),
        ([{"result": [region(0, 1, "X")]}, {"result": [region(0, 1, "Y")], "ground_truth": True}], "Y"),
        ([{"result": [region(0, 1, "X")], "was_cancelled": True}, {"result": [region(0, 1, "Y")]}], "Y"),
    ],
)
def test_of_several_annotations_one_is_read(annotations: list[Any], type_: str) -> None:
    content = label_studio(annotations=annotations, predictions=[{"result": [region(2, 3, "Z")]}])
    (document,), log = read(FORMATS["label-studio"], content)
    assert document.entities == (Entity(0, 1, type_),)
    cancelled = any(each.get("was_cancelled") for each in annotations)
    assert log.entities_rejected == (0 if cancelled else 1)


def test_a_task_without_annotations_has_the_last_prediction_with_its_scores() -> None:
    predictions = [{"result": [region(2, 3, "Z")]}, {"result": [region(0, 1, "X", score=0.25)]}]
    (document,), _ = read(FORMATS["label-studio"], label_studio(annotations=[], predictions=predictions))
    assert document.entities == (Entity(0, 1, "X", confidence=0.25),)


def test_predictions_have_confidences_and_annotations_none() -> None:
    certain, likely = Entity(0, 1, "X"), Entity(0, 1, "X", confidence=0.5)
    written = [
        json.loads(write(FORMATS["label-studio"], Document("1", "a", (each,))))[0]
        for each in (certain, likely)
    ]
    assert [sorted(task) for task in written] == [["annotations", "data"], ["data", "predictions"]]


def test_results_of_other_kinds_are_noted() -> None:
    choice = {"type": "choices", "from_name": "kind", "to_name": "text", "value": {"choices": ["a"]}}
    _, log = read(FORMATS["label-studio"], studio_results(choice, region(0, 1, "X")))
    assert log.notes[0].endswith("results that are not read: choices")
    assert log.problems == []


def test_old_exports_of_label_studio_are_told_to_count_utf_16_units(tmp_path: Path) -> None:
    value = {"start": 3, "end": 8, "text": "Acute", "labels": ["X"]}
    result = region(3, 8, "X") | {"value": value}
    path = tmp_path / "export.json"
    path.write_text(json.dumps([{"data": {"text": TEXT}, "annotations": [{"result": [result]}]}]))
    (note,) = files.read(path).log.notes
    assert "read it with the option offsets=utf-16" in note


def test_a_line_break_that_the_editor_shows_as_two_characters_is_right() -> None:
    task = {"data": {"text": "a\nb"}, "annotations": [{"result": [region(0, 3, "X")]}]}
    task["annotations"][0]["result"][0]["value"]["text"] = "a\\nb"  # type: ignore[index]
    _, log = read(FORMATS["label-studio"], json.dumps([task]))
    assert log.problems == []


# Argilla's and Prodigy's own ways.


def test_a_response_is_read_before_a_suggestion_and_others_are_counted() -> None:
    spans = [[{"start": at, "end": at + 1, "label": "X"}] for at in (0, 2, 4)]
    suggestions = {"q": {"value": spans[0], "score": [0.5], "agent": "a"}}
    responses = {"q": [{"value": spans[1]}, {"value": spans[2]}]}
    (document,), log = read(FORMATS["argilla"], argilla(suggestions=suggestions, responses=responses))
    assert document.entities == (Entity(2, 3, "X"),)
    assert log.entities_rejected == 1
    (document,), _ = read(FORMATS["argilla"], argilla(suggestions=suggestions, responses={}))
    assert document.entities == (Entity(0, 1, "X", confidence=0.5),)


def test_spans_have_the_tokens_that_they_begin_and_end_with() -> None:
    document = Document("1", "a b c", (Entity(0, 3, "X"), Entity(1, 3, "Y")), words=((0, 1), (2, 3), (4, 5)))
    record = json.loads(write(FORMATS["prodigy"], document))
    assert [(each.get("token_start"), each.get("token_end")) for each in record["spans"]] == [
        (0, 1),
        (None, None),
    ]
    assert [each["ws"] for each in record["tokens"]] == [True, True, False]
    assert read(FORMATS["prodigy"], json.dumps(record))[0] == [document]


def test_other_keys_of_a_task_are_kept_and_written_again() -> None:
    content = line(spans=[], _task_hash=7, answer="accept", meta={"year": 3})
    (document,), _ = read(FORMATS["prodigy"], content)
    assert (document.metadata, document.annotation_notes) == ({"year": 3}, {"_task_hash": 7})
    assert json.loads(write(FORMATS["prodigy"], document))["_task_hash"] == 7


RECOGNISED: dict[str, Callable[[], str]] = {
    "label-studio": lambda: label_studio(),
    "argilla": lambda: argilla(),
    "prodigy": lambda: line(_task_hash=1, _input_hash=2, answer="accept"),
    "doccano": lambda: line(entities=[{"id": 1, "label": "X", "start_offset": 0, "end_offset": 1}]),
    "jsonl": lambda: line(entities=[], relations=[]),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_file_of_a_tool_is_recognised(tmp_path: Path, name: str) -> None:
    (tmp_path / "export.json").write_text(RECOGNISED[name]())
    assert files.reader_of(tmp_path / "export.json").name == name


def test_a_doccano_file_whose_first_text_has_no_entity_is_known_by_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "doccano.jsonl"
    empty = {"id": 1, "text": "nothing", "entities": [], "relations": [], "Comments": []}
    mark = {"id": 7, "label": "Chemical", "start_offset": 0, "end_offset": 7}
    lines = (empty, {**empty, "id": 2, "text": "aspirin", "entities": [mark]})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    documents = files.read(path, strict=True).documents
    assert documents[1].entities == (Entity(0, 7, "Chemical"),)
