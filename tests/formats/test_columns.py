from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, documents
from token_documents import COLUMN_WORDS, problems, read, token_documents, write

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.columns.documents import FORMAT, read_columns
from spanwright.formats.format import ReadingLog
from spanwright.text import Document, Entity, words

TABBED = "Anna\tB-PER\nBerg\tI-PER\nsings\tO\n\nin\tO\nOslo\tB-LOC\n"


def mentions(document: Document) -> list[tuple[str, str]]:
    return [(document.mention(entity), entity.type) for entity in document.entities]


def all_mentions(content: str | bytes) -> list[tuple[str, str]]:
    return [mention for document in read(FORMAT, content)[0] for mention in mentions(document)]


def test_without_marks_each_sentence_is_a_document() -> None:
    found, log = read(FORMAT, TABBED, "news.conll")
    assert found == [
        Document(
            "news#1",
            "Anna Berg sings",
            (Entity(0, 9, "PER"),),
            ((0, 4), (5, 9), (10, 15)),
            ((0, 15),),
            generated_id=True,
        ),
        Document("news#2", "in Oslo", (Entity(3, 7, "LOC"),), ((0, 2), (3, 7)), ((0, 7),), generated_id=True),
    ]
    assert log.problems == []


def test_with_marks_a_document_holds_its_sentences() -> None:
    marked = "-DOCSTART- -X- O O\n\na b c O\n\nd e f B-X\n\n-DOCSTART- -X- O O\n\ng h i O\n"
    found, _ = read(FORMAT, marked)
    assert [document.text for document in found] == ["a\nd", "g"]
    assert found[0].sentences == ((0, 1), (2, 3))
    assert found[0].entities == (Entity(2, 3, "X"),)


def test_sentences_before_the_first_mark_are_a_document() -> None:
    found, _ = read(FORMAT, "a\tO\n\nb\tO\n\n-DOCSTART-\tO\n\nc\tO\n")
    assert [document.text for document in found] == ["a\nb", "c"]


def test_marks_need_no_empty_lines_around_them() -> None:
    found, _ = read(FORMAT, "-DOCSTART-\na\tO\n-DOCSTART-\nb\tO\nc\tO\n")
    assert [document.text for document in found] == ["a", "b c"]


def test_an_id_after_the_mark_is_the_id() -> None:
    found, _ = read(FORMAT, "-DOCSTART- (7 EU)\tO\n\na\tO\n\n-DOCSTART-\tO\n\nb\tO\n", "news.tsv")
    assert [(document.id, document.generated_id) for document in found] == [("7 EU", False), ("news#2", True)]


def test_a_repeated_id_is_made_unique_with_a_remark() -> None:
    found, log = read(FORMAT, "-DOCSTART- (7)\n\na\tO\n\n-DOCSTART- (7)\n\nb\tO\n")
    assert [document.id for document in found] == ["7", "7#2"]
    assert problems(log) == [(5, "the id '7' stands in the file before; it is read as '7#2'")]


@pytest.mark.parametrize("border", ["\n", "\n\n\n", "\t\n", "  \n \t \n", "\u3000\n"])
def test_lines_of_white_space_end_a_sentence(border: str) -> None:
    found, log = read(FORMAT, f"a\tO\n{border}b\tO\nc\tX\n")
    assert [document.text for document in found] == ["a", "b c"]
    line = 4 + border.count("\n") - 1
    assert [problem.line for problem in log.problems] == [line]


@pytest.mark.parametrize(
    "content",
    [
        TABBED,
        TABBED.replace("\t", " "),
        TABBED.replace("\t", "   "),
        TABBED.replace("\n", " \n"),
        "\n \n" + TABBED,
    ],
)
def test_tabs_and_blanks_separate_columns(content: str) -> None:
    assert all_mentions(content) == [("Anna Berg", "PER"), ("Oslo", "LOC")]


@pytest.mark.parametrize(
    "content", [TABBED.replace("\n", "\r\n"), "\ufeff" + TABBED, TABBED.rstrip("\n"), TABBED + "\n\n"]
)
def test_line_ends_and_byte_order_marks_change_nothing(content: str) -> None:
    assert read(FORMAT, content)[0] == read(FORMAT, TABBED)[0]


def test_a_word_may_hold_a_blank_where_tabs_separate() -> None:
    (document,), _ = read(FORMAT, "a\tO\nNew York\tB-LOC\nb\tO\n")
    assert mentions(document) == [("New York", "LOC")]
    assert words(document) == ((0, 1), (2, 10), (11, 12))


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "germeval.tsv"
    path.write_text("#\thttp://example.org\n1\tBerlin\tB-LOC\tO\n2\trocks\tO\tB-OTH\n")
    chosen = partial(read_columns, path, word_column=1)
    (outer,) = chosen(ReadingLog(), tag_column=[2])
    (inner,) = chosen(ReadingLog(), tag_column=[-1])
    assert (mentions(outer), mentions(inner)) == ([("Berlin", "LOC")], [("rocks", "OTH")])


def test_columns_and_scheme_are_options_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "three.tsv"
    path.write_text("I-LOC\tOslo\tx\n")
    options = {"word_column": "1", "tag_column": "0", "scheme": "IOB1"}
    (document,) = files.read(path, format="conll", strict=True, options=options).documents
    assert mentions(document) == [("Oslo", "LOC")]


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.tsv"
    path.write_text(TABBED)
    with pytest.raises(InputError, match="no column 2 in 2 columns; expected 0 to 1"):
        list(read_columns(path, ReadingLog(), tag_column=[2]))


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB1", "I-A I-A B-A O I-B O O I-C"),
        ("IOB2", "B-A I-A B-A O B-B O O B-C"),
        ("BIOES", "B-A E-A S-A O S-B O O S-C"),
        ("BILOU", "B-A L-A U-A O U-B O O U-C"),
        ("BMES", "B-A E-A S-A O B-B M-B E-B S-C"),
    ],
)
def test_the_tag_scheme_is_detected_and_noted(scheme: str, tags: str) -> None:
    rows = "".join(f"w{position}\t{tag}\n" for position, tag in enumerate(tags.split()))
    (document,), log = read(FORMAT, rows, "some.conll")
    assert [note.rpartition("/")[2] for note in log.notes] == [f"some.conll: tag scheme {scheme} (detected)"]
    assert [entity.type for entity in document.entities] == ["A", "A", "B", "C"]
    assert log.problems == []


def test_an_inside_start_in_iob2_is_remarked_on_and_kept() -> None:
    rows = TABBED + "\nx\tO\ny\tI-LOC\nz\tI-LOC\n"
    found, log = read(FORMAT, rows)
    assert mentions(found[2]) == [("y z", "LOC")]
    assert problems(log) == [
        (9, "a mention begins with 'I-LOC', which IOB2 has inside of mentions only; it is kept")
    ]
    assert (log.entities_read, log.entities_rejected) == (3, 0)


def test_a_given_scheme_decides_about_inside_starts(tmp_path: Path) -> None:
    path = tmp_path / "few.conll"
    path.write_text("y\tI-LOC\n")
    for scheme, remarks in (("IOB1", 0), ("IOB2", 1)):
        log = ReadingLog()
        list(read_columns(path, log, scheme=scheme))
        assert len(log.problems) == remarks
        assert log.notes == [f"{path}: tag scheme {scheme} (as given)"]


def test_tags_without_types_are_noted_once_where_no_tag_has_one() -> None:
    (document,), log = read(FORMAT, "p53\tB\ngene\tI\nand\tO\nJAK2\tB\n", "file.conll")
    assert document.entities == (Entity(0, 8, ""), Entity(13, 17, ""))
    assert log.problems == []
    assert ["the tags have no types" in note for note in log.notes] == [False, True]


def test_a_tag_of_no_scheme_costs_the_annotation_alone() -> None:
    (document,), log = read(FORMAT, "a\tB-X\nb\tDisease\nc\tO\n")
    assert (document.text, mentions(document)) == ("a b c", [("a", "X")])
    assert [line for line, reason in problems(log) if "no tag scheme has 'Disease'; expected" in reason] == [
        2
    ]
    assert (log.entities_read, log.entities_rejected) == (1, 1)


@pytest.mark.parametrize("row", ["b", "b\t", "b\t "])
def test_a_missing_tag_costs_the_annotation_alone(row: str) -> None:
    (document,), log = read(FORMAT, f"a\tB-X\n{row}\nc\tO\n")
    assert (document.text, mentions(document)) == ("a b c", [("a", "X")])
    assert [line for line, reason in problems(log) if "the tag of the word 'b' is missing" in reason] == [2]
    assert (log.entities_read, log.entities_rejected) == (1, 1)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"b\tc\tO", "the row has 3 columns; expected 2, as in the first rows"),
        (b"\tO", "the word of the row is empty"),
        (b"\xff\tO", "byte 0xff at offset 0 of the line (offset 6 of the file) is not valid UTF-8"),
    ],
)
def test_a_lost_word_rejects_its_document(row: bytes, reason: str) -> None:
    found, log = read(FORMAT, b"a\tB-X\n" + row + b"\nc\tB-X\n\nd\tB-X\n")
    assert [document.text for document in found] == ["d"]
    ((line, given_reason),) = problems(log)
    assert line == 2
    assert given_reason.startswith(reason)
    assert (log.documents_read, log.documents_rejected) == (1, 1)
    assert (log.entities_read, log.entities_rejected) == (1, 2)


def test_each_lost_word_of_a_document_is_listed() -> None:
    _, log = read(FORMAT, "a\tO\n\tO\n\tO\nb\tO\n")
    assert [line for line, _ in problems(log)] == [2, 3]
    assert log.documents_rejected == 1


def test_an_undecodable_mark_rejects_its_document() -> None:
    found, log = read(FORMAT, b"-DOCSTART- (\xff)\tO\n\na\tO\n\n-DOCSTART- (2)\tO\n\nb\tO\n")
    assert [document.id for document in found] == ["2"]
    assert [line for line, _ in problems(log)] == [1]


def test_comments_before_a_sentence_are_left_out_and_counted() -> None:
    found, log = read(FORMAT, "# a file\n\n# id 1\na\tO\n#\tO\n\n# id 2\nb\tB-X\n", "x.conll")
    assert [document.text for document in found] == ["a #", "b"]
    assert log.notes[-1].endswith("x.conll: 3 comment lines are left out")


def test_chinese_characters_are_joined_without_blanks() -> None:
    (document,), _ = read(FORMAT, "吴 B-NAME\n重 M-NAME\n阳 E-NAME\n， O\n1 O\n9 O\n")
    assert document.text == "吴重阳，19"
    assert mentions(document) == [("吴重阳", "NAME")]


def test_numbers_of_character_positions_are_left_out_and_noted() -> None:
    characters = "口腔溃疡，一二三四五六七"
    rows = "".join(f"{character}{position}\tO\n" for position, character in enumerate(characters))
    (document,), log = read(FORMAT, rows + "30\tO\n吗0\tO\n")
    assert document.text == characters + "3吗"
    assert any("the number of its position" in note for note in log.notes)


def test_numbers_stay_when_one_word_of_the_file_has_none() -> None:
    (document,), _ = read(FORMAT, "口0\tO\n腔1\tO\n吗0\tO\n" * 400 + "吗\tO\n")
    assert "口0" in document.text


def test_numbers_stay_when_they_do_not_count_on() -> None:
    (document,), _ = read(FORMAT, "口5\tO\n腔1\tO\n吗8\tO\n")
    assert document.text == "口5 腔1 吗8"


def test_an_empty_file_holds_no_documents() -> None:
    assert read(FORMAT, "")[0] == read(FORMAT, " \n\t\n")[0] == read(FORMAT, "  ")[0] == []


def test_the_lines_of_problems_are_right_after_any_sentence_borders() -> None:
    _, log = read(FORMAT, "\n\na\tO\n \n\t\n-DOCSTART-\tO\nb\tO\n\n\n# c\nd\tO\ne\tbad\n")
    assert [line for line, _ in problems(log)] == [12]


@given(corpus=corpora(token_documents(words=COLUMN_WORDS, most_sentences=3, nested=False)))
def test_pretokenised_documents_survive_writing_and_reading(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in FORMAT.unwritable(document)] == []
    found, log = read(FORMAT, write(FORMAT, *corpus))
    assert found == corpus
    assert log.problems == []


@given(corpus=corpora(token_documents(words=st.sampled_from("口腔溃疡"), nested=False, blank="")))
def test_documents_of_chinese_characters_survive_writing_and_reading(corpus: list[Document]) -> None:
    assert read(FORMAT, write(FORMAT, *corpus))[0] == corpus


def kept_by_columns(document: Document) -> tuple[list[str], list[tuple[str, ...]]]:
    """The words, and the words and type of each entity."""
    spans = words(document)
    texts = [document.text[start:end] for start, end in spans]
    covered = [
        (
            entity.type,
            *(
                text
                for text, (start, end) in zip(texts, spans, strict=True)
                if entity.start <= start < entity.end
            ),
        )
        for entity in document.entities
    ]
    return texts, sorted(covered)


@given(document=documents(discontinuous=True))
def test_what_is_not_read_again_was_named_as_unwritable(document: Document) -> None:
    (found,), log = read(FORMAT, write(FORMAT, document))
    if not list(FORMAT.unwritable(document)):
        assert kept_by_columns(found) == kept_by_columns(document)
    assert found.id == document.id
    assert log.problems == []
    missing = len(document.entities) - len(found.entities)
    assert missing == sum("entity" in line for line in FORMAT.unwritable(document))


def test_a_document_without_words_survives() -> None:
    empty = Document("1", "", (), (), ())
    full = Document("2", "a", (), ((0, 1),), ((0, 1),))
    assert read(FORMAT, write(FORMAT, empty, full, empty))[0][:2] == [empty, full]


def test_generated_ids_are_not_written() -> None:
    document = Document("news#1", "a", generated_id=True)
    assert write(FORMAT, document) == "-DOCSTART-\tO\n\na\tO\n\n"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            Document("1", "a b c", (Entity(0, 5, "X"), Entity(2, 3, "Y"))),
            "the entity 'Y' 'b' at [2, 3) of document '1', which overlaps a longer or equal one",
        ),
        (
            Document("1", "a b c", (Entity(2, 3, "X"), Entity(2, 3, "X"))),
            "the entity 'X' 'b' at [2, 3) of document '1', which overlaps a longer or equal one",
        ),
        (
            Document("1", "a b c", (Entity(0, 5, "X", fragments=((0, 1), (4, 5))),)),
            "the discontinuous entity 'X' 'a c' at [0, 5) of document '1'",
        ),
        (
            Document("1", "abc", (Entity(1, 3, "X"),)),
            "the entity 'X' 'bc' at [1, 3) of document '1', which does not begin and end with a word",
        ),
        (
            Document("1", "a b", (Entity(0, 3, "X"),), sentences=((0, 1), (2, 3))),
            "the entity 'X' 'a b' at [0, 3) of document '1', which crosses a sentence border",
        ),
        (
            Document("1", "a b", (Entity(0, 3, "X Y"),)),
            "the entity 'X Y' 'a b' at [0, 3) of document '1', whose type has white space",
        ),
        (Document("1", "a b", words=((0, 3),)), "the word 'a b' of document '1', which becomes 'a_b'"),
        (
            Document("1", "-DOCSTART-", words=((0, 10),)),
            "the word '-DOCSTART-' of document '1', which becomes '_DOCSTART_'",
        ),
        (
            Document("1", "a bc d", words=((0, 1), (5, 6))),
            "the text ' bc ' at [1, 5) of document '1', outside of words",
        ),
        (Document("1\t2", "a"), "the id of document '1\\t2'"),
    ],
)
def test_what_a_column_file_cannot_express_is_unwritable(document: Document, line: str) -> None:
    assert list(FORMAT.unwritable(document)) == [line]
    assert len(read(FORMAT, write(FORMAT, document))[0]) == 1


def test_lossy_writing_keeps_the_longest_of_overlapping_entities() -> None:
    document = Document(
        "1", "a b c d", (Entity(2, 3, "Inner"), Entity(0, 5, "Outer"), Entity(4, 7, "Crossing"))
    )
    assert all_mentions(write(FORMAT, document)) == [("a b c", "Outer")]


def test_a_sentence_border_that_was_guessed_gives_way_to_an_entity() -> None:
    document = Document("1", "He has St. Anthony. Fire now", (Entity(7, 24, "Disease"),))
    assert list(FORMAT.unwritable(document)) == []
    assert len(all_mentions(write(FORMAT, document))) == 1


def test_writing_a_nested_entity_is_refused_unless_lossy(tmp_path: Path) -> None:
    document = Document("1", "a b", (Entity(0, 3, "X"), Entity(0, 1, "Y")))
    path = tmp_path / "out.conll"
    with pytest.raises(
        InputError, match=r"conll cannot express the entity 'Y' 'a' at \[0, 1\) of document '1'"
    ):
        files.write([document], path)
    unwritable: list[str] = []
    files.write([document], path, lossy=True, unwritable=unwritable)
    assert len(unwritable) == 1
    assert path.exists()


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (TABBED, "x", True),
        (TABBED.replace("\t", " "), "x.txt", True),
        ("-DOCSTART-\tO\n\n", "x", True),
        ("", "x.conll", True),
        ("", "x.txt", False),
        ("Anna sings.\nBerg sings.\n", "x.txt", False),
        ("blood group B", "x.txt", False),
        ("a\nb\nc\n", "x.conll", False),
    ],
)
def test_column_files_are_recognised(content: str, name: str, expected: bool) -> None:
    assert FORMAT.recognises(Path(name), content) is expected
