from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.safe_xml import (
    XmlElement,
    escape,
    escape_attribute,
    is_legal,
    root_children,
    root_name,
)

CANARY = "the content of the canary"

# Ten levels of ten: the text of one reference would have ten thousand million characters.
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 11))

LONG = "x" * 50_000

BOMBS = {
    "billion laughs": f'<!DOCTYPE set [<!ENTITY l0 "lol">{LAUGHS}]><set><a>&l10;</a></set>',
    "quadratic blow-up": f'<!DOCTYPE set [<!ENTITY x "{LONG}">]><set><a>{"&x;" * 50_000}</a></set>',
    "external entity": '<!DOCTYPE set [<!ENTITY x SYSTEM "CANARY">]><set><a>&x;</a></set>',
    "public entity": '<!DOCTYPE set [<!ENTITY x PUBLIC "x" "CANARY">]><set><a>&x;</a></set>',
    "parameter entity": '<!DOCTYPE set [<!ENTITY % x SYSTEM "CANARY"> %x;]><set><a>b</a></set>',
    "laughing parameters": "<!DOCTYPE set [<!ENTITY % x \"<!ENTITY y 'lol'>\"> %x;]><set><a>&y;</a></set>",
    "unparsed entity": '<!DOCTYPE set [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "CANARY" NDATA n>]><set/>',
    "default attributes": f'<!DOCTYPE set [<!ATTLIST a b CDATA "{LONG}">]><set>{"<a/>" * 50_000}</set>',
    "both subsets": '<!DOCTYPE set SYSTEM "CANARY" [<!ENTITY x "lol">]><set><a>&x;</a></set>',
    "after a comment": '<?xml version="1.0"?>\n<!-- -->\n<!DOCTYPE set [<!ENTITY x "lol">]><set>&x;</set>',
}


def read(path: Path, content: str | bytes) -> tuple[list[XmlElement], ReadingLog]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    log = ReadingLog()
    return list(root_children(path, log, root="set", entity="cons")), log


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_declarations_in_the_file_are_refused_at_once(tmp_path: Path, bomb: str) -> None:
    canary = tmp_path / "canary"
    canary.write_text(CANARY)
    started = perf_counter()
    with pytest.raises(InputError, match="remove the part in") as caught:
        read(tmp_path / "bomb.xml", bomb.replace("CANARY", canary.as_uri()))
    assert perf_counter() - started < 1
    assert CANARY not in str(caught.value)
    assert str(tmp_path / "bomb.xml") in str(caught.value)


WATCHED = """
import sys
from pathlib import Path
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.safe_xml import root_children
from spanwright.errors import InputError
opened = []
watched = ("open", "socket.connect")
sys.addaudithook(lambda event, args: opened.append((event, str(args[0]))) if event in watched else None)
for path in map(Path, sys.argv[1:]):
    try:
        list(root_children(path, ReadingLog(), root="set", entity="cons"))
    except InputError:
        pass
assert opened == [("open", path) for path in sys.argv[1:]], opened
"""


def test_no_other_file_is_opened(tmp_path: Path) -> None:
    canary = tmp_path / "canary.dtd"
    canary.write_text('<!ENTITY x "lol">')
    paths = []
    plain = {"plain": '<!DOCTYPE set SYSTEM "CANARY"><set><a/></set>'}
    for number, content in enumerate((BOMBS | plain).values()):
        paths.append(tmp_path / f"{number}.xml")
        paths[-1].write_text(content.replace("CANARY", canary.as_uri()))
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "doctype", ['SYSTEM "gone.dtd"', "SYSTEM 'gone.dtd'", 'PUBLIC "-//x" "http://x/gone.dtd"']
)
def test_a_doctype_that_names_its_dtd_is_accepted(tmp_path: Path, doctype: str) -> None:
    (element,), log = read(tmp_path / "a.xml", f"<!DOCTYPE set {doctype}><set><a>b</a></set>")
    assert (element.text(), log.problems) == ("b", [])


def test_children_of_the_root_have_lines_attributes_and_mixed_content(tmp_path: Path) -> None:
    content = '<set>\n<a>\n<b c="d">one</b> two<b/>\r\n</a>\n<e/></set>'
    found, log = read(tmp_path / "a.xml", content)
    assert found == [
        XmlElement(
            "a",
            {},
            2,
            ["\n", XmlElement("b", {"c": "d"}, 3, ["one"]), " two", XmlElement("b", {}, 3, []), "\n"],
        ),
        XmlElement("e", {}, 5, []),
    ]
    assert found[0].text() == "\none two\n"
    assert (len(list(found[0].children("b"))), found[0].count("b"), found[0].count("a")) == (2, 2, 0)
    assert log == ReadingLog()


def test_children_come_before_the_rest_is_read_and_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<set>{'<a>text</a>' * 50_000}<open>")
    log = ReadingLog()
    stream = root_children(path, log, root="set", entity="cons")
    assert next(stream).tag == "a"
    assert log.problems == []
    assert sum(1 for _ in stream) == 49_999
    assert log.documents_rejected == 1


BROKEN = {
    "a wrong end tag": ("<set>\n<a/>\n<a><cons/>\n<cons></a></set>", 4, "mismatched tag", 2),
    "an open tag at the end": ("<set>\n<a/>\n<a><cons/>\n", 4, "the file ends inside <a>", 1),
    "half a tag at the end": ("<set>\n<a/>\n<a><cons/><co", 3, "the file ends inside <a>", 1),
    "an unknown entity": ("<set>\n<a/>\n<a>&nbsp;</a></set>", 3, "undefined entity", 0),
    "an entity of the DTD": (
        '<!DOCTYPE set SYSTEM "x">\n<set><a/>\n<a>&x;</a></set>',
        3,
        "&x; is defined nowhere",
        0,
    ),
    "NUL": ("<set>\n<a/>\n<a>\0</a></set>", 3, "invalid token) at offset 14 of the file", 0),
    "no UTF-8": (b"<set>\n<a/>\n<a>na\xefve</a></set>", 3, "invalid token) at offset 16 of the file", 0),
    "more than a root": ("<set>\n<a/></set>\n<set><a/></set>", 3, "junk after document element", 0),
    "a bottomless pit": (f"<set>\n<a/>\n{'<a>' * 100_000}", 3, "more than 100 levels", 0),
}


@pytest.mark.parametrize(("content", "line", "reason", "entities"), BROKEN.values(), ids=BROKEN)
def test_a_malformed_file_is_read_up_to_the_fault(
    tmp_path: Path, content: str | bytes, line: int, reason: str, entities: int
) -> None:
    (element,), log = read(tmp_path / "a.xml", content)
    assert element.tag == "a"
    (problem,) = log.problems
    assert (problem.line, reason in problem.reason) == (line, True), problem
    assert (log.documents_rejected, log.entities_rejected) == (1, entities)


@pytest.mark.parametrize(
    ("content", "reason"), [("", "no element"), ("<set>\n<a/>", "the file ends inside <set>")]
)
def test_an_end_between_children_loses_no_document(tmp_path: Path, content: str, reason: str) -> None:
    _, log = read(tmp_path / "a.xml", content)
    assert [reason in problem.reason for problem in log.problems] == [True]
    assert log.documents_rejected == 0


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis"])
def test_an_encoding_that_cannot_be_read_is_a_problem(tmp_path: Path, encoding: str) -> None:
    found, log = read(tmp_path / "a.xml", f'<?xml version="1.0" encoding="{encoding}"?><set><a/></set>')
    assert found == []
    assert ("encoding" in log.problems[0].reason, log.documents_rejected) == (True, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_other_encodings_and_byte_order_marks_are_read(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    content = f'<?xml version="1.0" encoding="{name}"?><set><a>naïve</a></set>'.encode(encoding)
    assert [element.text() for element in read(tmp_path / "a.xml", content)[0]] == ["naïve"]


def test_another_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.xml:2: the root element is <html>; expected <set>"):
        read(tmp_path / "a.xml", "\n<html><a/></html>")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("<set>", "set"),
        ("\ufeff<set>", ""),
        ("<?xml version='1.0'?><!DOCTYPE collection SYSTEM 'BioC.dtd'>\n<collection>", "collection"),
        (" <?xml?>\n<?style a='<x>'?><!-- <x> --><a.b-c:d e='f'", "a.b-c:d"),
        ("<!DOCTYPE set [<!ENTITY x 'y'>]><set>", "set"),
        ("text <set>", ""),
        ("", ""),
    ],
)
def test_the_name_of_the_root_is_seen_in_the_beginning(head: str, name: str) -> None:
    assert root_name(head) == name


def test_many_comments_before_no_root_take_no_time() -> None:
    started = perf_counter()
    assert root_name("<!-- --><? ?>" * 5_000 + "text") == ""
    assert perf_counter() - started < 1


@given(text=st.text(st.characters(codec="utf-8")))
def test_escaped_texts_are_read_as_they_were(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    legal = "".join(filter(is_legal, text))
    path = tmp_path_factory.getbasetemp() / "escaped.xml"
    content = f'<set><a b="{escape_attribute(text)}">{escape(text)}</a></set>'
    (element,), log = read(path, content)
    assert element.text() == element.attributes["b"]
    assert element.text().replace("\ufffd", "") == legal.replace("\ufffd", "")
    assert len(element.text()) == len(text)
    assert log.problems == []


@pytest.mark.parametrize("character", "\0\x01\x08\x0b\x0c\x1f\ufffe\uffff\ud800")
def test_xml_cannot_hold_control_characters(character: str) -> None:
    assert not is_legal(f"a{character}")
    assert escape(character) == escape_attribute(character) == "\ufffd"
