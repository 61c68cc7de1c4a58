"""Promise 35: columns with several layers of tags are read whole, and written in that form on request."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora
from token_documents import COLUMN_WORDS, problems, read, token_documents

from spanwright.formats import files
from spanwright.formats.columns.documents import FORMAT
from spanwright.formats.files import with_options
from spanwright.text import Document, Entity
from spanwright.text.tags import SCHEMES, Scheme, WordRun, runs_from_tags, tags_from_runs

ROWS = ["University B-ORG O", "of I-ORG O", "Oslo I-ORG B-LOC", "", "Bergen O B-LOC", "Bergen B-ORG B-LOC"]
LAYERED = "".join(f"{row}\n" for row in ROWS).replace(" ", "\t")
PHRASES = "Oslo NNP B-NP B-LOC\nsleeps VBZ B-VP O\nin IN B-PP O\nMay NNP B-NP B-DATE\n"


def mentions(document: Document) -> list[tuple[str, str]]:
    return [(document.mention(entity), entity.type) for entity in document.entities]


def all_mentions(content: str) -> list[list[tuple[str, str]]]:
    return [mentions(document) for document in read(FORMAT, content)[0]]


def written(documents: list[Document], **options: str) -> str:
    format = with_options(FORMAT, options)
    assert format.serialise is not None
    return "".join(format.serialise(documents))


EXPECTED = [
    [("University of Oslo", "ORG"), ("Oslo", "LOC")],
    [("Bergen", "LOC"), ("Bergen", "ORG"), ("Bergen", "LOC")],
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_all_layers_of_tags_are_read(separator: str, end: str) -> None:
    assert all_mentions(LAYERED.replace("\t", separator).replace("\n", end)) == EXPECTED


def test_the_layers_and_their_entities_are_noted() -> None:
    _, log = read(FORMAT, LAYERED)
    told = "2 layers of tags: column 1 with 2 entities, column 2 with 3 entities (columns count from 0)"
    assert [note.partition(": ")[2] for note in log.notes] == [told, "tag scheme IOB2 (detected)"]
    assert (log.entities_read, log.problems) == (5, [])


def test_an_index_column_is_left_out_with_a_note() -> None:
    numbers = iter("123 12")
    rows = "".join(f"{next(numbers)}\t{line}\n".removeprefix(" \t") for line in LAYERED.splitlines())
    found, log = read(FORMAT, rows)
    assert ([mentions(document) for document in found], found[0].text) == (EXPECTED, "University of Oslo")
    assert any(note.endswith("column 0 numbers the words; it is left out") for note in log.notes)


@pytest.mark.parametrize("first", ["0\tA\tO\n1\tB\tO\n2\tC\tO\n", "1\tA\tO\n2\tB\tO\n"])
def test_an_index_column_is_found_before_one_layer_too(first: str) -> None:
    assert read(FORMAT, first)[0][0].text.startswith("A B")


@pytest.mark.parametrize("rows", ["1\tO\n2\tO\n3\tO\n", "1\tCD\tO\n1\tCD\tO\n", "1\tB-X\tO\n2\tO\tO\n"])
def test_numbers_that_are_words_stay(rows: str) -> None:
    assert read(FORMAT, rows)[0][0].text.startswith("1 ")


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("comment", ["# id 1", "# text = University of Oslo", "#\thttp://example.org"])
def test_comments_before_a_sentence_of_layers_are_left_out(separator: str, comment: str) -> None:
    rows = f"{comment}\n{LAYERED}".replace("\n\n", f"\n\n{comment}\n").replace("\t", separator)
    found, log = read(FORMAT, rows)
    assert [mentions(document) for document in found] == EXPECTED
    assert log.notes[-1].endswith("2 comment lines are left out")
    assert log.problems == []


def test_comments_need_no_blank_where_words_are_numbered() -> None:
    (document,), log = read(FORMAT, "#begin document\n1\ta\tB-X\tO\n2\t#b\tO\tB-Y\n")
    assert (document.text, log.problems) == ("a #b", [])


def test_an_entity_in_two_layers_is_read_once_and_reported() -> None:
    (document,), log = read(FORMAT, "the\tO\tO\nOslo\tB-LOC\tB-LOC\nbay\tI-LOC\tI-LOC\n")
    assert mentions(document) == [("Oslo bay", "LOC")]
    told = "the entity 'LOC' 'Oslo bay' stands in column 1 and again in column 2; it is read once"
    assert problems(log) == [(2, told)]
    assert (log.entities_read, log.entities_rejected) == (1, 1)


def test_two_types_of_one_span_and_crossing_entities_are_kept() -> None:
    rows = "a\tB-X\tB-Y\tO\nb\tI-X\tI-Y\tB-Z\nc\tO\tO\tI-Z\n"
    assert all_mentions(rows) == [[("a b", "X"), ("a b", "Y"), ("b c", "Z")]]


@pytest.mark.parametrize("row", ["Oslo\tB-LOC\t", "Oslo"])
def test_a_missing_tag_of_a_layer_costs_the_annotation_alone(row: str) -> None:
    (document,), log = read(FORMAT, f"a\tB-X\tO\n{row}\nb\tO\tB-Y\n")
    assert [mention for mention in mentions(document) if mention[0] != "Oslo"] == [("a", "X"), ("b", "Y")]
    assert [(line, "the tag of the word 'Oslo' is missing" in why) for line, why in problems(log)] == [
        (2, True)
    ]


def test_a_tag_of_no_scheme_in_an_outer_layer_is_rejected_with_its_line() -> None:
    rows = "a\tB-X\tO\n" * 20 + "b\tX-X\tB-Y\n"
    (document,), log = read(FORMAT, rows)
    assert mentions(document)[-1] == ("b", "Y")
    assert [line for line, _ in problems(log)] == [21]


# Columns that look like tags and are none.


def test_a_column_of_phrases_is_no_layer_and_is_reported() -> None:
    (document,), log = read(FORMAT, PHRASES)
    assert mentions(document) == [("Oslo", "LOC"), ("May", "DATE")]
    (note,) = [note for note in log.notes if "looks like tags" in note]
    assert "column 2 (counted from 0) looks like tags (B-NP, B-VP, B-PP) and is not read: its types" in note
    assert "--option tag_column=2,3` does" in note


def test_a_column_that_is_told_of_can_be_read_as_told(tmp_path: Path) -> None:
    path = tmp_path / "file.conll"
    path.write_text(PHRASES)
    (document,) = files.read(path, options={"tag_column": "2,3"}).documents
    assert len(document.entities) == 6


def test_phrases_in_the_last_column_are_read_as_before() -> None:
    (document,), log = read(FORMAT, "Oslo NNP B-NP\nsleeps VBZ B-VP\n")
    assert [type_ for _, type_ in mentions(document)] == ["NP", "VP"]
    assert not any("looks like tags" in note for note in log.notes)


def test_gold_and_predicted_tags_are_no_layers() -> None:
    gold = "Anna\tB-PER\nsaw\tO\nOslo\tB-LOC\n" * 8
    rows = "".join(f"{row}\t{row.split()[1]}\n" for row in gold.splitlines())
    (document,), log = read(FORMAT, rows.replace("B-LOC\n", "O\n", 2))
    assert len(document.entities) == 14
    assert any("as in files of gold and predicted tags" in note for note in log.notes)


def test_letters_without_types_are_no_layer_and_are_reported() -> None:
    (document,), log = read(FORMAT, "中\tB\tB-LOC\n国\tE\tI-LOC\n人\tS\tO\n")
    assert mentions(document) == [("中国", "LOC")]
    assert any("column 1 (counted from 0) looks like tags (B, E, S) and is not read" in n for n in log.notes)


def test_a_layer_that_begins_late_is_read() -> None:
    assert all_mentions("a\tO\tB-X\n" * 1100 + "b\tB-Y\tB-X\n")[0][-2:] == [("b", "Y"), ("b", "X")]


def test_a_column_that_turns_out_not_to_be_tags_is_no_layer() -> None:
    _, log = read(FORMAT, "a\tO\tB-X\n" * 1100 + "b\tsomething\tB-X\n" * 20)
    assert log.problems == []


# Writing.


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_layers_in_any_scheme_are_read_whole(scheme: Scheme, layers: int) -> None:
    generator = random.Random(f"{scheme} {layers}")
    columns = [random_tags(generator, 200, f"T{layer}", scheme) for layer in range(layers)]
    words = [f"w{position}" for position in range(200)]
    rows = "".join("\t".join(row) + "\n" for row in zip(words, *columns, strict=True))
    (document,), log = read(FORMAT, rows)
    runs = [run for tags in columns for run in runs_from_tags(tags)]
    assert log.problems == []
    assert word_runs(document) == sorted(runs)


def random_tags(generator: random.Random, length: int, type_: str, scheme: Scheme) -> list[str]:
    borders = sorted(generator.sample(range(length), 80))
    return tags_from_runs(
        [(a, b, type_) for a, b in zip(borders[::2], borders[1::2], strict=True)], length, scheme
    )


def word_runs(document: Document) -> list[WordRun]:
    first = {start: position for position, (start, _) in enumerate(document.words or ())}
    last = {end: position + 1 for position, (_, end) in enumerate(document.words or ())}
    return sorted((first[each.start], last[each.end], each.type) for each in document.entities)


@given(
    corpus=corpora(token_documents(words=COLUMN_WORDS, most_sentences=3)),
    scheme=st.sampled_from(SCHEMES),
    layers=st.integers(2, 4),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_nested_documents_survive_writing_and_reading(
    corpus: list[Document], scheme: str, layers: int, end: str
) -> None:
    options = {"layers": str(layers), "scheme": scheme}
    unwritable = [line for document in corpus for line in with_options(FORMAT, options).unwritable(document)]
    found, log = read(FORMAT, written(corpus, **options).replace("\n", end))
    assert [(each.id, each.text, each.sentences) for each in found] == [
        (each.id, each.text, each.sentences) for each in corpus
    ]
    assert log.problems == []
    lost = 0
    for before, after in zip(corpus, found, strict=True):
        assert set(after.entities) <= set(before.entities)
        lost += len(before.entities) - len(after.entities)
        assert deepest(after) <= layers
    assert len(unwritable) == lost
    assert layers < 3 or not unwritable, "three entities of a sentence need no more than three layers"


def deepest(document: Document) -> int:
    """How many entities lie over one character at most."""
    covered = [
        sum(e.start <= place < e.end for e in document.entities) for place in range(len(document.text))
    ]
    return max(covered, default=0)


def test_a_file_whose_only_word_looks_like_a_comment_is_read() -> None:
    (document,), log = read(FORMAT, "-DOCSTART- (0)\tO\tO\n\n#\tB-A\tO\n\n")
    assert (document.text, len(document.entities), log.problems) == ("#", 1, [])


def test_entities_stand_in_layers_outermost_first() -> None:
    inner, outer, beside = Entity(2, 3, "Inner"), Entity(0, 5, "Outer"), Entity(6, 7, "Beside")
    document = Document("1", "a b c d", (inner, outer, beside))
    rows = written([document], layers="2").splitlines()
    assert rows == [
        "-DOCSTART- (1)\tO\tO",
        "",
        "a\tB-Outer\tO",
        "b\tI-Outer\tB-Inner",
        "c\tI-Outer\tO",
        "d\tB-Beside\tO",
        "",
    ]


def test_what_does_not_fit_into_the_layers_is_unwritable() -> None:
    entities = [Entity(0, 9 - 2 * depth, f"T{depth}") for depth in range(5)]
    document = Document("1", "a b c d e", (*entities, entities[0]))
    unwritable = list(with_options(FORMAT, {"layers": "4"}).unwritable(document))
    assert unwritable == [
        "the entity 'T0' 'a b c d e' at [0, 9) of document '1', which overlaps a longer or equal one",
        "the entity 'T4' 'a' at [0, 1) of document '1', which overlaps 4 longer or equal ones",
    ]
    assert len(all_mentions(written([document], layers="4"))[0]) == 4


def test_crossing_entities_need_no_more_layers_than_lie_over_one_word() -> None:
    chain = tuple(Entity(2 * first, 2 * first + 2 * length - 1, "X") for first, length in CROSSING)
    document = Document("1", "a b c d e f g h", chain)
    assert list(with_options(FORMAT, {"layers": "2"}).unwritable(document)) == []
    assert len(all_mentions(written([document], layers="2"))[0]) == len(chain)


CROSSING = [(0, 2), (1, 4), (2, 1), (4, 3), (5, 3), (3, 1)]


def test_without_marks_what_a_sentence_cannot_say_is_unwritable() -> None:
    two = Document("1", "a\nb", (), ((0, 1), (2, 3)), ((0, 1), (2, 3)))
    assert list(with_options(FORMAT, {"marks": "no"}).unwritable(two)) == [
        "the id of document '1'",
        "that the 2 sentences of document '1' are one document",
    ]
