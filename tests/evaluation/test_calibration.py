from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss as reference_log_loss

from spanwright.errors import InputError
from spanwright.evaluation import (
    Calibration,
    Comparison,
    collect_confidences,
    compare_documents,
    expected_calibration_error,
    fit_calibration,
    fit_isotonic,
    fit_temperature,
    log_loss,
    reliability_bins,
    tune_thresholds,
)
from spanwright.evaluation.reliability import find_reliability
from spanwright.text import Document, Entity

# Few distinct values, so that many are tied.
pairs = st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=60)


def overconfident(number: int, temperature: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Confidences whose logit is `temperature` times too large, and whether the predictions are correct."""
    generator = np.random.default_rng(seed)
    logits = generator.normal(1, 1.2, number)
    correct = generator.random(number) < 1 / (1 + np.exp(-logits))
    return 1 / (1 + np.exp(-temperature * logits)), correct


@given(pairs)
def test_isotonic_regression_equals_scikit_learn(found: list[tuple[float, bool]]) -> None:
    confidence, correct = (np.array(column, float) for column in zip(*found, strict=True))
    reference = IsotonicRegression(out_of_bounds="clip").fit(confidence, correct)
    grid = np.linspace(0, 1, 101)
    assert fit_isotonic(confidence, correct).apply(grid) == pytest.approx(reference.predict(grid))


def test_an_isotonic_curve_keeps_only_the_ends_of_flat_stretches() -> None:
    confidence, correct = overconfident(5000, 2.0)
    fitted = fit_isotonic(confidence, correct)
    assert len(fitted.confidences) < 200
    assert all(np.diff(fitted.confidences) > 0) and all(np.diff(fitted.probabilities) >= 0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_is_found_again(temperature: float) -> None:
    assert fit_temperature(*overconfident(40_000, temperature)).temperature == pytest.approx(
        temperature, rel=0.05
    )


@given(pairs)
def test_no_other_temperature_has_a_lower_log_loss(found: list[tuple[float, bool]]) -> None:
    confidence, correct = (np.array(column, float) for column in zip(*found, strict=True))
    inner = np.clip(confidence, 0.01, 0.99)
    best = log_loss(fit_temperature(inner, correct).apply(inner), correct)
    for temperature in (0.1, 0.5, 0.9, 1.1, 2.0, 10.0):
        assert best <= log_loss(Calibration("temperature", temperature).apply(inner), correct) + 1e-6


def test_temperature_is_chosen_where_it_is_the_truth_and_isotonic_where_it_is_not() -> None:
    assert fit_calibration(*overconfident(300, 3.0)).kind == "temperature"
    confidence = np.random.default_rng(1).random(4000)
    # Correct half of the time whatever the confidence, but for the very confident: no temperature fits.
    correct = np.random.default_rng(2).random(4000) < np.where(confidence > 0.9, 0.95, 0.6)
    assert fit_calibration(confidence, correct).kind == "isotonic"


@pytest.mark.parametrize("temperature", [0.4, 3.0])
def test_calibration_lowers_the_calibration_error_on_other_predictions(temperature: float) -> None:
    fitted = fit_calibration(*overconfident(3000, temperature))
    confidence, correct = overconfident(3000, temperature, seed=9)
    before = expected_calibration_error(confidence, correct)
    after = expected_calibration_error(fitted.apply(confidence), correct)
    assert after < 0.04 < before


@pytest.mark.parametrize(
    ("confidence", "correct"), [([], []), ([0.9] * 9, [True, False, True] * 3), ([0.7] * 20, [True] * 20)]
)
def test_too_little_evidence_changes_nothing(confidence: list[float], correct: list[bool]) -> None:
    fitted = fit_calibration(confidence, correct)
    assert fitted == Calibration()
    assert fitted.apply([0.0, 0.3, 1.0]).tolist() == [0.0, 0.3, 1.0]


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_a_calibration_keeps_the_order_of_confidences(fit: Callable[..., Calibration]) -> None:
    probabilities = fit(*overconfident(500, 2.0)).apply(np.linspace(0, 1, 200))
    assert (np.diff(probabilities) >= 0).all()
    assert (probabilities >= 0).all() and (probabilities <= 1).all()


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_a_stored_calibration_is_the_same_after_reading(fit: Callable[..., Calibration]) -> None:
    fitted = fit(*overconfident(200, 2.0))
    assert Calibration.from_dict(json.loads(json.dumps(fitted.to_dict()))) == fitted


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"kind": "linear"},
        {"kind": "temperature", "temperature": 0},
        {"kind": "temperature", "temperature": "1"},
        {"kind": "isotonic", "confidences": [], "probabilities": []},
        {"kind": "isotonic", "confidences": [0.1, 0.2], "probabilities": [0.5]},
        {"kind": "isotonic", "confidences": [0.2, 0.1], "probabilities": [0.5, 0.6]},
        {"kind": "isotonic", "confidences": [0.1, 0.2], "probabilities": [0.5, 1.6]},
        {"kind": "isotonic", "confidences": [0.1, None], "probabilities": [0.5, 0.6]},
        {"kind": "temperature", "temperature": float("inf")},
        {"kind": "temperature", "temperature": float("nan")},
        {"kind": "temperature", "temperature": 10**400},
        {"kind": "temperature", "temperature": True},
        {"kind": "isotonic", "confidences": [0.1, float("nan"), 0.2], "probabilities": [0.5, 0.6, 0.7]},
        {"kind": "isotonic", "confidences": [0.1, 0.2, 0.3], "probabilities": [0.5, float("nan"), 0.6]},
        {"kind": "isotonic", "confidences": [0.1, float("inf")], "probabilities": [0.5, 0.6]},
        {"kind": "isotonic", "confidences": [0.1, 0.1], "probabilities": [0.5, 0.6]},
        {"kind": "isotonic", "confidences": [0.1, 0.2], "probabilities": [0.6, 0.5]},
        {"kind": "isotonic", "confidences": [-0.1, 0.2], "probabilities": [0.5, 0.6]},
    ],
)
def test_a_calibration_that_cannot_be_read_is_an_error(stored: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"calibration: found .* expected kind 'temperature'"):
        Calibration.from_dict(stored)


@pytest.mark.parametrize("confidence", [-0.1, 1.5, float("nan")])
def test_a_confidence_beyond_0_and_1_is_an_error(confidence: float) -> None:
    with pytest.raises(InputError, match=f"found {confidence}; expected 0 <= confidence <= 1"):
        Calibration().apply([0.5, confidence])


def test_confidences_and_answers_must_be_as_many() -> None:
    with pytest.raises(InputError, match=r"shape \(2,\) and answers of shape \(1,\)"):
        fit_calibration([0.5, 0.6], [True])


def test_reliability_bins_include_their_upper_limit() -> None:
    bins = reliability_bins([0.0, 0.25, 0.5, 0.51, 1.0], [False, True, True, False, True], bins=2)
    low, high = bins
    assert (low.low, low.high, low.count, high.low, high.high, high.count) == (0, 0.5, 3, 0.5, 1, 2)
    assert (low.confidence, low.accuracy) == pytest.approx((0.25, 2 / 3))
    assert (high.confidence, high.accuracy) == pytest.approx((0.755, 0.5))


def naive_calibration_error(found: list[tuple[float, bool]], bins: int) -> float:
    error = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [one for one in found if low < one[0] <= high or (number == 0 and one[0] == 0)]
        if inside:
            confidence, accuracy = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            error += abs(confidence - accuracy) * len(inside) / len(found)
    return error


@given(pairs)
def test_the_calibration_error_equals_a_loop_over_bins(found: list[tuple[float, bool]]) -> None:
    error = expected_calibration_error(*zip(*found, strict=True), bins=4)
    assert error == pytest.approx(naive_calibration_error(found, 4))


def test_log_loss_equals_scikit_learn() -> None:
    confidence, correct = overconfident(300, 1.5)
    assert log_loss(confidence, correct) == pytest.approx(reference_log_loss(correct, confidence))


def test_nothing_predicted_has_no_error() -> None:
    assert (expected_calibration_error([], []), log_loss([], [])) == (0.0, 0.0)


TEXT = "x" * 100


def comparison_of(gold: list[Entity], predicted: list[Entity]) -> Comparison:
    return compare_documents(
        [Document("1", TEXT, tuple(gold))],
        [Document("1", TEXT, tuple(predicted))],
    )


def test_a_threshold_lies_half_way_below_the_last_prediction_worth_keeping() -> None:
    gold = [Entity(place, place + 1, "DNA") for place in (0, 2, 4)]
    predicted = [
        Entity(0, 1, "DNA", confidence=0.9),
        Entity(2, 3, "DNA", confidence=0.8),
        Entity(50, 51, "DNA", confidence=0.4),
        Entity(52, 53, "DNA", confidence=0.3),
    ]
    assert tune_thresholds(collect_confidences(comparison_of(gold, predicted))) == {"DNA": pytest.approx(0.6)}


def test_predictions_worth_keeping_are_all_kept() -> None:
    gold = [Entity(0, 1, "DNA"), Entity(2, 3, "DNA")]
    predicted = [Entity(2, 3, "DNA", confidence=0.1), Entity(9, 10, "DNA", confidence=0.5)]
    assert tune_thresholds(collect_confidences(comparison_of(gold, predicted))) == {"DNA": 0.0}


def test_types_without_predictions_have_threshold_0() -> None:
    found = collect_confidences(comparison_of([Entity(0, 1, "DNA")], [Entity(2, 3, "RNA", confidence=0.5)]))
    assert tune_thresholds(found) == {"DNA": 0.0, "RNA": 0.0}


@given(pairs, st.integers(0, 5))
def test_no_other_threshold_has_a_higher_f1(found: list[tuple[float, bool]], missed: int) -> None:
    gold = [Entity(place, place + 1, "DNA") for place, one in enumerate(found) if one[1]]
    gold += [Entity(90 + number, 91 + number, "DNA") for number in range(missed)]
    predicted = [
        Entity(place, place + 1, "DNA", confidence=confidence) for place, (confidence, _) in enumerate(found)
    ]
    threshold = tune_thresholds(collect_confidences(comparison_of(gold, predicted)))["DNA"]

    def f1(limit: float) -> float:
        kept = [correct for confidence, correct in found if confidence >= limit]
        return 2 * sum(kept) / (len(kept) + len(gold)) if kept else 0.0

    assert f1(threshold) == max(f1(number / 40) for number in range(41))


def test_reliability_is_that_of_the_confidences_and_of_strict_matches() -> None:
    gold = [Entity(place, place + 1, "DNA") for place in (0, 2)]
    values = ((0, 0.9), (2, 0.7), (4, 0.7), (6, 0.2))
    predicted = [Entity(place, place + 1, "DNA", confidence=value) for place, value in values]
    found, reason = find_reliability(comparison_of(gold, predicted))
    assert found is not None and reason == ""
    assert found.confidences.correct.tolist() == [True, True, False, False]
    assert [each.count for each in found.bins] == [0, 1, 0, 0, 0, 0, 2, 0, 1, 0]
    # Distances 0.2, 0.2 (twice) and 0.1 over four predictions.
    assert found.expected_calibration_error == pytest.approx(0.175)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.7, 0.3, 0.8]).mean())
    stored = json.loads(json.dumps(found.to_dict()))
    assert stored["bins"] == [asdict(each) for each in found.bins]


@pytest.mark.parametrize(
    ("confidences", "reason"),
    [
        ((), "no prediction has a confidence"),
        ((None, None), "no prediction has a confidence"),
        ((0.5, None), "only 1 of 2 predictions have a confidence"),
        ((0.5, 17.0), "not all confidences are between 0 and 1"),
        ((0.5, float("nan")), "not all confidences are between 0 and 1"),
    ],
)
def test_without_usable_confidences_there_is_a_reason_and_no_reliability(
    confidences: tuple[float | None, ...], reason: str
) -> None:
    predicted = [Entity(at, at + 1, "DNA", confidence=value) for at, value in enumerate(confidences)]
    assert find_reliability(comparison_of([], predicted)) == (None, reason)


def test_a_prediction_without_confidence_is_named() -> None:
    comparison = comparison_of([], [Entity(0, 1, "DNA", confidence=0.5), Entity(2, 3, "RNA")])
    with pytest.raises(InputError, match=r"document '1': the predicted 'RNA' at \[2, 3\) has no confidence"):
        collect_confidences(comparison)
