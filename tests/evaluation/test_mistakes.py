from __future__ import annotations

import json

import pytest
from hypothesis import given
from nested_documents import overlap, two_sides

from spanwright.errors import InputError
from spanwright.evaluation import Example, Mistakes, compare_documents, find_confusions, find_mistakes, score
from spanwright.evaluation.mistakes import GOLD_KINDS, PREDICTION_KINDS
from spanwright.text import Document, Entity

Sides = tuple[list[Document], list[Document]]
TEXT = "x" * 40


def document(*entities: Entity, id: str = "1") -> Document:
    return Document(id, TEXT, entities)


def mistakes_of(gold: Document, predicted: Document) -> Mistakes:
    return find_mistakes(compare_documents([gold], [predicted]))


@given(two_sides())
def test_kinds_partition_the_false_positives_and_the_false_negatives(sides: Sides) -> None:
    comparison = compare_documents(*sides)
    counts, micro = find_mistakes(comparison).counts, score(comparison).micro
    assert sum(counts[kind] for kind in PREDICTION_KINDS) == micro.predicted - micro.correct
    assert sum(counts[kind] for kind in GOLD_KINDS) == micro.gold - micro.found


def naive_kind(entity: Entity, golds: tuple[Entity, ...]) -> str:
    touching = [gold for gold in golds if overlap(entity, gold)]
    if any(gold.ranges == entity.ranges for gold in golds):
        return "type"
    if any(gold.type == entity.type for gold in touching):
        return "boundary"
    return "both" if touching else "spurious"


@given(two_sides())
def test_kinds_equal_a_loop_over_all_pairs(sides: Sides) -> None:
    expected: dict[str, int] = dict.fromkeys((*PREDICTION_KINDS, *GOLD_KINDS), 0)
    for gold, predicted in zip(*sides, strict=True):
        golds, predictions = ({one.key: one for one in side.entities} for side in (gold, predicted))
        for key in predictions.keys() - golds.keys():
            expected[naive_kind(predictions[key], gold.entities)] += 1
        for key in golds.keys() - predictions.keys():
            hit = any(overlap(golds[key], one) for one in predicted.entities)
            expected["overlapped" if hit else "missed"] += 1
    assert find_mistakes(compare_documents(*sides)).counts == expected


@given(two_sides())
def test_every_number_has_its_examples(sides: Sides) -> None:
    mistakes = find_mistakes(compare_documents(*sides))
    by_id = [{one.id: one for one in side} for side in sides]
    for kind, count in mistakes.counts.items():
        examples = list(mistakes.examples(kind))
        assert len(examples) == count
        for example in examples:
            assert example.kind == kind
            assert example.gold is None or example.gold in by_id[0][example.document].entities
            assert example.predicted is None or example.predicted in by_id[1][example.document].entities


@given(two_sides())
def test_the_two_entities_of_an_example_show_the_mistake(sides: Sides) -> None:
    mistakes = find_mistakes(compare_documents(*sides))
    for example in mistakes.examples("type"):
        assert example.gold and example.predicted
        assert example.gold.ranges == example.predicted.ranges
        assert example.gold.type != example.predicted.type
    for example in mistakes.examples("boundary"):
        assert example.gold and example.predicted and overlap(example.gold, example.predicted)
        assert example.gold.type == example.predicted.type
    for example in (*mistakes.examples("both"), *mistakes.examples("overlapped")):
        assert example.gold and example.predicted and overlap(example.gold, example.predicted)
    assert all(example.gold is None for example in mistakes.examples("spurious"))
    assert all(example.predicted is None for example in mistakes.examples("missed"))


def test_the_example_of_a_wrong_boundary_is_the_nearest_gold_entity() -> None:
    wide, near = Entity(0, 20, "DNA"), Entity(4, 9, "DNA")
    predicted = Entity(4, 10, "DNA")
    assert list(mistakes_of(document(wide, near), document(predicted)).examples("boundary")) == [
        Example("boundary", "1", near, predicted)
    ]


def test_the_example_of_a_wrong_type_is_a_gold_entity_that_was_not_found() -> None:
    found, missed = Entity(0, 2, "DNA"), Entity(0, 2, "RNA")
    wrong = Entity(0, 2, "cell")
    mistakes = mistakes_of(document(found, missed), document(found, wrong))
    assert list(mistakes.examples("type")) == [Example("type", "1", missed, wrong)]


def test_rates_are_shares_of_all_mistakes() -> None:
    gold = document(Entity(0, 2, "DNA"), Entity(5, 9, "DNA"), Entity(20, 22, "DNA"))
    predicted = document(
        Entity(0, 2, "RNA"), Entity(5, 8, "DNA"), Entity(30, 31, "DNA"), Entity(21, 22, "RNA")
    )
    mistakes = mistakes_of(gold, predicted)
    assert mistakes.counts == {
        "type": 1,
        "boundary": 1,
        "both": 1,
        "spurious": 1,
        "overlapped": 3,
        "missed": 0,
    }
    assert mistakes.rates["boundary"] == 1 / 7
    assert mistakes.rates["any boundary"] == 2 / 7
    assert mistakes.category_and_span == {
        "category": {"count": 1, "share_of_wrong": 0.25, "share_of_predicted": 0.25},
        "span": {"count": 3, "share_of_wrong": 0.75, "share_of_predicted": 0.75},
    }


def test_without_mistakes_rates_are_zero() -> None:
    mistakes = mistakes_of(document(Entity(0, 2, "DNA")), document(Entity(0, 2, "DNA")))
    assert set(mistakes.rates.values()) == {0.0}
    assert json.loads(json.dumps(mistakes.to_dict()))["counts"]["missed"] == 0


def test_mistakes_name_the_document_that_gold_lacks() -> None:
    entity = Entity(0, 2, "DNA")
    comparison = compare_documents([document(id="1")], [document(id="1"), document(entity, id="9")])
    assert list(find_mistakes(comparison).examples("spurious")) == [Example("spurious", "9", None, entity)]


@given(two_sides())
def test_rows_and_columns_of_the_confusion_matrix_are_the_entities_of_each_type(sides: Sides) -> None:
    comparison = compare_documents(*sides)
    matrix = find_confusions(comparison).matrix
    per_type = score(comparison).per_type.values()
    assert matrix[:-1].sum(axis=1).tolist() == [each.gold for each in per_type]
    assert matrix[:, :-1].sum(axis=0).tolist() == [each.predicted for each in per_type]
    assert matrix.diagonal()[:-1].tolist() == [each.found for each in per_type]
    assert matrix[-1, -1] == 0


def test_types_left_on_a_span_stand_opposite_each_other() -> None:
    gold = document(Entity(0, 2, "a"), Entity(0, 2, "b"), Entity(0, 2, "c"), Entity(5, 6, "a"))
    predicted = document(Entity(0, 2, "c"), Entity(0, 2, "d"), Entity(8, 9, "d"))
    confusion = find_confusions(compare_documents([gold], [predicted]))
    #       a  b  c  d  none predicted
    assert confusion.to_dict() == {
        "types": ["a", "b", "c", "d"],
        "gold_by_predicted": [
            [0, 0, 0, 1, 1],
            [0, 0, 0, 0, 1],
            [0, 0, 1, 0, 0],
            [0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0],
        ],
    }
    assert list(confusion.examples("a", "d")) == [
        Example("a as d", "1", Entity(0, 2, "a"), Entity(0, 2, "d"))
    ]
    assert list(confusion.examples(None, "d")) == [Example("none as d", "1", None, Entity(8, 9, "d"))]
    assert [example.gold for example in confusion.examples("a", None)] == [Entity(5, 6, "a")]


def test_a_type_that_no_entity_has_is_no_row_of_the_matrix() -> None:
    confusion = find_confusions(compare_documents([document(Entity(0, 2, "a"))], []))
    with pytest.raises(InputError, match=r"no entity has type 'z'; expected None .* 'a'"):
        confusion.examples("z", None)
