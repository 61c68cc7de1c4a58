from __future__ import annotations

from itertools import permutations
from math import sqrt
from statistics import fmean

import numpy as np
import pytest

from spanwright.errors import InputError
from spanwright.evaluation import Effect, best, correlation, mean_slope, over_runs, slope, together


def of(value: float, margin: float) -> Effect:
    return Effect.within(value, margin, 0.5)


def test_one_corpus_is_all_there_is() -> None:
    assert together([of(0.3, 0.1)]) == of(0.3, 0.1)


def test_several_corpora_have_the_mean_and_a_narrower_interval() -> None:
    found = together([of(1.0, 3.0), of(3.0, 4.0)])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2 - 2.5, 2 + 2.5))
    # 2 / 2.5 of 1.96 deviations.
    assert found.p_value == pytest.approx(0.1168, abs=1e-3)


def test_the_interval_of_several_corpora_is_that_of_many_draws() -> None:
    generator = np.random.default_rng(1)
    drawn = np.mean(
        [generator.normal(value, margin / 1.96, 200_000) for value, margin in ((1, 2), (0, 5))], 0
    )
    found = together([of(1, 2), of(0, 5)])
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.03)


def test_equal_answers_everywhere_are_no_difference() -> None:
    same = Effect(0.0, 0.0, 0.0, 1.0)
    assert together([same, same]) == same


def test_the_best_is_held_against_its_strongest_rival() -> None:
    found = best([of(2.0, 0.5), of(1.0, 0.2)])
    wider = 2.2414 / 1.9600
    assert (found.value, found.low, found.high) == pytest.approx(
        (1.0, 1 - 0.2 * wider, 1 + 0.2 * wider), abs=1e-3
    )


def test_a_rival_that_nobody_is_sure_of_may_be_the_better_one() -> None:
    """The second rival looks weaker, but its interval reaches further down."""
    found = best([of(1.0, 0.2), of(2.0, 3.0)])
    assert found.value == 1.0 and found.low < -1


def test_of_one_rival_the_best_is_a_difference() -> None:
    found, expected = best([of(0.4, 0.3)]), of(0.4, 0.3)
    assert (found.low, found.high, found.p_value) == pytest.approx(
        (expected.low, expected.high, expected.p_value)
    )


def test_p_of_the_best_counts_every_rival() -> None:
    sure, unsure = Effect(2.0, 1.0, 3.0, 0.001), Effect(1.0, 0.1, 1.9, 0.04)
    assert best([sure, unsure]).p_value == pytest.approx(0.08)
    assert best([sure.reversed, unsure]).p_value == pytest.approx(0.002)
    assert best([unsure.reversed] * 30).p_value == 1.0


def naive_t_interval(first: list[float], second: list[float], quantile: float) -> tuple[float, float]:
    """Welch's interval with the quantile of Student's t from a table."""
    variances = [
        sum((x - fmean(side)) ** 2 for x in side) / (len(side) - 1) / len(side) for side in (first, second)
    ]
    difference, deviation = fmean(first) - fmean(second), sqrt(sum(variances))
    return difference - quantile * deviation, difference + quantile * deviation


def test_numbers_of_runs_are_compared_by_the_t_test_of_welch() -> None:
    # Equal variances and sizes: 4 degrees of freedom, whose quantile is 2.776.
    first, second = [3.0, 4.0, 5.0], [1.0, 2.0, 3.0]
    found = over_runs(first, second)
    low, high = naive_t_interval(first, second, 2.776)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, low, high), abs=0.06)
    # Twice the tail of t = 2.449 with 4 degrees of freedom.
    assert found.p_value == pytest.approx(0.0705, abs=0.006)


def test_runs_that_are_all_alike_differ_for_certain_or_not_at_all() -> None:
    assert over_runs([2.0, 2.0], [1.0, 1.0]) == Effect(1.0, 1.0, 1.0, 0.0)
    assert over_runs([2.0, 2.0], [2.0, 2.0]) == Effect(0.0, 0.0, 0.0, 1.0)


def test_a_single_run_is_no_proof() -> None:
    found = over_runs([5.0], [1.0, 1.1, 1.2])
    assert found.value == pytest.approx(3.9) and found.low < -1000 and found.p_value == 1.0


def test_equal_numbers_of_runs_are_seldom_called_different() -> None:
    draws = np.random.default_rng(5).normal(size=(1000, 2, 3))
    wrong = sum(found.low > 0 or found.high < 0 for found in (over_runs(*map(list, pair)) for pair in draws))
    assert wrong <= 50 + 3 * sqrt(1000 * 0.05 * 0.95)


def naive_slope(places: list[float], values: list[float]) -> float:
    """Least squares by hand, from the first place to the last."""
    x, y = fmean(places), fmean(values)
    steep = sum((a - x) * (b - y) for a, b in zip(places, values, strict=True)) / sum(
        (a - x) ** 2 for a in places
    )
    return steep * (max(places) - min(places))


@pytest.mark.parametrize("values", [[1.0, 2.0, 4.0, 5.0, 9.0], [3.0, 1.0, 2.0, 2.5, 0.5]])
def test_a_slope_is_that_of_least_squares_among_those_of_all_orders(values: list[float]) -> None:
    places = [0.0, 1.0, 2.0, 3.0, 5.0]
    found = slope(places, values)
    every = [abs(naive_slope(places, list(order))) for order in permutations(values)]
    assert found.value == pytest.approx(naive_slope(places, values))
    assert found.p_value == pytest.approx(sum(each >= abs(found.value) - 1e-9 for each in every) / len(every))
    assert found.high - found.value == pytest.approx(np.quantile(every, 0.95, method="higher"))


def test_no_interval_decides_where_p_cannot_be_small() -> None:
    found = slope(range(4), [0.80, 0.81, 0.82, 0.83])  # the best of 24 orders, and its mirror
    assert found.p_value == pytest.approx(2 / 24) and found.low <= 0


@pytest.mark.parametrize(("recipes", "seeds", "corpora"), [(3, 3, 1), (4, 3, 1), (5, 1, 1), (3, 2, 3)])
def test_values_without_a_trend_are_seldom_called_rising_or_falling(
    recipes: int, seeds: int, corpora: int
) -> None:
    generator = np.random.default_rng(3)
    places = [place for place in range(recipes) for _ in range(seeds)]
    found = [
        mean_slope([(places, list(generator.normal(size=len(places)))) for _ in range(corpora)], seed=draw)
        for draw in range(200)
    ]
    wrong = sum(each.low > 0 or each.high < 0 for each in found)
    assert wrong <= 10 + 3 * sqrt(200 * 0.05 * 0.95)
    assert all((each.low > 0 or each.high < 0) == (each.p_value < 0.05) for each in found)


def test_slopes_of_several_corpora_are_a_mean_and_decide_together() -> None:
    rising = [0.1, 0.2, 0.25, 0.4]
    rows = [(range(4), rising), (range(4), [value + 1 for value in rising])]
    both = mean_slope(rows)
    assert both.value == pytest.approx(slope(*rows[0]).value)
    assert both.p_value < 0.05 and both.low > 0


def test_a_long_slope_is_tested_by_draws() -> None:
    rising = slope(range(12), [0.1 * number for number in range(12)])
    assert rising.value == pytest.approx(1.1) and rising.p_value < 0.001 and rising.low > 0


def test_places_that_do_not_differ_have_no_slope() -> None:
    with pytest.raises(InputError, match="two that differ"):
        slope([1.0, 1.0], [2.0, 3.0])


def test_a_correlation_is_the_mean_over_rows_among_those_of_all_orders() -> None:
    places = np.array([[1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 3.0, 4.0]])
    values = np.array([[0.0, 1.0, 3.0, 4.0], [1.0, 0.0, 2.0, 5.0]])
    found = correlation(places, values)

    def mean(order: tuple[int, ...]) -> float:
        return fmean(
            float(np.corrcoef(place, own[list(order)])[0, 1])
            for place, own in zip(places, values, strict=True)
        )

    every = [abs(mean(order)) for order in permutations(range(4))]
    assert found.value == pytest.approx(mean((0, 1, 2, 3)))
    assert found.p_value == pytest.approx(sum(each >= found.value - 1e-9 for each in every) / 24)


def test_points_that_do_not_vary_do_not_correlate() -> None:
    found = correlation(np.ones((2, 4)), np.random.default_rng(0).normal(size=(2, 4)))
    assert (found.value, found.p_value) == (0.0, 1.0)
