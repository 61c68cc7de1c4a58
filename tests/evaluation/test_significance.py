from __future__ import annotations

from collections.abc import Callable
from math import comb
from statistics import NormalDist

import numpy as np
import pytest

from spanwright.errors import InputError
from spanwright.evaluation import (
    CriterionScores,
    Difference,
    compare_documents,
    confidence_intervals,
    paired_bootstrap,
    paired_randomisation,
    score,
)
from spanwright.evaluation.significance import _portions
from spanwright.text import Document, Entity

Test = Callable[..., Difference]
TESTS: tuple[Test, ...] = (paired_bootstrap, paired_randomisation)


def one_entity_each(correct: np.ndarray) -> CriterionScores:
    """Documents with one gold and one predicted entity, so that F1 is the share of correct ones."""
    rows = np.ones((len(correct), 4), np.int64)
    rows[:, 1] = rows[:, 3] = correct
    return CriterionScores("strict", {}, rows, gold_documents=len(rows), all_documents=False)


def test_the_interval_is_that_of_a_share() -> None:
    correct = np.arange(1000) < 700
    intervals = confidence_intervals(one_entity_each(correct), resamples=4000)
    margin = NormalDist().inv_cdf(0.975) * (0.7 * 0.3 / 1000) ** 0.5
    for interval in intervals.values():
        assert interval.value == pytest.approx(0.7)
        assert (interval.low, interval.high) == pytest.approx((0.7 - margin, 0.7 + margin), abs=0.003)


def test_the_interval_holds_the_true_value_as_often_as_its_level_says() -> None:
    generator = np.random.default_rng(2)
    samples = generator.random((400, 120)) < 0.6
    intervals = [
        confidence_intervals(one_entity_each(sample), level=0.9, resamples=300)["f1"] for sample in samples
    ]
    coverage = np.mean([interval.low <= 0.6 <= interval.high for interval in intervals])
    # 0.9, give or take three standard errors of 400 samples and the bias of the percentile interval.
    assert 0.84 <= coverage <= 0.95


def test_a_higher_level_gives_a_wider_interval() -> None:
    scores = one_entity_each(np.arange(100) % 3 > 0)
    narrow, wide = (confidence_intervals(scores, level=level)["f1"] for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize("level", [0, 1, 95])
def test_an_impossible_level_is_an_error(level: float) -> None:
    with pytest.raises(InputError, match=f"found {level}; expected 0 < level < 1"):
        confidence_intervals(one_entity_each(np.ones(3)), level=level)


def test_precision_and_recall_have_their_own_intervals() -> None:
    rows = np.tile([4, 2, 1, 1], (30, 1))
    intervals = confidence_intervals(CriterionScores("loose", {}, rows, 30, False))
    assert (intervals["precision"].value, intervals["recall"].value) == (1.0, 0.5)
    assert intervals["f1"].value == pytest.approx(2 / 3)
    assert intervals["recall"].low == intervals["recall"].high == 0.5


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_do_not_differ(test: Test) -> None:
    scores = one_entity_each(np.arange(50) % 3 > 0)
    difference = test(scores, scores)
    assert (difference.p_value, difference.difference) == (1.0, 0.0)


@pytest.mark.parametrize("test", TESTS)
def test_a_clear_difference_is_significant_in_both_directions(test: Test) -> None:
    generator = np.random.default_rng(1)
    good, bad = (one_entity_each(generator.random(200) < share) for share in (0.8, 0.5))
    assert test(good, bad).difference > 0.2 > -0.2 > test(bad, good).difference
    assert test(good, bad).p_value < 0.01
    assert test(bad, good).p_value < 0.01


@pytest.mark.parametrize(("wins", "losses"), [(12, 4), (20, 14), (3, 3)])
def test_randomisation_of_single_entities_is_the_sign_test(wins: int, losses: int) -> None:
    first = np.repeat([1, 1, 0, 0], [30, wins, losses, 9])
    second = np.repeat([1, 0, 1, 0], [30, wins, losses, 9])
    found = paired_randomisation(one_entity_each(first), one_entity_each(second), shuffles=20_000)
    swaps = wins + losses
    as_much = sum(
        comb(swaps, heads) for heads in range(swaps + 1) if abs(2 * heads - swaps) >= abs(wins - losses)
    )
    assert found.p_value == pytest.approx(as_much / 2**swaps, abs=0.012)


def test_the_paired_bootstrap_of_single_entities_is_near_the_normal_test() -> None:
    first = np.repeat([1, 1, 0, 0], [400, 70, 45, 100])
    second = np.repeat([1, 0, 1, 0], [400, 70, 45, 100])
    found = paired_bootstrap(one_entity_each(first), one_entity_each(second), resamples=10_000)
    change = first - second
    expected = 2 * NormalDist().cdf(-abs(change.mean()) / (change.std() / len(change) ** 0.5))
    assert found.p_value == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("test", TESTS)
def test_systems_of_equal_quality_are_seldom_called_different(test: Test) -> None:
    generator = np.random.default_rng(3)
    p_values = [
        test(*(one_entity_each(generator.random(60) < 0.7) for _ in range(2)), seed=seed).p_value
        for seed in range(150)
    ]
    assert np.mean(np.array(p_values) < 0.05) < 0.11
    assert np.mean(np.array(p_values) < 0.5) > 0.3


@pytest.mark.parametrize("test", TESTS)
def test_the_same_seed_gives_the_same_answer(test: Test) -> None:
    generator = np.random.default_rng(4)
    first, second = (one_entity_each(generator.random(80) < share) for share in (0.7, 0.6))
    assert test(first, second, seed=1) == test(first, second, seed=1)
    assert test(first, second, seed=1).p_value != test(first, second, seed=2).p_value


def test_documents_that_gold_lacks_count_against_the_system_that_has_them() -> None:
    entity, text = Entity(0, 1, "Letter"), "abc"
    gold = [Document(str(number), text, (entity,)) for number in range(20)]
    extra = [Document(str(number), text, (entity,)) for number in range(20, 40)]
    exact, noisy = (score(compare_documents(gold, predicted)) for predicted in (gold, gold + extra))
    for test in TESTS:
        found = test(exact, noisy)
        assert (found.first, found.second) == pytest.approx((1.0, 2 / 3))
        assert found.p_value < 0.01


def test_scores_against_different_gold_documents_are_not_compared() -> None:
    rows = one_entity_each(np.ones(5)).per_document
    with pytest.raises(InputError, match="gold entities of 5 and 4 documents differ"):
        paired_bootstrap(one_entity_each(np.ones(5)), one_entity_each(np.ones(4)))
    other = CriterionScores("strict", {}, rows * 2, 5, False)
    with pytest.raises(InputError, match="expected scores of two predictions against the same gold"):
        paired_randomisation(one_entity_each(np.ones(5)), other)


def test_draws_are_split_so_that_they_fit_in_memory() -> None:
    assert list(_portions(2000, 1_000_000)) == [4] * 500
    assert list(_portions(5, 1_500_000)) == [2, 2, 1]
