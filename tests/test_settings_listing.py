"""The list of all settings: none without a meaning, each with a usual value or known to be needed."""

from __future__ import annotations

import pytest

from cli.running import run
from spanwright.recipes import recipe_names
from spanwright.settings import load_settings
from spanwright.settings.listing import Setting, all_settings

NEEDED = {"name", "start.model", "objective.phases.share", "objective.phases.terms"}
NEEDED |= {"objective.weights.start", "objective.weights.end"}


def named(key: str, kind: str = "") -> Setting:
    (found,) = (setting for setting in all_settings() if (setting.key, setting.kind) == (key, kind))
    return found


def test_every_setting_has_a_meaning_and_choices() -> None:
    assert [setting.key for setting in all_settings() if not setting.meaning] == []
    assert [setting.key for setting in all_settings() if not setting.choices] == []
    assert {setting.key for setting in all_settings() if not setting.usual} == NEEDED


def test_values_limits_and_choices_are_told() -> None:
    epochs = named("training.epochs")
    assert (epochs.usual, epochs.choices) == ("10", "whole number (at least 1)")
    assert named("decoding").choices == '"nested", "flat", "non-crossing" or "auto"'
    assert named("scorer.threshold", "sigmoid").usual == '"tuned"'


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_key_of_a_recipe_is_listed(recipe: str) -> None:
    known = {setting.key for setting in all_settings()}
    values = load_settings(recipe).model_dump(mode="json")
    groups = {key: value for key, value in values.items() if isinstance(value, dict)}
    given = {f"{group}.{key}" for group, table in groups.items() for key in table if key != "kind"}
    assert given | set(values) <= known


def test_recipes_prints_all_settings_of_one() -> None:
    shown = run("recipes", "dspert", "--all").stdout
    assert "training.epochs = " in shown and "expected: whole number (at least 1)" in shown
    assert all(setting.key in shown for setting in all_settings())


def test_recipes_folds_variants_unless_asked() -> None:
    folded, unfolded = run("recipes").stdout, run("recipes", "--all").stdout
    assert "binder/joint" not in folded and "joint" in folded
    assert "binder/joint" in unfolded
