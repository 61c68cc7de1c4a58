from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bioc_content import (
    ABSTRACT,
    BOTH,
    ENTITIES,
    JSON,
    TITLE,
    XML,
    annotation,
    content,
    document,
    passage,
)
from token_documents import problems, read, write

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.format import Format, ReadingLog
from spanwright.text import Document, Entity

BOMB = '<!DOCTYPE collection [<!ENTITY x "lol">]><collection><document><id>&x;</id></document></collection>'


def test_an_xml_bomb_is_recognised_and_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml"
    path.write_text(BOMB)
    with pytest.raises(InputError, match="may define harmful entities"):
        files.read(path)


def test_line_ends_and_indents_between_elements_make_no_difference() -> None:
    given = content(XML, document(TITLE, ABSTRACT))
    pretty = given.replace("<annotation", "\r\n  <annotation").replace("<passage>", "\r\n<passage>\r\n")
    found, log = read(XML, pretty.replace("<offset>0<", "<offset>\r\n0 <"))
    assert (found, log.problems) == (read(XML, given)[0], [])


def test_problems_of_xml_have_the_line_of_their_element() -> None:
    given = content(XML, document(passage(0, "one", annotation(0, 3, type="A"), annotation(0, 9, type="A"))))
    _, log = read(XML, given.replace("<annotation", "\n<annotation"))
    assert [line for line, _ in problems(log)] == [3]


def test_carriage_returns_of_a_text_survive() -> None:
    given = Document("1", "a\r\nb\rc\n", (Entity(3, 5, "b\rc"),))
    assert "\r" not in write(XML, given)
    assert read(XML, write(XML, given))[0] == [given]


def test_elements_that_are_not_read_are_told() -> None:
    given = content(XML, document(TITLE)).replace("<location", "<comment/><location")
    (found,), log = read(XML, given.replace("</document>", "</document><docment/>"))
    assert found.entities == ENTITIES[:1]
    assert ["<comment> in <annotation>" in note for note in log.notes] == [True]
    assert problems(log) == [(1, "<docment> is not an element of a collection and is not read")]


def test_documents_before_a_fault_are_kept() -> None:
    given = content(XML, document(TITLE), document(TITLE, ABSTRACT, id="2"))
    found, log = read(XML, given[: given.index("</annotation>", given.index("<id>2<"))])
    assert [each.id for each in found] == ["1"]
    assert (log.documents_rejected, log.entities_rejected) == (1, 1)
    given = content(JSON, document(TITLE), document(TITLE, ABSTRACT, id="2"))
    found, log = read(JSON, given[:-20])
    assert [each.id for each in found] == ["1"]
    assert log.documents_rejected == 1


ONE, TWO = document(TITLE, ABSTRACT), document(TITLE, id="2")
VARIANTS = {
    "a collection": {"source": "", "documents": [ONE, TWO]},
    "documents of PubTator": {"PubTator3": [ONE, TWO]},
    "a list of documents": [ONE, TWO],
    "a list of collections": [{"documents": [ONE]}, {"source": "x", "documents": []}, {"documents": [TWO]}],
}


def reading(found: list[Document]) -> list[object]:
    return [(each.id, each.text, each.entities) for each in found]


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_all_forms_of_json_are_recognised_and_read(tmp_path: Path, variant: Any, indent: int | None) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(variant, indent=indent))
    assert files.reader_of(path) is JSON
    corpus = files.read(path)
    assert reading(corpus.documents) == reading(read(JSON, content(JSON, ONE, TWO))[0])
    assert corpus.log.problems == []


@pytest.mark.parametrize("indent", [None, 1])
def test_one_document_alone_is_read(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(ONE | {"infons": {"year": "1996"}}, indent=indent))
    assert files.read(path).documents == read(JSON, content(JSON, ONE | {"infons": {"year": "1996"}}))[0]


def test_documents_have_the_header_of_their_own_collection() -> None:
    given = [{"source": "one", "documents": [ONE]}, {"date": "two", "documents": [TWO]}]
    found, _ = read(JSON, json.dumps(given))
    assert [each.metadata["bioc"].get("collection") for each in found] == [{"source": "one"}, {"date": "two"}]


def test_one_document_a_line_is_read_and_a_wrong_line_is_rejected_alone(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(f"{json.dumps(ONE)}\n{{\n\n{json.dumps(TWO)}\n[]\n")
    corpus = files.read(path)
    assert [each.id for each in corpus.documents] == ["1", "2"]
    assert [line for line, _ in problems(corpus.log)] == [2, 5]
    assert corpus.log.documents_rejected == 2


@pytest.mark.parametrize(
    ("given", "line", "reason"),
    [
        ('{"documents": [\n]} {}', 2, "'{}' was found where the end of the file was expected"),
        ('{"documents": [\n{"id": 1]}', 2, "not BioC JSON"),
        (
            '{"documents": [\n{"id": "1", "passages": []} 5]}',
            2,
            "'5]}' was found where ',' or ']' was expected",
        ),
        ('{"documents": {}}', 1, "'{}}' was found where '[' was expected"),
        ('{"documents" []}', 1, "was found where a key and ':' was expected"),
        ('{"documents": [', 1, "not BioC JSON"),
        ('{"documents": [\n5]}', 2, "a JSON int was found; expected an object"),
        ('{"documents": [{"id": "\\ud800", "passages": []}]}', 1, "lone surrogate U+D800"),
        ('{"documents": [{"id": NaN, "passages": []}]}', 1, "NaN is not a JSON number"),
        ('{"name": 5}', 1, "was found where a key of passages, PubTator3, documents was expected"),
        ("[5]", 1, "'5]' was found where '{' was expected"),
        ("", 1, "the end of the file was found where '{' was expected"),
        ("[" * 100_000, 1, "not BioC JSON"),
    ],
)
def test_json_that_is_no_collection_is_rejected_with_its_line(given: str, line: int, reason: str) -> None:
    _, log = read(JSON, given)
    assert [(at, reason in told) for at, told in problems(log)] == [(line, True)], log.problems
    assert log.documents_rejected == 1


def test_json_that_is_no_utf8_is_rejected() -> None:
    _, log = read(JSON, b'{"documents": [\n"\xff"]}')
    assert [line for line, _ in problems(log)] == [2]
    assert "byte 0xff" in problems(log)[0][1]


@BOTH
def test_no_documents_are_a_collection_too(format: Format) -> None:
    assert read(format, write(format)) == ([], ReadingLog())


@BOTH
def test_files_are_recognised_and_written_by_their_ending(tmp_path: Path, format: Format) -> None:
    path = tmp_path / f"corpus{format.suffixes[0]}"
    given = [Document("1", "one", (Entity(0, 3, "A"),))]
    files.write(given, path)
    assert files.reader_of(path) is format
    assert files.read(path).documents == given


@pytest.mark.parametrize("head", ["<collections>", "<set>", '{"text": "a"}', "[]", "", '{"tokens": []}'])
def test_other_files_are_not_recognised(head: str) -> None:
    assert not XML.recognises(Path("a.xml"), head)
    assert not JSON.recognises(Path("a.json"), head)
