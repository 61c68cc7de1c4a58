from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from report_making import content_of, damaged

import making
import naughty
from spanwright.reporting import select_passages
from spanwright.reporting.marks import KINDS
from spanwright.text import Document, Entity

GOLD = making.documents(60)
EVERYTHING = 10**9


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and predicted documents with naughty texts."""
    sides: tuple[list[Document], list[Document]] = ([], [])
    for number in range(draw(st.integers(1, 3))):
        text = draw(naughty.texts())
        for side in sides:
            side.append(Document(str(number), text, draw(_entities(text))))
    return sides


@st.composite
def _entities(draw: st.DrawFn, text: str) -> tuple[Entity, ...]:
    if not text:
        return ()
    found = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        found.append(Entity(start, end, draw(st.sampled_from(("a", "b")))))
    return tuple(found)


def records(*sides: Sequence[Document]) -> list[list[Any]]:
    shown = select_passages(content_of(*sides), most_bytes=EVERYTHING, most_right=EVERYTHING)
    return [json.loads(record) for record in shown.records]


def utf_16(text: str, start: int, end: int) -> str:
    """What JavaScript slices from a text."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@given(two_sides())
def test_the_marks_of_all_passages_are_the_entities_of_the_comparison(
    sides: tuple[list[Document], list[Document]],
) -> None:
    content = content_of(*sides)
    found = records(*sides)
    kinds = Counter(kinds[0] for record in found for _, kinds, _ in record[6])
    kinds += Counter(kind for record in found for _, kind, *_ in record[7][0])
    system = content.systems[0]
    right = 2 * system.scores.micro.true_positives
    assert kinds == Counter({KINDS.index(kind): n for kind, n in system.mistakes.counts.items()} | {0: right})


@given(two_sides())
def test_offsets_cut_the_mentions_out_of_the_passage_as_javascript_counts(
    sides: tuple[list[Document], list[Document]],
) -> None:
    content = content_of(*sides)
    comparison = content.systems[0].comparison
    expected = Counter(
        (content.types.index(entity.type), comparison.pairs[document].document.mention(entity))
        for side in (comparison.gold, comparison.predicted)
        for entity, document in zip(side.entities, side.document.tolist(), strict=True)
    )
    found: Counter[tuple[int, str]] = Counter()
    for record in records(*sides):
        for type_, *_, offsets in (*record[6], *record[7][0]):
            found[type_, utf_16(record[4], *offsets)] += 1
    assert found == expected


@given(two_sides())
def test_passages_and_their_surroundings_are_in_the_text(
    sides: tuple[list[Document], list[Document]],
) -> None:
    texts = {document.id: document.text for document in sides[0]}
    for id, _, _, before, text, after, *_ in records(*sides):
        assert f"{before.removeprefix('… ')}{text}{after.removesuffix(' …')}" in texts[id]


def test_an_entity_over_a_sentence_border_joins_the_sentences() -> None:
    text = "One p53. Two p63. Three p73."
    gold = [Document("1", text, (Entity(4, 16, "Gene"), Entity(24, 27, "Gene")))]
    found = records(gold, [Document("1", text)])
    assert [record[4] for record in found] == ["One p53. Two p63.", "Three p73."]


def test_a_discontinuous_entity_keeps_its_pieces() -> None:
    text = "kidney or liver disease"
    gold = [Document("1", text, (Entity(0, 23, "Disease", fragments=((0, 6), (16, 23))),))]
    assert records(gold, gold)[0][6] == [[0, [0], [0, 6, 16, 23]]]


def test_a_wrong_prediction_points_at_the_gold_entity_it_should_have_been() -> None:
    text = "One p53. Two p63 gene."
    gold = [Document("1", text, (Entity(4, 7, "Gene"), Entity(13, 16, "Gene"), Entity(17, 21, "Word")))]
    predicted = [Document("1", text, (Entity(13, 21, "Word", confidence=0.25),))]
    second = records(gold, predicted)[1]
    assert second[7][0] == [[second[6][1][0], KINDS.index("boundary"), 0.25, 1, [4, 12]]]


def test_predictions_on_a_text_with_other_white_space_are_drawn_on_the_gold_text() -> None:
    gold = [Document("1", "The p53\n gene.", (Entity(4, 13, "Gene"),))]
    predicted = [Document("1", "The p53 gene .", (Entity(4, 12, "Gene"), Entity(4, 7, "Gene")))]
    [right, wrong] = records(gold, predicted)[0][7][0]
    text = records(gold, predicted)[0][4]
    assert (utf_16(text, *right[4]), right[1]) == ("p53\n gene", 0)
    assert (utf_16(text, *wrong[4]), KINDS[wrong[1]]) == ("p53", "boundary")


def test_documents_that_one_side_lacks_are_shown_and_noted() -> None:
    documents = [Document(str(n), f"p5{n} binds", (Entity(0, 3, "Gene"),)) for n in range(3)]
    found = records(documents[:2], documents[1:], documents[:1])
    assert {record[0]: record[2] for record in found} == {
        "0": "no prediction of A for this document",
        "1": "no prediction of B for this document",
        "2": "not among the gold documents, only among those of A",
    }
    assert [len(own) for own in found[2][7]] == [1, 0]


def test_every_passage_is_shown_or_counted_as_left_out() -> None:
    content = content_of(GOLD, damaged(GOLD, seed=1, share=0.1))
    everything = select_passages(content, most_bytes=EVERYTHING, most_right=EVERYTHING)
    assert everything.wrong_shown == everything.wrong > 10
    assert everything.right_shown == everything.right > 10
    few = select_passages(content, most_bytes=3000, most_right=5)
    assert (few.wrong, few.right, few.bare) == (everything.wrong, everything.right, everything.bare)
    assert 0 < few.wrong_shown < few.wrong
    assert sum(len(record.encode()) + 1 for record in few.records) <= 3000
    assert len(few.records) == few.wrong_shown + few.right_shown


def test_passages_without_a_mistake_are_limited_in_number() -> None:
    shown = select_passages(content_of(GOLD, GOLD), most_right=7)
    assert (shown.wrong, shown.right_shown, len(shown.records)) == (0, 7, 7)


def test_a_passage_without_entities_is_counted_and_not_shown() -> None:
    gold = [Document("1", "Nothing here. P53 there.", (Entity(14, 17, "Gene"),))]
    shown = select_passages(content_of(gold, gold))
    assert (shown.bare, shown.right_shown) == (1, 1)


def test_a_huge_passage_does_not_keep_out_the_small_ones() -> None:
    huge = Document("huge", "p53 " + "x" * 5000, (Entity(0, 3, "Gene"),))
    small = [Document(str(n), f"p5{n} binds", (Entity(0, 3, "Gene"),)) for n in range(8)]
    shown = select_passages(content_of([huge, *small], []), most_bytes=2000)
    assert (shown.wrong, shown.wrong_shown) == (9, 8)


def test_the_same_passages_are_chosen_every_time() -> None:
    first, second = (
        select_passages(content_of(GOLD, damaged(GOLD, seed=1)), most_bytes=3000) for _ in range(2)
    )
    assert first == second


def test_a_confidence_that_json_cannot_hold_becomes_null() -> None:
    predicted = [Document("1", "p53", (Entity(0, 3, "Gene", confidence=float("inf")),))]
    assert records([Document("1", "p53")], predicted)[0][7][0][0][2] is None
