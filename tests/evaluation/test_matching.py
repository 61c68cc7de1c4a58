from __future__ import annotations

import time
from dataclasses import replace

import pytest

from spanwright.errors import InputError
from spanwright.evaluation import Pairing, pair_documents
from spanwright.text import Document, Entity


def ids(pairing: Pairing) -> list[tuple[str | None, str | None]]:
    return [
        (pair.gold.id if pair.gold else None, pair.predicted.id if pair.predicted else None)
        for pair in pairing.pairs
    ]


def made_up(id: str, text: str, *entities: Entity) -> Document:
    """A document whose reader had to invent the id."""
    return Document(id, text, entities, generated_id=True)


def test_documents_are_paired_by_id_in_the_order_of_gold() -> None:
    first, second = Document("1", "Alpha"), Document("2", "Beta")
    assert ids(pair_documents([first, second], [second, first])) == [("1", "1"), ("2", "2")]


def test_documents_of_one_side_only_are_kept_without_a_partner() -> None:
    both, left, right = Document("1", "Alpha"), Document("2", "Beta"), Document("3", "Gamma")
    assert ids(pair_documents([both, left], [right, both])) == [("1", "1"), ("2", None), (None, "3")]


def test_an_empty_prediction_leaves_every_gold_document_without_a_partner() -> None:
    assert ids(pair_documents([Document("1", "Alpha")], [])) == [("1", None)]


def test_without_gold_documents_there_is_nothing_to_score() -> None:
    with pytest.raises(InputError, match="gold: no documents"):
        pair_documents([], [Document("1", "Alpha")])


def test_documents_are_paired_by_text_when_no_id_is_shared() -> None:
    gold = [Document("a", "Alpha"), Document("b", "Beta")]
    pairing = pair_documents(gold, [Document("x", "Beta"), Document("y", "Alpha")])
    assert ids(pairing) == [("a", "y"), ("b", "x")]
    assert pairing.notes == (
        "documents paired by their text, as gold and prediction share no id for them: 2",
    )


def test_documents_are_paired_by_text_even_if_it_differs_in_white_space() -> None:
    pairing = pair_documents([Document("a", "p53-null  mice.")], [made_up("x", "p53 - null mice .")])
    assert ids(pairing) == [("a", "x")]
    assert pairing.pairs[0].blank_free


def test_equal_text_does_not_pair_documents_with_different_ids_where_other_ids_are_shared() -> None:
    gold = [Document("1", "Alpha"), Document("2", "Beta")]
    pairing = pair_documents(gold, [Document("1", "Alpha"), Document("3", "Beta")])
    assert ids(pairing) == [("1", "1"), ("2", None), (None, "3")]


def test_an_id_made_up_by_a_reader_pairs_nothing() -> None:
    gold = [made_up("test:1", "Alpha"), made_up("test:2", "Beta")]
    pairing = pair_documents(gold, [made_up("test:1", "Beta")])
    assert ids(pairing) == [("test:1", None), ("test:2", "test:1")]


@pytest.mark.parametrize("made_up_side", ["gold", "predicted", "both"])
def test_a_document_without_its_own_id_is_paired_by_text_beside_shared_ids(made_up_side: str) -> None:
    shared = Document("1", "Alpha")
    gold = Document("2", "Beta", generated_id=made_up_side != "predicted")
    predicted = Document("3", "Beta", generated_id=made_up_side != "gold")
    assert ids(pair_documents([shared, gold], [predicted, shared])) == [("1", "1"), ("2", "3")]


def test_copies_of_a_text_prefer_the_same_id_even_if_it_is_made_up() -> None:
    gold = [made_up("f:1", "Same ."), made_up("f:2", "Same ."), made_up("f:3", "Same .")]
    pairing = pair_documents(gold, [Document("f:3", "Same ."), Document("f:2", "Same .")])
    assert ids(pairing) == [("f:1", None), ("f:2", "f:2"), ("f:3", "f:3")]


def test_a_document_and_its_own_prediction_are_paired_without_a_note_even_if_the_id_is_made_up() -> None:
    assert pair_documents([made_up("f:1", "Alpha")], [made_up("f:1", "Alpha")]).notes == ()


def test_copies_of_a_text_are_paired_in_order() -> None:
    gold = [made_up("f:1", "Same ."), made_up("f:2", "Same .")]
    pairing = pair_documents(gold, [made_up("g:1", "Same ."), made_up("g:2", "Same .")])
    assert ids(pairing) == [("f:1", "g:1"), ("f:2", "g:2")]


def test_the_exact_text_is_preferred_to_one_with_other_white_space() -> None:
    gold = [made_up("f:1", "in vitro"), made_up("f:2", "invitro")]
    pairing = pair_documents(gold, [made_up("g:1", "invitro"), made_up("g:2", "in vitro")])
    assert ids(pairing) == [("f:1", "g:2"), ("f:2", "g:1")]


def test_many_copies_of_a_text_are_paired_in_linear_time() -> None:
    copies = 30_000
    gold = [made_up(f"f:{number}", "Same .") for number in range(copies)]
    predicted = [made_up(f"g:{number}", "Same .") for number in range(copies)]
    begin = time.perf_counter()
    pairing = pair_documents(gold, predicted)
    # Half a second when each copy takes the next one waiting, minutes when it looks at all of them.
    assert time.perf_counter() - begin < 10
    assert ids(pairing)[-1] == (f"f:{copies - 1}", f"g:{copies - 1}")


def test_nothing_in_common_is_an_error_that_shows_both_sides() -> None:
    with pytest.raises(InputError, match=r"gold begins with 'a', 'Alpha', the prediction with 'x', 'Beta'"):
        pair_documents([Document("a", "Alpha")], [Document("x", "Beta")])


def test_a_repeated_document_is_pooled_with_the_first() -> None:
    first, second = Entity(0, 5, "Greek"), Entity(6, 10, "Greek")
    text = "Alpha Beta"
    gold = [Document("1", text, (first,)), Document("2", "Gamma"), Document("1", text, (first, second))]
    pairing = pair_documents(gold, [Document("1", text)])
    assert ids(pairing) == [("1", "1"), ("2", None)]
    assert pairing.pairs[0].gold_keys() == [first.key, first.key, second.key]
    assert pairing.notes == (
        "gold: documents that repeat the id and text of an earlier one: 1; their entities were pooled",
    )


def test_documents_with_made_up_ids_are_never_pooled() -> None:
    gold = [made_up("same", "Alpha"), made_up("same", "Alpha")]
    assert len(pair_documents(gold, gold).pairs) == 2


def test_passages_that_share_an_id_are_told_apart_by_their_text() -> None:
    first, second = Document("1", "Alpha"), Document("1", "Beta", (Entity(0, 4, "Greek"),))
    pairing = pair_documents([first, second], [second, first])
    assert [(pair.gold, pair.predicted) for pair in pairing.pairs] == [(first, first), (second, second)]


def test_a_passage_that_the_prediction_lacks_is_not_taken_for_another_one_of_its_id() -> None:
    first, second = Document("1", "Alpha"), Document("1", "Beta")
    pairing = pair_documents([first, second], [second])
    assert [pair.predicted for pair in pairing.pairs] == [None, second]


@pytest.mark.parametrize(
    ("gold", "predicted", "where"),
    [
        ("a b c", "a  b d", r"gold has 'c' at character 4 and the prediction has 'd' at character 5"),
        ("a b", "a b c", r"gold has the end of the text at character 3 .* has 'c' at character 4"),
        ("a b c", "a b", r"gold has 'c' at character 4 and .* has the end of the text at character 3"),
    ],
)
def test_different_texts_are_an_error_that_names_the_first_difference(
    gold: str, predicted: str, where: str
) -> None:
    with pytest.raises(InputError, match=rf"document '1': the texts differ, {where}"):
        pair_documents([Document("1", gold)], [Document("1", predicted)])


def test_equal_texts_are_compared_in_their_own_offsets() -> None:
    document = Document("1", "one two", (Entity(4, 7, "Number"),))
    (pair,) = pair_documents([document], [document]).pairs
    assert pair.gold_keys() == pair.predicted_keys() == [(((4, 7),), "Number")]
    assert not pair.blank_free


def test_texts_that_differ_in_white_space_are_compared_without_it() -> None:
    gold = Document("1", "p53-null\n mice.", (Entity(0, 8, "Strain"), Entity(10, 14, "Species")))
    joined = Document("1", "p53 - null mice .", (Entity(0, 10, "Strain"), Entity(11, 15, "Species")))
    pairing = pair_documents([gold], [joined])
    (pair,) = pairing.pairs
    assert pair.gold_keys() == pair.predicted_keys() == [(((0, 8),), "Strain"), (((8, 12),), "Species")]
    assert "without counting white space" in pairing.notes[0]


def test_every_kind_of_white_space_may_differ() -> None:
    gold = Document("1", "a\u00a0b\u2003c\u3000d\x1ce", (Entity(8, 9, "Letter"),))
    (pair,) = pair_documents([gold], [Document("1", "a b c d e", (Entity(8, 9, "Letter"),))]).pairs
    assert pair.gold_keys() == pair.predicted_keys() == [(((4, 5),), "Letter")]


def test_a_zero_width_space_is_a_character_like_any_other() -> None:
    with pytest.raises(InputError, match="the texts differ"):
        pair_documents([Document("1", "a\u200bb")], [Document("1", "a b")])


def test_without_white_space_a_mention_cut_at_a_line_break_is_in_one_piece() -> None:
    cut = Document("1", "lung\ncancer", (Entity(0, 11, "Disease", fragments=((0, 4), (5, 11))),))
    whole = Document("1", "lung cancer", (Entity(0, 11, "Disease"),))
    (pair,) = pair_documents([cut], [whole]).pairs
    assert pair.gold_keys() == pair.predicted_keys() == [(((0, 10),), "Disease")]


def test_without_white_space_a_gap_of_other_characters_stays_a_gap() -> None:
    cut = Document("1", "lung or\nskin cancer", (Entity(0, 19, "Disease", fragments=((0, 4), (13, 19))),))
    whole = replace(cut, text="lung or skin cancer", entities=(Entity(0, 19, "Disease"),))
    (pair,) = pair_documents([cut], [whole]).pairs
    assert pair.gold_keys() == [(((0, 4), (10, 16)), "Disease")]
    assert pair.predicted_keys() == [(((0, 16),), "Disease")]
