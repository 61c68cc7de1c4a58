"""Documents as arrays: words, pieces, segments, and golds that words can or cannot express."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from naughty import texts
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import WindowPlan, gold_words, outermost, prepare, windows_of
from spanwright.labels import LabelSpace
from spanwright.settings.data import Context
from spanwright.text import Document, Entity, split

ENCODER = PieceEncoder(tiny.tokenizer())
LABELS = LabelSpace(("Cell", "Gene"))


def plan(
    context: Context = "document", *, pieces: int = 18, overlap: int = 1, width_limit: int = 4
) -> WindowPlan:
    return WindowPlan(context, pieces, overlap, width_limit)


def windows(document: Document, chosen: WindowPlan) -> list[tuple[int, int]]:
    found = list(windows_of(prepare(document, ENCODER, chosen), 0, chosen, ENCODER.special_count))
    return [(window.first, window.end) for window in found]


@given(texts())
def test_words_and_pieces_of_a_document_belong_together(text: str) -> None:
    prepared = prepare(Document("d", text), ENCODER, plan())
    assert prepared.words.tolist() == [list(word) for word in split(text)]
    assert len(prepared.piece_starts) == len(prepared.words) + 1
    assert prepared.piece_starts[0] == 0
    assert prepared.piece_starts[-1] == len(prepared.piece_ids)
    assert (np.diff(prepared.piece_starts) >= 1).all()


def test_given_words_are_the_words() -> None:
    prepared = prepare(Document("d", "a b-c d", words=((0, 1), (2, 5))), ENCODER, plan())
    assert prepared.words.tolist() == [[0, 1], [2, 5]]


@given(st.integers(1, 40))
def test_a_word_too_long_keeps_the_pieces_of_its_two_ends(length: int) -> None:
    word = "".join(chr(ord("a") + position % 26) for position in range(length))
    [whole, kept] = [prepare(Document("d", word), ENCODER, plan(pieces=size)) for size in (200, 18)]
    head, tail = (len(kept.piece_ids) + 1) // 2, len(kept.piece_ids) // 2
    assert len(kept.piece_ids) == length if length <= 8 else len(kept.piece_ids) <= 8
    assert kept.piece_ids.tolist() == [*whole.piece_ids[:head], *whole.piece_ids[length - tail :]]
    assert kept.shortened == (length > 8)


def test_only_the_long_word_of_a_document_is_shortened() -> None:
    text = "abc " * 8 + "x" * 100 + " def" * 8
    prepared = prepare(Document("d", text), ENCODER, plan(pieces=34))
    counts = np.diff(prepared.piece_starts)
    assert prepared.shortened == 1
    assert counts.tolist() == [3] * 8 + [counts[8]] + [3] * 8
    assert 1 <= counts[8] <= 16


def test_a_sentence_context_stops_windows_at_sentence_borders() -> None:
    document = Document("d", "One two. Three four. Five")
    assert windows(document, plan("sentence", pieces=50)) == [(0, 3), (3, 6), (6, 7)]
    assert windows(document, plan("document", pieces=50)) == [(0, 7)]


def test_given_sentence_borders_are_respected() -> None:
    document = Document("d", "a b c d e", sentences=((0, 3), (4, 9)))
    assert windows(document, plan("sentence")) == [(0, 2), (2, 5)]


def test_words_outside_all_given_sentences_are_in_a_window() -> None:
    document = Document("d", "a b c d e f", sentences=((2, 5), (8, 9)))
    assert windows(document, plan("sentence")) == [(0, 1), (1, 4), (4, 6)]


def test_a_word_that_a_sentence_border_cuts_is_in_one_window() -> None:
    document = Document("d", "a bcd e", sentences=((0, 3), (3, 7)))
    assert windows(document, plan("sentence")) == [(0, 2), (2, 3)]


@pytest.mark.parametrize("context", ["sentence", "document"])
@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_words_has_no_window(text: str, context: Context) -> None:
    assert windows(Document("d", text), plan(context)) == []


def test_the_overlap_is_raised_to_the_width_limit() -> None:
    document = Document("d", " ".join("a" * 30))
    assert windows(document, plan(overlap=1)) == windows(document, plan(overlap=4))
    assert windows(document, plan(overlap=1)) != windows(document, plan(overlap=6))


def golds(entities: tuple[Entity, ...], text: str = "p53 of beta-cells here", **changes: object) -> object:
    return gold_words(prepare(Document("d", text, entities, **changes), ENCODER, plan()), LABELS)


def test_entities_on_word_borders_become_rows_of_first_word_last_word_and_type() -> None:
    found = golds((Entity(7, 17, "Cell"), Entity(0, 3, "Gene")))
    assert found.rows.tolist() == [[0, 0, 1, 1], [2, 4, 0, 1]]
    assert found.cutting == found.discontinuous == found.unknown == ()


def test_types_that_share_a_span_are_all_kept_and_repetitions_are_not() -> None:
    found = golds((Entity(0, 3, "Gene"), Entity(0, 3, "Cell"), Entity(0, 3, "Gene", concepts=("C1",))))
    assert found.rows.tolist() == [[0, 0, 0, 1], [0, 0, 1, 0]]


def test_golds_are_as_likely_as_the_most_confident_of_repeated_entities_and_else_certain() -> None:
    unsure, surer = (Entity(0, 3, "Gene", confidence=confidence) for confidence in (0.25, 0.5))
    found = golds((Entity(7, 17, "Cell"), surer, unsure, Entity(0, 3, "Cell", confidence=0.0)))
    assert found.rows[:, :3].tolist() == [[0, 0, 0], [0, 0, 1], [2, 4, 0]]
    assert found.probability.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("start", "end"), [(0, 2), (1, 3), (7, 16), (3, 6), (0, 4)])
def test_an_entity_that_cuts_a_word_or_ends_in_white_space_is_listed(start: int, end: int) -> None:
    entity = Entity(start, end, "Gene")
    found = golds((entity,))
    assert found.cutting == (entity,)
    assert len(found.rows) == 0


def test_a_discontinuous_entity_is_listed() -> None:
    entity = Entity(0, 17, "Cell", fragments=((0, 3), (12, 17)))
    found = golds((entity,))
    assert found.discontinuous == (entity,)
    assert len(found.rows) == 0


def test_an_entity_of_one_fragment_is_an_ordinary_one() -> None:
    assert golds((Entity(0, 3, "Gene", fragments=((0, 3),)),)).rows.tolist() == [[0, 0, 1, 1]]


def test_an_entity_of_an_unknown_type_is_listed() -> None:
    entity = Entity(0, 3, "Disease")
    found = golds((entity,))
    assert found.unknown == (entity,)
    assert len(found.rows) == 0


def test_given_words_decide_what_cuts() -> None:
    entity = Entity(7, 11, "Cell")
    assert golds((entity,)).cutting == ()
    assert golds((entity,), words=((0, 3), (7, 17))).cutting == (entity,)


@given(texts(), st.data())
def test_every_entity_is_a_row_or_listed_once(text: str, data: st.DataObject) -> None:
    borders = st.integers(0, len(text))
    ranges = data.draw(st.lists(st.tuples(borders, borders), max_size=8))
    entities = tuple(
        Entity(min(pair), max(pair), data.draw(st.sampled_from(["Cell", "Gene", "Disease"])))
        for pair in ranges
        if pair[0] != pair[1]
    )
    found = golds(entities, text)
    words = split(text)
    expected = set()
    listed = []
    for entity in entities:
        first = [position for position, word in enumerate(words) if word[0] == entity.start]
        last = [position for position, word in enumerate(words) if word[1] == entity.end]
        if entity.type != "Disease" and first and last:
            expected.add((first[0], last[0], LABELS.find(entity.type)))
        else:
            listed.append(entity)
    assert [tuple(row[:3]) for row in found.rows.tolist()] == sorted(expected)
    assert sorted(map(repr, (*found.cutting, *found.unknown))) == sorted(map(repr, listed))


def test_the_outermost_layer_holds_no_overlap_and_leaves_nothing_free() -> None:
    rows = np.asarray([[0, 4, 1], [1, 2, 0], [4, 6, 0], [5, 6, 1], [5, 6, 0], [8, 8, 1]])
    # [4, 6] crosses [0, 4], so the spans inside it come to their own; of two types the lower id stays.
    assert outermost(rows).tolist() == [True, False, False, False, True, True]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 1)), max_size=10))
def test_outermost_entities_never_overlap_and_every_other_one_meets_one_of_them(
    drawn: list[tuple[int, int, int]],
) -> None:
    rows = np.asarray([(min(a, b), max(a, b), type_) for a, b, type_ in drawn], dtype=np.int64).reshape(-1, 3)
    mask = outermost(rows)
    words = [set(range(first, last + 1)) for first, last, _ in rows.tolist()]
    kept = [own for own, keep in zip(words, mask, strict=True) if keep]
    assert sum(map(len, kept)) == len(set().union(*kept))
    assert all(any(own & other for other in kept) for own in words)
