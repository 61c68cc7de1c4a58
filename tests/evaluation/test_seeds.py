from __future__ import annotations

import numpy as np
import pytest

from spanwright.errors import InputError
from spanwright.evaluation import (
    CriterionScores,
    Effect,
    best,
    compare_runs,
    f1_interval,
    over_seeds,
    paired_randomisation,
    together,
)

COMPARISONS = 1000
MOST = 0.05 * COMPARISONS + 3 * (0.05 * 0.95 * COMPARISONS) ** 0.5
"""Comparisons of equals that may have p < 0.05: one in twenty, and three deviations of that count."""


def made_up(
    seeds: int, luck: tuple[float, float] = (0, 0), taste: float = 0, advantage: float = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of two recipes, each `(comparisons, runs, documents, 4)`; without an advantage, of equals.

    How hard a document is, is the same for both. `luck` is the deviation of a run's quality for each recipe,
    shared by all documents of the run; `taste` that of a recipe on a document, shared by all its runs.
    """
    generator = np.random.default_rng(seeds)
    documents = (COMPARISONS, 1, 60)
    gold = generator.integers(1, 4, documents)
    hardness = generator.normal(size=documents)

    def recipe(ability: float, deviation: float) -> np.ndarray:
        own = generator.normal(scale=taste, size=documents)
        runs = generator.normal(scale=deviation, size=(COMPARISONS, seeds, 1))
        share = 1 / (1 + np.exp(hardness + own + runs - ability))
        found = generator.binomial(gold, share)
        wrong = generator.poisson(0.5 * gold * (1 - share))
        return np.stack((gold + 0 * found, found, found + wrong, found), axis=-1)

    return recipe(0.5 + advantage, luck[0]), recipe(0.5, luck[1])


def called_different(first: np.ndarray, second: np.ndarray) -> int:
    """How many of the comparisons have p < 0.05."""
    pairs = zip(first, second, strict=True)
    return sum(compare_runs(*pair, shuffles=200, seed=7).p_value < 0.05 for pair in pairs)


def effects(first: np.ndarray, second: np.ndarray) -> list[Effect]:
    """The difference in each of the comparisons."""
    pairs = zip(first, second, strict=True)
    return [Effect.of(compare_runs(*pair, shuffles=200, seed=7)) for pair in pairs]


def as_scores(counts: np.ndarray) -> CriterionScores:
    return CriterionScores("strict", {}, counts, gold_documents=len(counts), all_documents=False)


@pytest.mark.parametrize(
    ("seeds", "luck"),
    [
        (1, (0, 0)),
        (2, (0.3, 0.3)),
        (3, (0, 0)),
        (3, (0.3, 0.3)),
        (3, (0.5, 0)),
        (5, (0.3, 0.3)),
        (5, (0.5, 0)),
    ],
)
@pytest.mark.parametrize("taste", [0.0, 0.7])
def test_recipes_that_are_equally_good_are_seldom_called_different(
    seeds: int, luck: tuple[float, float], taste: float
) -> None:
    assert called_different(*made_up(seeds, luck, taste)) <= MOST


@pytest.mark.parametrize(("luck", "taste"), [((0, 0), 0.0), ((0.3, 0.3), 0.0), ((0.5, 0), 0.7)])
def test_recipes_that_are_equally_good_on_several_corpora_are_seldom_called_different(
    luck: tuple[float, float], taste: float
) -> None:
    """A quarter of the comparisons stand for each of four corpora; by p, and by the interval of a verdict."""
    found = effects(*made_up(3, luck, taste))
    corpora = COMPARISONS // 4
    verdicts = [together(found[first::corpora]) for first in range(corpora)]
    most = 0.05 * corpora + 3 * (0.05 * 0.95 * corpora) ** 0.5
    assert sum(each.p_value < 0.05 for each in verdicts) <= most
    assert sum(each.low > 0 or each.high < 0 for each in verdicts) <= most


def test_recipes_that_differ_a_little_are_told_apart_on_several_corpora_together() -> None:
    found = effects(*made_up(3, (0.1, 0.1), advantage=0.5))
    corpora = COMPARISONS // 4
    alone = sum(each.low > 0 for each in found) / COMPARISONS
    joined = sum(together(found[first::corpora]).low > 0 for first in range(corpora)) / corpora
    assert alone + 0.2 < joined


def test_one_of_equals_is_seldom_called_the_best_or_worse_than_another() -> None:
    """A quarter of the comparisons stand for each of four rivals."""
    found = effects(*made_up(3, (0.3, 0.3)))
    rivals = COMPARISONS // 4
    verdicts = [best(found[first::rivals]) for first in range(rivals)]
    assert (
        sum(each.low > 0 or each.high < 0 for each in verdicts) <= 0.05 * rivals + 3 * (0.05 * rivals) ** 0.5
    )


def test_the_made_up_luck_of_seeds_would_deceive_a_test_of_documents_alone() -> None:
    """Otherwise the test above could not fail."""
    runs = made_up(3, (0.3, 0.3))
    alone = (each.sum(axis=1, keepdims=True) for each in runs)
    assert called_different(*alone) > 2 * MOST


def test_equally_good_models_are_called_different_about_one_time_in_twenty() -> None:
    assert 0.6 * 0.05 * COMPARISONS < called_different(*made_up(1)) <= MOST


@pytest.mark.parametrize("copies", [3, 5])
def test_copies_of_a_run_give_the_p_value_of_one(copies: int) -> None:
    first, second = (runs[:20] for runs in made_up(1, taste=0.7))
    for one, other in zip(first, second, strict=True):
        expected = compare_runs(one, other)
        assert expected == paired_randomisation(as_scores(one[0]), as_scores(other[0]))
        found = compare_runs(one.repeat(copies, axis=0), other.repeat(copies, axis=0))
        assert found.p_value == expected.p_value


def test_a_clear_difference_of_recipes_is_found_in_spite_of_luck() -> None:
    assert called_different(*made_up(3, (0.1, 0.1), advantage=1.2)) > 0.9 * COMPARISONS


def test_more_seeds_find_a_difference_more_often() -> None:
    found = [called_different(*made_up(seeds, (0.2, 0.2), advantage=0.6)) for seeds in (2, 3, 5)]
    assert found[0] + 100 < found[1] < found[2] - 100 and found[2] > COMPARISONS / 2


def test_recipes_may_have_unequally_many_runs() -> None:
    first, second = (runs[0] for runs in made_up(5, (0.3, 0.3)))
    several, one = compare_runs(first, second[:3]), compare_runs(first, second[:1])
    assert 0 < several.p_value <= 1
    # A single run says nothing about other seeds, so only documents count.
    mean = first.sum(axis=0, keepdims=True)
    assert one.p_value == compare_runs(mean, 5 * second[:1]).p_value


def test_runs_on_different_gold_documents_are_not_compared() -> None:
    first, second = (runs[0] for runs in made_up(2))
    with pytest.raises(InputError, match="gold entities of 60 and 59 documents differ"):
        compare_runs(first, second[:, 1:])
    with pytest.raises(InputError, match="expected counts of the same gold documents"):
        compare_runs(first, second[:, ::-1])


def test_mean_and_deviation_over_seeds() -> None:
    spread = over_seeds([0.8, 0.9, 0.7])
    assert (spread.mean, spread.deviation, spread.runs) == (pytest.approx(0.8), pytest.approx(0.1), 3)


def test_a_single_run_has_no_deviation() -> None:
    assert over_seeds([0.8]).deviation is None
    with pytest.raises(InputError, match="found none"):
        over_seeds([])


def test_an_interval_holds_the_mean_and_shrinks_with_documents() -> None:
    generator = np.random.default_rng(0)
    widths = []
    for documents in (20, 2000):
        found = generator.binomial(10, 0.8, (3, documents))
        counts = np.stack([np.full_like(found, 10), found, np.full_like(found, 10), found], axis=2)
        interval = f1_interval(counts)
        assert interval.low < interval.value < interval.high
        assert interval.value == pytest.approx(found.sum(1).mean() / (10 * documents))
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 3


def test_an_interval_knows_of_the_luck_of_seeds() -> None:
    counts = np.zeros((2, 1000, 4), dtype=np.int64)
    counts[:, :, 0] = counts[:, :, 2] = 10
    counts[0, :, (1, 3)], counts[1, :, (1, 3)] = 9, 5
    interval = f1_interval(counts)
    assert (interval.low, interval.value, interval.high) == pytest.approx((0.5, 0.7, 0.9))
