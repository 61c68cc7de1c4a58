from __future__ import annotations

import math

import pytest
import torch
from pydantic import ValidationError

from spanwright.errors import SettingsError
from spanwright.settings.learning import LinearSchedule, LogisticSchedule, ObjectiveSettings, Phase
from spanwright.training.objective import check_roles, check_terms, role_rates_at, total, weights_at

TERMS = {"spans", "tags", "words"}


def weights(settings: ObjectiveSettings, *, progress: float = 0.0) -> dict[str, float]:
    return weights_at(settings, TERMS, {"tags"}, progress=progress)


@pytest.mark.parametrize(
    ("progress", "weight"), [(0.0, 2.0), (0.2, 2.0), (0.4, 3.0), (0.5, 3.5), (0.6, 4.0), (1.0, 4.0)]
)
def test_a_linear_weight_moves_between_its_two_shares_only(progress: float, weight: float) -> None:
    schedule = LinearSchedule(kind="linear", start=2.0, end=4.0, begin=0.2, finish=0.6)
    assert schedule.at(progress) == pytest.approx(weight)


def test_a_linear_weight_can_jump() -> None:
    schedule = LinearSchedule(kind="linear", start=0.0, end=1.0, begin=0.5, finish=0.5)
    assert [schedule.at(progress) for progress in (0.0, 0.49, 0.5, 1.0)] == [0.0, 0.0, 1.0, 1.0]


def test_a_linear_weight_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"begin 0.6 lies after finish 0.4; expected begin <= finish"):
        LinearSchedule(kind="linear", start=0.0, end=1.0, begin=0.6, finish=0.4)


@pytest.mark.parametrize("progress", [0.0, 0.1, 0.3, 0.75, 1.0])
def test_a_logistic_weight_follows_the_logistic_function(progress: float) -> None:
    schedule = LogisticSchedule(kind="logistic", end=3.0, centre=0.3, steepness=12.0)
    assert schedule.at(progress) == pytest.approx(3.0 / (1 + math.exp(-12.0 * (progress - 0.3))))


def test_a_steep_logistic_weight_is_a_jump_and_no_overflow() -> None:
    schedule = LogisticSchedule(kind="logistic", steepness=1e6)
    assert [schedule.at(progress) for progress in (0.0, 0.5, 1.0)] == [0.0, 0.5, 1.0]


def test_terms_that_are_not_named_have_the_weight_one() -> None:
    settings = ObjectiveSettings(weights={"tags": 0.5})
    assert weights(settings) == {"spans": 1.0, "tags": 0.5, "words": 1.0}


def test_a_weight_follows_its_schedule() -> None:
    ramp = LinearSchedule(kind="linear", start=0.0, end=2.0)
    settings = ObjectiveSettings(weights={"tags": ramp})
    assert weights(settings, progress=0.25)["tags"] == pytest.approx(0.5)


def test_a_term_with_the_weight_zero_is_left_out() -> None:
    assert weights(ObjectiveSettings(weights={"tags": 0.0})) == {"spans": 1.0, "words": 1.0}


def test_a_convex_objective_gives_the_span_terms_what_auxiliaries_leave() -> None:
    settings = ObjectiveSettings(weights={"tags": 0.3, "words": 0.1}, convex=True)
    assert weights(settings) == {"spans": pytest.approx(0.7), "tags": 0.3, "words": pytest.approx(0.07)}


def test_a_convex_objective_can_leave_nothing_to_the_spans() -> None:
    assert weights(ObjectiveSettings(weights={"tags": 1.0}, convex=True)) == {"tags": 1.0}


def test_a_convex_objective_with_more_than_one_to_give_is_refused() -> None:
    settings = ObjectiveSettings(weights={"tags": 1.3}, convex=True)
    with pytest.raises(SettingsError, match=r"weights that sum up to 1\.3; expected up to 1"):
        weights(settings)


@pytest.mark.parametrize("terms", [{"spans"}, {"tags"}])
def test_a_convex_objective_needs_spans_and_an_auxiliary(terms: set[str]) -> None:
    with pytest.raises(SettingsError, match="needs span terms and an auxiliary one; this model has"):
        check_terms(ObjectiveSettings(convex=True), terms, {"tags"})


@pytest.mark.parametrize(
    ("progress", "on"),
    [(0.0, {"words"}), (0.49, {"words"}), (0.5, {"spans", "tags"}), (0.75, TERMS), (1.0, TERMS)],
)
def test_phases_turn_terms_on_in_order_and_all_of_them_after_the_last(progress: float, on: set[str]) -> None:
    phases = (Phase(share=0.5, terms=("words",)), Phase(share=0.25, terms=("spans", "tags")))
    assert weights(ObjectiveSettings(phases=phases), progress=progress).keys() == on


def test_a_phase_scales_the_rates_of_roles_and_no_longer_than_it_lasts() -> None:
    phases = (Phase(share=0.25, terms=("words",), rates={"encoder": 0.1}),)
    settings = ObjectiveSettings(phases=phases)
    assert role_rates_at(settings, progress=0.2) == {"encoder": 0.1}
    assert role_rates_at(settings, progress=0.3) == {}


def test_roles_that_older_settings_hold_still_have_a_rate_of_zero() -> None:
    phase = Phase.model_validate({"share": 0.25, "terms": ["words"], "still": ["encoder"]})
    assert phase == Phase(share=0.25, terms=("words",), rates={"encoder": 0.0})


def test_rates_of_roles_that_the_model_lacks_are_refused() -> None:
    settings = ObjectiveSettings(phases=(Phase(share=1, terms=("words",), rates={"encodr": 0.1}),))
    with pytest.raises(
        SettingsError, match=r"name the roles \['encodr'\]; this model has \['encoder', 'head'\]"
    ):
        check_roles(settings, {"encoder", "head"})


def test_a_phase_in_which_no_role_learns_is_refused() -> None:
    learning = Phase(share=0.5, terms=("words",), rates={"encoder": 0})
    still = Phase(share=0.5, terms=("words",), rates={"encoder": 0, "head": 0})
    check_roles(ObjectiveSettings(phases=(learning,)), {"encoder", "head"})
    with pytest.raises(SettingsError, match=r"objective\.phases\.1\.rates are 0 for every role, so nothing"):
        check_roles(ObjectiveSettings(phases=(learning, still)), {"encoder", "head"})


def test_phases_that_are_longer_than_the_run_are_refused() -> None:
    phases = (Phase(share=0.5, terms=("words",)), Phase(share=0.6, terms=("spans",)))
    with pytest.raises(ValueError, match=r"shares of the phases sum up to 1\.1; expected up to 1"):
        ObjectiveSettings(phases=phases)


def test_a_moment_in_which_nothing_is_trained_is_refused() -> None:
    late = LinearSchedule(kind="linear", start=0.0, end=1.0, begin=0.5)
    settings = ObjectiveSettings(weights={"tags": late}, phases=(Phase(share=1, terms=("tags",)),))
    with pytest.raises(SettingsError, match=r"nothing is trained at 10 % .* one of \['tags'\]"):
        weights(settings, progress=0.1)


@pytest.mark.parametrize(
    "settings",
    [
        ObjectiveSettings(weights={"tag": 0.5}),
        ObjectiveSettings(phases=(Phase(share=1, terms=("spans", "tag")),)),
    ],
    ids=["in a weight", "in a phase"],
)
def test_a_term_that_the_model_lacks_is_refused_with_those_it_has(settings: ObjectiveSettings) -> None:
    with pytest.raises(SettingsError, match=r"names the terms \['tag'\]; .* \['spans', 'tags', 'words'\]"):
        check_terms(settings, TERMS)


def test_terms_that_the_model_has_are_accepted() -> None:
    check_terms(ObjectiveSettings(weights={"tags": 0.5}, phases=(Phase(share=1, terms=("spans",)),)), TERMS)


def test_the_total_is_the_weighted_sum_of_the_terms_that_are_on() -> None:
    losses = {"spans": torch.tensor(2.0), "tags": torch.tensor(3.0), "words": torch.tensor(5.0)}
    assert total(losses, {"spans": 0.5, "words": 2.0}).item() == 11.0
