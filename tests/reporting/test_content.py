from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_making import content_of, damaged

import making
from spanwright.errors import InputError
from spanwright.evaluation import (
    CRITERIA,
    break_down,
    compare_documents,
    confidence_intervals,
    evaluate,
    expected_calibration_error,
    find_mistakes,
    paired_randomisation,
    score,
)
from spanwright.reporting import System, gather
from spanwright.text import Document, Entity

GOLD = making.documents(40)
FIRST = damaged(GOLD, seed=1)
SECOND = damaged(GOLD, seed=2, share=0.5)
TRAINING = making.documents(30, prefix="train")


def test_the_scores_are_those_of_evaluation() -> None:
    content = content_of(GOLD, FIRST, SECOND)
    for system, predicted in zip(content.systems, (FIRST, SECOND), strict=True):
        comparison = compare_documents(GOLD, predicted)
        assert system.scores == evaluate(GOLD, predicted)
        for criterion in CRITERIA:
            assert system.by_criterion[criterion].per_type == score(comparison, criterion).per_type
        assert system.intervals == confidence_intervals(score(comparison))
        assert system.mistakes.counts == find_mistakes(comparison).counts


def test_breakdowns_are_those_of_evaluation_with_and_without_training_documents() -> None:
    systems = [System(name="first", documents=FIRST)]
    comparison = compare_documents(GOLD, FIRST)
    for training in (None, TRAINING):
        found = gather(GOLD, systems, training=training).systems[0].breakdowns
        assert found == break_down(comparison, training)
    assert "mention" in found.attributes


def test_the_buckets_of_every_attribute_add_up_to_all_entities() -> None:
    system = gather(GOLD, [System(name="first", documents=FIRST)], training=TRAINING).systems[0]
    assert len(system.breakdowns.attributes) == 9
    for buckets in system.breakdowns.attributes.values():
        assert sum(found.gold for found in buckets.values()) == system.scores.micro.gold
        assert sum(found.predicted for found in buckets.values()) == system.scores.micro.predicted
        assert sum(found.correct for found in buckets.values()) == system.scores.micro.true_positives


def test_the_confusion_matrix_holds_every_entity_once() -> None:
    system = content_of(GOLD, FIRST).systems[0]
    matrix = system.confusion.matrix
    assert matrix[:-1].sum() == system.scores.micro.gold
    assert matrix[:, :-1].sum() == system.scores.micro.predicted
    assert np.trace(matrix) == system.scores.micro.true_positives


def test_every_two_systems_are_compared() -> None:
    content = content_of(GOLD, FIRST, SECOND, GOLD)
    assert [(each.first, each.second) for each in content.differences] == [("A", "B"), ("A", "C"), ("B", "C")]
    scores = [score(compare_documents(GOLD, predicted)) for predicted in (FIRST, SECOND)]
    assert content.differences[0].difference == paired_randomisation(*scores)


def test_one_system_is_compared_with_none() -> None:
    assert content_of(GOLD, FIRST).differences == ()


def test_reliability_is_that_of_the_confidences() -> None:
    system = content_of(GOLD, FIRST).systems[0]
    assert system.reliability is not None
    predicted = system.comparison.predicted
    confidence = [entity.confidence for entity in predicted.entities]
    error = expected_calibration_error(np.array(confidence), predicted.matched)
    assert system.reliability.expected_calibration_error == error > 0
    assert sum(each.count for each in system.reliability.bins) == len(confidence)


@pytest.mark.parametrize(
    ("confidences", "reason"),
    [
        ((None, None), "no prediction has a confidence"),
        ((0.5, None), "only 1 of 2 predictions have a confidence"),
        ((0.5, 17.0), "not all confidences are between 0 and 1"),
        ((0.5, float("nan")), "not all confidences are between 0 and 1"),
    ],
)
def test_without_usable_confidences_the_reason_is_told(
    confidences: tuple[float | None, ...], reason: str
) -> None:
    entities = (Entity(0, 3, "Gene"), Entity(4, 7, "Gene"))
    predicted = tuple(
        replace(entity, confidence=value) for entity, value in zip(entities, confidences, strict=True)
    )
    documents = [Document("1", "p53 p63", predicted)]
    system = content_of([Document("1", "p53 p63", entities)], documents).systems[0]
    assert (system.reliability, system.reliability_note) == (None, reason)


def test_types_are_sorted_by_their_gold_entities_and_include_those_only_predicted() -> None:
    text = "a b c d"
    gold = [Document("1", text, (Entity(0, 1, "rare"), Entity(2, 3, "often"), Entity(4, 5, "often")))]
    predicted = [Document("1", text, (Entity(6, 7, "invented"),))]
    assert content_of(gold, gold, predicted).types == ("often", "rare", "invented")


def test_a_system_that_predicts_nothing_scores_zero() -> None:
    system = content_of(GOLD, []).systems[0]
    assert system.scores.micro.f1 == 0
    assert system.mistakes.counts["missed"] == system.scores.micro.gold


def test_two_systems_of_the_same_name_are_refused() -> None:
    systems = [System(name="same", documents=FIRST), System(name="same", documents=SECOND)]
    with pytest.raises(InputError, match="several systems are called 'same'"):
        gather(GOLD, systems)


@pytest.mark.parametrize("number", [0, 13])
def test_a_number_of_systems_that_does_not_fit_is_refused(number: int) -> None:
    systems = [System(name=str(position), documents=FIRST) for position in range(number)]
    with pytest.raises(InputError, match=f"found {number} systems; expected 1 to 12"):
        gather(GOLD, systems)
