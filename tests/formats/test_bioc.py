from __future__ import annotations

from pathlib import Path

import pytest
from bioc_content import (
    ABSTRACT,
    BOTH,
    ENTITIES,
    JSON,
    TITLE,
    Record,
    annotation,
    content,
    document,
    passage,
    read_with,
)
from token_documents import problems, read, write

from spanwright.errors import InputError
from spanwright.formats.format import Format
from spanwright.text import Entity


@BOTH
def test_a_gap_before_a_passage_is_a_line_break(format: Format) -> None:
    (found,), log = read(format, content(format, document(TITLE, ABSTRACT)))
    assert (found.id, found.text, found.entities) == ("1", "Famotidine\nand delirium", ENTITIES)
    assert (found.sentences, log.problems, log.notes) == (None, [], [])


@BOTH
@pytest.mark.parametrize(
    ("offsets", "text"),
    [
        ((0, 3), "onetwo"),
        ((0, 4), "one\ntwo"),
        ((0, 6), "one\n  two"),
        ((2, 7), "  one  \ntwo".replace("  \n", "\n ")),
    ],
)
def test_offsets_hold_whatever_the_gaps(format: Format, offsets: tuple[int, int], text: str) -> None:
    first, second = offsets
    mark = annotation(second, 3, type="Word", text="two")
    (found,), log = read(
        format, content(format, document(passage(first, "one"), passage(second, "two", mark)))
    )
    assert (found.text, found.mention(found.entities[0]), log.problems) == (text, "two", [])


@BOTH
def test_a_passage_that_cannot_stand_at_its_offset_is_moved_with_its_annotations(format: Format) -> None:
    second = passage(0, "two", annotation(0, 3, type="Word", text="two"))
    (found,), log = read(format, content(format, document(passage(0, "one"), second, passage(20, "three"))))
    assert found.text == f"one\ntwo\n{' ' * 12}three"
    assert (found.entities, log.entities_rejected) == ((Entity(4, 7, "Word"),), 0)
    assert [reason for _, reason in problems(log)] == [
        "document '1': the text at offset 0 begins before the end of the text before it; it is moved"
    ]


@BOTH
def test_a_passage_without_a_text_adds_nothing(format: Format) -> None:
    (found,), _ = read(format, content(format, document(passage(0, "one"), passage(4, ""))))
    assert found.text == "one"


@BOTH
def test_an_offset_that_would_fill_the_memory_rejects_the_document(format: Format) -> None:
    found, log = read(
        format, content(format, document(passage(10**12, "one")), document(passage(0, "two"), id="2"))
    )
    assert [each.id for each in found] == ["2"]
    assert "the gaps between passages sum up to" in problems(log)[0][1]
    assert log.documents_rejected == 1


SENTENCES = {
    "offset": 11,
    "sentences": [
        {"offset": 11, "text": "Two cases.", "annotations": [annotation(15, 5, type="Number", text="cases")]},
        {
            "offset": 23,
            "text": "No more.",
            "annotations": [annotation(23, 2, id="1", type="Number", text="No")],
        },
    ],
}


@BOTH
def test_sentences_make_the_text_and_its_borders(format: Format) -> None:
    first = {"offset": 0, "sentences": [{"offset": 0, "text": "A report"}]}
    (found,), log = read(format, content(format, document(first, SENTENCES)))
    assert found.text == "A report\n  Two cases.  No more."
    assert found.sentences == ((0, 8), (11, 21), (23, 31))
    assert ([found.mention(each) for each in found.entities], log.problems) == (["cases", "No"], [])


@BOTH
def test_there_are_no_borders_where_a_passage_has_no_sentences(format: Format) -> None:
    given = content(format, document(passage(0, "A report"), SENTENCES))
    (found,), log = read(format, given)
    assert (found.sentences, log.problems) == (None, [])
    assert read(format, write(format, found))[0] == [found]


@BOTH
@pytest.mark.parametrize(("second", "borders"), [("No more.", ((0, 10), (11, 19))), ("Nomore.", None)])
def test_sentences_of_a_passage_with_a_text_are_borders_in_it(
    format: Format, second: str, borders: object
) -> None:
    inner = [{"offset": 5, "text": "Two cases."}, {"offset": 16, "text": second}]
    given = passage(5, "Two cases.\tNo more.") | {"sentences": inner}
    (found,), log = read(format, content(format, document(given)))
    expected = None if borders is None else ((5, 15), (16, 24))
    assert (found.text, found.sentences) == ("     Two cases.\tNo more.", expected)
    assert ["is not in the text of its passage" in reason for _, reason in problems(log)] == [True] * (
        not borders
    )


@BOTH
def test_several_locations_are_fragments(format: Format) -> None:
    mark = annotation(0, 7, type="Disease", text="ovarian cancer")
    mark["locations"].append({"offset": 19, "length": 6})
    (found,), log = read(format, content(format, document(passage(0, "ovarian and breast cancer", mark))))
    assert found.entities == (Entity(0, 25, "Disease", fragments=((0, 7), (19, 25))),)
    assert log.problems == []


@BOTH
@pytest.mark.parametrize(
    ("locations", "ranges", "remarks"),
    [
        ([(0, 3), (3, 2)], ((0, 3), (3, 5)), 0),
        ([(4, 2), (0, 2)], ((0, 2), (4, 6)), 1),
        ([(0, 4), (2, 4)], ((0, 6),), 1),
        ([(0, 6), (2, 2), (8, 1)], ((0, 6), (8, 9)), 1),
        ([(0, 2), (0, 2)], ((0, 2),), 1),
    ],
)
def test_locations_that_overlap_or_are_out_of_order_are_put_right_and_remarked(
    format: Format, locations: list[tuple[int, int]], ranges: object, remarks: int
) -> None:
    mark = annotation(0, 1, type="Word")
    mark["locations"] = [{"offset": offset, "length": length} for offset, length in locations]
    (found,), log = read(format, content(format, document(passage(0, "abcdefghij", mark))))
    (entity,) = found.entities
    assert (entity.ranges, len(entity.fragments) != 1) == (ranges, True)
    assert ["overlap or are out of order" in reason for _, reason in problems(log)] == [True] * remarks


def test_a_mention_in_the_order_of_its_locations_is_where_it_should_be() -> None:
    mark = annotation(4, 2, type="Word", text="ef ab")
    mark["locations"].append({"offset": 0, "length": 2})
    _, log = read(JSON, content(JSON, document(passage(0, "abcdefghij", mark))))
    assert len(log.problems) == 1


REJECTED = {
    "no type": (annotation(0, 3, MESH="D1"), "the type is None"),
    "an empty type": (annotation(0, 3, type=""), "the type is ''"),
    "two types": (annotation(0, 3, type=["A", "B"]), "the type is ['A', 'B']; expected one infon"),
    "no location": (annotation(0, 3, type="A") | {"locations": []}, "there is no location"),
    "no offset": (
        annotation(0, 3, type="A") | {"locations": [{"length": 3}]},
        "{'offset': None, 'length': '3'}",
    ),
    "no length": (
        annotation(0, 3, type="A") | {"locations": [{"offset": 0}]},
        "{'offset': '0', 'length': None}",
    ),
    "after the end": (annotation(1, 3, type="A"), "an end of at most 3"),
    "far after the end": (annotation(10**14, 1, type="A"), "an end of at most 3"),
    "a length of 0": (annotation(1, 0, type="A"), "a length of at least 1"),
    "a negative offset": (annotation(-1, 2, type="A"), "expected whole numbers"),
    "a negative length": (annotation(2, -1, type="A"), "expected whole numbers"),
    "no number": (annotation(0, 1, type="A") | {"locations": [{"offset": "0x0", "length": "1"}]}, "'0x0'"),
    "one wrong location of two": (
        annotation(0, 1, type="A")
        | {"locations": [{"offset": "0", "length": "1"}, {"offset": "2", "length": "2"}]},
        "{'offset': '2', 'length': '2'}",
    ),
}


@BOTH
@pytest.mark.parametrize(("mark", "reason"), REJECTED.values(), ids=REJECTED)
def test_a_wrong_annotation_is_rejected_alone(format: Format, mark: Record, reason: str) -> None:
    good = annotation(0, 3, id="good", type="A")
    (found,), log = read(format, content(format, document(passage(0, "one", mark | {"id": "bad"}, good))))
    ((_, told),) = problems(log)
    assert told.startswith("document '1', annotation 'bad': ")
    assert reason.replace("'", "") in told.replace("'", "")
    assert (len(found.entities), log.entities_read, log.entities_rejected) == (1, 1, 1)


@BOTH
@pytest.mark.parametrize("wrong", [{"offset": ""}, {"offset": "first"}, {"offset": "-1"}])
def test_a_document_with_a_wrong_offset_is_rejected_with_its_annotations(
    format: Format, wrong: Record
) -> None:
    bad = document(TITLE, passage(11, "two", annotation(11, 3, type="A")) | wrong)
    found, log = read(format, content(format, bad, document(TITLE, id="2")))
    assert [each.id for each in found] == ["2"]
    assert "document '1': a passage has the offset" in problems(log)[0][1]
    assert (log.documents_read, log.documents_rejected, log.entities_read, log.entities_rejected) == (
        1,
        1,
        1,
        2,
    )


@BOTH
def test_a_mention_that_is_not_at_its_offsets_is_kept_and_remarked(format: Format) -> None:
    mark = annotation(1, 2, id="7", type="A", text="on")
    (found,), log = read(format, content(format, document(passage(0, "one", mark))))
    assert found.entities == (Entity(1, 3, "A"),)
    assert [reason for _, reason in problems(log)] == [
        "document '1', annotation '7': the mention is given as 'on', but [1, 3) is 'ne'; offsets are kept"
    ]


@BOTH
def test_repeated_and_missing_ids_become_unique(format: Format) -> None:
    nameless = document(passage(0, "one"))
    del nameless["id"]
    found, log = read(format, content(format, document(TITLE), nameless, document(TITLE), document(TITLE)))
    assert [each.id for each in found] == ["1", "corpus#2", "1#2", "1#3"]
    assert [each.generated_id for each in found] == [False, True, False, False]
    assert len(log.problems) == 2
    assert [each.id for each in read(format, write(format, *found))[0]] == [each.id for each in found]


PARTS = document(
    passage(
        0,
        "ovarian and breast cancer",
        annotation(0, 25, type="Disease", MESH="D1|D2", CompositeRole="CompositeMention"),
        annotation(0, 7, type="Disease", MESH="D1", CompositeRole="IndividualMention"),
        annotation(12, 13, type="Disease", MESH="D2", CompositeRole="IndividualMention"),
    )
)


@BOTH
@pytest.mark.parametrize(
    ("options", "read_count", "note"),
    [
        ({}, 3, "2 annotations are parts of composite mentions"),
        (
            {"individual_mentions": "keep"},
            3,
            "are read as entities; leave them out with individual_mentions=drop",
        ),
        ({"individual_mentions": "drop"}, 1, "were left out by individual_mentions=drop"),
    ],
)
def test_parts_of_composite_mentions_are_the_choice_of_the_user(
    tmp_path: Path, format: Format, options: dict[str, str], read_count: int, note: str
) -> None:
    _, log = read_with(tmp_path, format, content(format, PARTS), **options)
    assert (log.entities_read, log.entities_rejected, log.problems) == (read_count, 3 - read_count, [])
    assert [note in each for each in log.notes] == [True]


@pytest.mark.parametrize("option", ["individual_mentions", "offsets"])
def test_another_value_of_an_option_is_an_error(tmp_path: Path, option: str) -> None:
    with pytest.raises(InputError, match=r"expected keep, drop|expected one of characters, utf-16, bytes"):
        read_with(tmp_path, JSON, content(JSON, PARTS), **{option: "perhaps"})


IN_BYTES = document(
    passage(0, "α-tocopherol", annotation(0, 13, type="Chemical", text="α-tocopherol")),
    passage(14, "β and α", annotation(21, 2, type="Letter", text="α"), annotation(15, 3, type="Wrong")),
)


@BOTH
def test_offsets_may_count_bytes(tmp_path: Path, format: Format) -> None:
    (found,), log = read_with(tmp_path, format, content(format, IN_BYTES), offsets="bytes")
    assert found.text == "α-tocopherol\nβ and α"
    assert [found.mention(each) for each in found.entities] == ["α-tocopherol", "α"]
    ((_, reason),) = problems(log)
    assert ("{'offset': " in reason, log.entities_rejected, log.notes) == (True, 1, [])
    assert read(format, write(format, found))[0][0].entities == found.entities


def test_sentences_may_count_bytes_too(tmp_path: Path) -> None:
    inner = [{"offset": 0, "text": "αβ."}, {"offset": 6, "text": "γ"}]
    both = passage(0, "αβ. γ") | {"sentences": inner}
    for section in (both, {"offset": 0, "sentences": inner}):
        (found,), log = read_with(tmp_path, JSON, content(JSON, document(section)), offsets="bytes")
        assert (found.text, found.sentences, log.problems) == ("αβ. γ", ((0, 3), (4, 5)), [])


def test_a_file_that_seems_to_count_bytes_gets_a_note(tmp_path: Path) -> None:
    _, log = read_with(tmp_path, JSON, content(JSON, IN_BYTES))
    assert ["read it with the option offsets=bytes" in note for note in log.notes] == [True]


@BOTH
@pytest.mark.parametrize(
    ("infons", "concepts"),
    [
        ({"MESH": "D1|D2"}, ("D1", "D2")),
        ({"identifier": "c|SUB|G|2633+1|C"}, ("c|SUB|G|2633+1|C",)),
        ({"NCBI GENE": "12,13"}, ("12", "13")),
        ({"identifier": "-1"}, ()),
        ({"identifier": "-"}, ()),
        ({"identifier": ["D1|D2", "D3"]}, ("D1|D2", "D3")),
        ({"identifier": ["-", "D3"]}, ("D3",)),
        ({"note": "D1", "identifier": "D2", "MESH": "D3"}, ("D2",)),
        ({"note": "D1"}, ()),
    ],
)
def test_concepts_come_from_the_infon_that_names_them(
    format: Format, infons: Record, concepts: tuple[str, ...]
) -> None:
    mark = annotation(0, 3, type="A", **infons)
    (found,), _ = read(format, content(format, document(passage(0, "one", mark))))
    assert found.entities[0].concepts == concepts
    assert read(format, write(format, found))[0] == [found]
