from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import corpora, documents

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.brat.documents import FORMAT
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.file_names import file_name, id_of_file_name
from spanwright.text import Document, Entity

TEXT = "ovarian and breast cancer"
DISCONTINUOUS = Entity(0, 25, "Disease", fragments=((0, 7), (19, 25)))


def store(folder: Path, name: str, text: str | bytes | None, annotations: str | bytes | None) -> None:
    for ending, content in ((".txt", text), (".ann", annotations)):
        if content is not None:
            path = folder / f"{name}{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def read(path: Path) -> tuple[list[Document], ReadingLog]:
    log = ReadingLog()
    return [log.accept(document) for document in FORMAT.read(path, log)], log


def read_one(folder: Path, annotations: str | bytes, text: str = TEXT) -> tuple[Document, ReadingLog]:
    store(folder, "one", text, annotations)
    (document,), log = read(folder)
    return document, log


def write(folder: Path, *given: Document) -> Path:
    assert FORMAT.serialise_folder is not None
    for document in given:
        for name, text in FORMAT.serialise_folder(document):
            (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder


def reasons(log: ReadingLog) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in log.problems]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def contents(found: list[Document]) -> list[tuple[object, ...]]:
    parts = ((each.id, each.text, each.entities, each.relations) for each in found)
    return sorted(parts, key=lambda each: each[0])


def test_entities_may_be_in_several_pieces(tmp_path: Path) -> None:
    document, log = read_one(
        tmp_path, "T1\tDisease 0 7;19 25\tovarian cancer\nT2\tDisease 12 25\tbreast cancer\n"
    )
    assert document == Document("one", TEXT, (DISCONTINUOUS, Entity(12, 25, "Disease")))
    assert log.problems == []


def test_folders_are_searched_and_sorted_and_ids_are_relative_paths(tmp_path: Path) -> None:
    for name in ("b", "sub/a", "a.b", "sub/deeper/c"):
        store(tmp_path, name, name, "")
    assert [document.id for document in read(tmp_path)[0]] == ["a.b", "b", "sub/a", "sub/deeper/c"]


@pytest.mark.parametrize("ending", [".txt", ".ann"])
def test_one_file_of_a_pair_stands_for_the_pair(tmp_path: Path, ending: str) -> None:
    store(tmp_path, "one", TEXT, "T1\tDisease 12 25\tbreast cancer\n")
    store(tmp_path, "two", TEXT, "")
    (document,), _ = read(tmp_path / f"one{ending}")
    assert document == Document("one", TEXT, (Entity(12, 25, "Disease"),))


def test_a_text_without_annotations_has_no_entities(tmp_path: Path) -> None:
    store(tmp_path, "one", TEXT, None)
    assert read(tmp_path)[0] == [Document("one", TEXT)]


def test_annotations_without_a_text_are_rejected(tmp_path: Path) -> None:
    store(tmp_path, "one", None, "T1\tDisease 0 7\tovarian\nT2\tDisease 12 25\tbreast cancer\nN1\tx\n")
    found, log = read(tmp_path)
    assert found == []
    assert (log.documents_rejected, log.entities_rejected) == (1, 2)
    assert str(log.problems[0]).endswith("one.ann:0: its text one.txt is missing")


def test_an_empty_folder_is_remarked(tmp_path: Path) -> None:
    found, log = read(tmp_path)
    assert found == []
    assert reasons(log) == [(0, "no .txt or .ann file in this folder")]


def test_line_ends_of_the_text_count_as_they_are(tmp_path: Path) -> None:
    document, log = read_one(tmp_path, "T1\tDisease 7 10\ttwo\r\n", text="one\r\n\r\ntwo\r\n")
    assert document.text == "one\r\n\r\ntwo\r\n"
    assert (document.mention(document.entities[0]), log.problems) == ("two", [])


def test_concept_lines_give_concepts_in_their_order(tmp_path: Path) -> None:
    document, log = read_one(
        tmp_path,
        "T1\tDisease 12 25\tbreast cancer\nN1\tReference T1 MESH:D001943\tBreast Neoplasms\n"
        "N2\tReference T1 unknown:C0006142\tMalignant neoplasm of breast\n",
    )
    assert document.entities == (Entity(12, 25, "Disease", concepts=("MESH:D001943", "C0006142")),)
    assert log.problems == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("T1\tDisease 12 26\tbreast cancer", "0 <= start < end <= 25"),
        ("T1\tDisease 12 12\t", "type and offsets are 'Disease 12 12'"),
        ("T1\tDisease 25 12\tx", "type and offsets are 'Disease 25 12'"),
        ("T1\tDisease -1 3\tx", "type and offsets are 'Disease -1 3'"),
        ("T1\tDisease a b\tx", "type and offsets are 'Disease a b'"),
        ("T1\tDisease 12\tx", "type and offsets are 'Disease 12'"),
        ("T1\tDisease\tx", "type and offsets are 'Disease'"),
        ("T1\tDisease 0 7;5 25\tx", "pieces that do not overlap"),
        ("T1\tDisease 0 7;\tx", "type and offsets are 'Disease 0 7;'"),
        ("T1\t 0 7\tx", "type and offsets are ' 0 7'"),
        (f"T1\tDisease 0 {'9' * 5000}\tx", "0 <= start < end <= 25"),
        ("T1\tDisease 0 7", "2 tab-separated columns"),
        ("T1 Disease 0 7 ovarian", "1 tab-separated columns"),
        ("1\tDisease 0 7\tovarian", "a line that begins with '1'"),
    ],
)
def test_a_malformed_entity_is_rejected_with_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    document, log = read_one(tmp_path, f"\n{line}\n")
    assert document.entities == ()
    ((number, found),) = reasons(log)
    assert number == 2
    assert reason in found
    assert log.entities_rejected == 1


@pytest.mark.parametrize("given", ["Breast cancer", "breast cancer ", ""])
def test_a_mention_that_is_not_at_its_offsets_is_kept_and_remarked(tmp_path: Path, given: str) -> None:
    document, log = read_one(tmp_path, f"T1\tDisease 12 25\t{given}\n")
    assert document.entities == (Entity(12, 25, "Disease"),)
    ((line, reason),) = reasons(log)
    assert line == 1
    assert repr(given) in reason and "'breast cancer'" in reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("N1\tReference T9 MESH:D1\tx", "a concept of T9, which is not an entity"),
        ("N1\tReference T1", "no concept; expected"),
        ("N1\tReference T1 unknown:\tx", "no concept; expected"),
        ("N1", "no concept; expected"),
        ("T1\tDisease 0 7\tovarian", "the id T1 stands in the file before"),
    ],
)
def test_what_stays_without_effect_is_remarked(tmp_path: Path, line: str, reason: str) -> None:
    document, log = read_one(tmp_path, f"T1\tDisease 12 25\tbreast cancer\n{line}\n")
    assert document.entities[0] == Entity(12, 25, "Disease")
    ((number, found),) = reasons(log)
    assert number == 2
    assert reason in found
    assert log.entities_rejected == 0


def test_a_text_that_is_no_utf8_is_rejected_with_its_entities(tmp_path: Path) -> None:
    store(tmp_path, "one", b"first\nna\xefve", "T1\tDisease 0 5\tfirst\n")
    found, log = read(tmp_path)
    assert found == []
    assert (log.documents_rejected, log.entities_rejected) == (1, 1)
    assert "one.txt:2: byte 0xef at offset 2 of the line (offset 8 of the file)" in str(log.problems[0])


def test_an_annotation_that_is_no_utf8_is_rejected_alone(tmp_path: Path) -> None:
    document, log = read_one(
        tmp_path, b"T1\tDisease 0 7\tovari\xff\nT2\tDisease 12 25\tbreast cancer\n#1\tNote T2\t\xff\n"
    )
    assert document.entities == (Entity(12, 25, "Disease"),)
    assert [line for line, _ in reasons(log)] == [1, 3]
    assert log.entities_rejected == 1


OTHER_LINES = """\
T4\tDisease 12 25\tbreast cancer
T7\tOrgan 0 7\tovarian
N3\tReference T4 MESH:D001943\tBreast Neoplasms
R1\tPartOf Arg1:T4 Arg2:T7
E2\tGrowth:T4 Site:T7
A1\tNegation E2
A2\tConfidence T4 High
*\tEquiv T4 T7
#1\tAnnotatorNotes R1\tsee T9
"""


def test_all_other_lines_survive_writing(tmp_path: Path) -> None:
    document, log = read_one(tmp_path, OTHER_LINES)
    assert log.problems == []
    assert (write(tmp_path, document) / "one.ann").read_text() == OTHER_LINES


def test_lines_that_refer_to_entities_that_are_gone_go_with_them(tmp_path: Path) -> None:
    document, _ = read_one(tmp_path, OTHER_LINES)
    fewer = document.with_entities((document.entities[0], Entity(8, 11, "Word", concepts=("D7",))))
    assert (write(tmp_path, fewer) / "one.ann").read_text() == (
        "T4\tDisease 12 25\tbreast cancer\n"
        "T1\tWord 8 11\tand\n"
        "N1\tReference T1 unknown:D7\tand\n"
        "N3\tReference T4 MESH:D001943\tBreast Neoplasms\n"
        "A2\tConfidence T4 High\n"
    )


def test_an_entity_whose_concepts_changed_is_written_with_the_new_ones(tmp_path: Path) -> None:
    document, _ = read_one(tmp_path, OTHER_LINES)
    changed = document.with_entities((Entity(12, 25, "Disease", concepts=("MESH:D9",)),))
    assert read(write(tmp_path, changed))[0][0].entities == changed.entities


def test_notes_of_other_sources_do_not_disturb_the_writing(tmp_path: Path) -> None:
    entity = Entity(12, 25, "Disease")
    for strange in (
        {"brat_lines": 5, "brat_ids": [1]},
        {"brat_lines": ["T9\tDisease 0 5\tx", "R1\nR2", 5], "brat_ids": {"12 25\tDisease": ["X1"]}},
        {"brat_lines": ["N1\tReference T1 MESH:D1\tx"], "brat_ids": {"12 25\tDisease": ["T1"]}},
    ):
        document = Document("one", TEXT, (entity,), annotation_notes=strange)
        (found,), log = read(write(tmp_path, document))
        assert (found.entities, log.problems) == ((entity,), [])


@given(corpus=corpora(documents(discontinuous=True, concepts=True, related="anything")))
def test_documents_survive_writing_and_reading(corpus: list[Document]) -> None:
    lines = [line for document in corpus for line in FORMAT.unwritable(document)]
    assert all(line.startswith("the gap over a line break in ") for line in lines)
    assume(not lines)
    with TemporaryDirectory() as folder:
        found, log = read(write(Path(folder), *corpus))
    assert contents(found) == contents(corpus)
    assert log.problems == [] or corpus == []


@given(document=documents(discontinuous=True, concepts=True, related="anything"))
def test_what_was_read_is_written_with_the_same_bytes(document: Document) -> None:
    assume(not list(FORMAT.unwritable(document)))
    with TemporaryDirectory() as folder:
        write(Path(folder), document)
        first = bytes_of(Path(folder))
        write(Path(folder), *read(Path(folder))[0])
        assert bytes_of(Path(folder)) == first


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document("x" * 300, "one"), "the id 'xxx"),
        (Document("", "one"), "the id ''"),
        (Document("1", "one", words=((0, 3),)), "the given words of document '1'"),
        (Document("1", "one", (Entity(0, 3, "two words"),)), "the type of 'two words' 'one' at [0, 3)"),
        (Document("1", "one", (Entity(0, 3, ""),)), "the type of ''"),
        (
            Document("1", "one", (Entity(0, 3, "D", concepts=("a\tb",)),)),
            "the concepts ['a\\tb'] of 'D' 'one'",
        ),
        (Document("1", "one", (Entity(0, 3, "D", concepts=("",)),)), "the concepts [''] of 'D' 'one'"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path: Path, document: Document, line: str) -> None:
    (found,) = FORMAT.unwritable(document)
    assert line in found
    assert len(read(write(tmp_path, document))[0]) == 1


@given(id=st.text(st.characters(), min_size=1, max_size=12))
def test_file_names_stay_in_their_folder_and_give_the_id_back(id: str) -> None:
    name = file_name(id)
    assert name.isascii() and name.isprintable()
    assert not set(name) & set('/\\:*?"<>|') and not name.startswith(".")
    assert id_of_file_name(name) == id


@pytest.mark.parametrize("id", ["../../etc/passwd", "..", ".", "/etc/passwd", "a/../b", "a\\b", "NUL\0"])
def test_hostile_ids_are_written_inside_the_folder(tmp_path: Path, id: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write(inside, Document(id, "text"))
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert [document.id for document in read(inside)[0]] == [id]


@given(first=st.text(min_size=190, max_size=260), second=st.text(min_size=190, max_size=260))
def test_long_ids_do_not_collide(first: str, second: str) -> None:
    assert (file_name(first) == file_name(second)) == (first == second)
    assert len(file_name(first)) + len(".txt") <= 255


def test_pairs_and_folders_are_recognised(tmp_path: Path) -> None:
    store(tmp_path, "folder/sub/one", TEXT, None)
    store(tmp_path, "pair", TEXT, "")
    store(tmp_path, "alone", TEXT, None)
    (tmp_path / "empty").mkdir()
    expected = {"folder": True, "pair.txt": True, "pair.ann": True, "alone.txt": False, "empty": False}
    assert {name: FORMAT.recognises(tmp_path / name, "") for name in expected} == expected


def test_a_second_document_of_the_same_id_is_refused_before_anything_is_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two documents have the id 'one'"):
        files.write([Document("one", "first"), Document("one", "second")], tmp_path, format="brat")
    assert not list(tmp_path.iterdir())


def test_a_folder_with_documents_of_another_corpus_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder, first, second = tmp_path / "corpus", Document("a", "first"), Document("b", "second")
    files.write([first, second], folder, format="brat")
    files.write([second, Document("a", "new")], folder, format="brat")
    before = bytes_of(folder)
    assert before["a.txt"] == b"new"
    with pytest.raises(InputError, match=r"corpus: 2 files there, such as b\.ann, would be read"):
        files.write([first], folder, format="brat")
    assert bytes_of(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_a_mention_that_brat_cuts_at_a_line_break_is_one(tmp_path: Path) -> None:
    line = "T1\tDisease 0 5;6 13\tHeart failure\n"
    document, log = read_one(tmp_path, line, "Heart\nfailure and heart attack")
    assert document.entities == (Entity(0, 13, "Disease"),)
    assert not log.problems
    assert (write(tmp_path, document) / "one.ann").read_text() == line


def test_pieces_on_both_sides_of_a_word_stay_pieces_at_a_line_break(tmp_path: Path) -> None:
    text = "Heart\nand lung\nfailure"
    document, _ = read_one(tmp_path, "T1\tDisease 0 5;10 14;15 22\tHeart lung failure\n", text)
    assert document.entities == (Entity(0, 22, "Disease", fragments=((0, 5), (10, 22))),)


def test_a_gap_over_a_line_break_cannot_be_written(tmp_path: Path) -> None:
    torn = Entity(0, 13, "Disease", fragments=((0, 5), (6, 13)))
    (line,) = FORMAT.unwritable(Document("one", "Heart\nfailure", (torn,)))
    assert line.startswith("the gap over a line break in 'Disease'") and line.needs_leave


def test_a_folder_of_other_files_is_no_brat_folder(tmp_path: Path) -> None:
    store(tmp_path, "README", "licence", None)
    (tmp_path / "train.pubtator").write_text("1|t|p53\n1|a|\n")
    assert not FORMAT.recognises(tmp_path, "")
    store(tmp_path, "one", "p53", "T1\tGene 0 3\tp53\n")
    assert FORMAT.recognises(tmp_path, "")
    notes = files.read(tmp_path).log.notes
    assert any(note.endswith("neither .txt nor .ann: 1 file, such as train.pubtator") for note in notes)


def test_a_text_without_annotations_is_noted(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "a.ann"):
        (tmp_path / name).write_text("p53" if name.endswith("txt") else "T1\tGene 0 3\tp53\n")
    corpus = files.read(tmp_path, format="brat", strict=True)
    assert len(corpus) == 2
    (note,) = corpus.log.notes
    assert note.endswith("without an .ann file, and so without entities: 1 of 2 texts, such as b.txt")


def test_what_is_noted_of_an_entity_stays_with_what_it_becomes(tmp_path: Path) -> None:
    lines = "T1\tDisease 0 7\tovarian\nN1\tReference T1 MESH:D1\tovarian\nA1\tNegated T1\n#1\tNote T1\tsure\n"
    document, _ = read_one(tmp_path, lines)
    (old,) = document.entities
    changed = document.with_changed_entities({old: replace(old, type="Disorder", concepts=("MESH:D2",))})
    assert not list(FORMAT.unwritable(changed))
    written = (write(tmp_path, changed) / "one.ann").read_text()
    assert sorted(written.splitlines()) == [
        "#1\tNote T1\tsure",
        "A1\tNegated T1",
        "N1\tReference T1 MESH:D2\tovarian",
        "T1\tDisorder 0 7\tovarian",
    ]
