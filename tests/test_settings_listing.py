"""The list of all settings: none without a meaning, each with a usual value or known to be needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cli.running import run
from spanwright.recipes import recipe_names
from spanwright.settings import load_settings
from spanwright.settings.listing import Setting, all_settings
from spanwright.toml_text import value_text

NEEDED = {"name", "start.model", "objective.phases.share", "objective.phases.terms"}
NEEDED |= {"objective.weights.start", "objective.weights.end"}
FREE_TABLES = {"weights", "learning_rates", "rates"}
"""Settings that are tables of names the user chooses."""


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


def settings_in(group: dict[str, Any], place: str = "", kind: str = "") -> Iterator[tuple[str, Any, str]]:
    """The settings of a group and of those in it, each with the kind of its part."""
    for name, value in group.items():
        if isinstance(value, dict) and name not in FREE_TABLES:
            own = "" if name == "tagger" else value.get("kind", "")
            yield from settings_in(value, f"{place}{name}.", own)
        elif name != "kind" or not kind:
            yield f"{place}{name}", value, kind


@pytest.mark.parametrize("recipe", recipe_names())
def test_recipes_prints_the_values_of_the_recipe(recipe: str) -> None:
    lines = run("recipes", recipe, "--all").stdout.splitlines()
    for key, value, kind in settings_in(load_settings(recipe).model_dump(mode="json", exclude_none=True)):
        suffix = f" (of the kind {kind})" if kind else ""
        assert f"{key} = {value_text(value)}{suffix}" in lines


@pytest.mark.parametrize(
    ("recipe", "shown"),
    [
        ("tagger", 'scorer = kind = "none"'),
        ("tagger", 'auxiliaries.tagger = kind = "crf"'),
        ("tagger", 'auxiliaries.tagger.kind = "crf"'),
        ("plain", "auxiliaries.tagger = none"),
        ("binder", "objective.weights = {starts = 0.2, ends = 0.2, spans = 0.6}"),
        ("binder", 'scorer.threshold = "tuned" (of the kind sigmoid)'),
        ("binder", 'scorer.threshold = "dynamic" (of the kind bi-encoder)'),
        ("dspert", 'representation = kind = "span-transformer"'),
        ("dspert/pruned", "candidates.pruning = as below"),
        ("cvae", "corpora = as below"),
        ("joint-ib", "transforms.size = 576 (of the kind bottleneck)"),
        # The recipe has two of them.
        ("joint-ib", "objective.weights.end = 1.0 (of the kind logistic)"),
    ],
)
def test_parts_are_shown_as_what_they_are(recipe: str, shown: str) -> None:
    assert shown in run("recipes", recipe, "--all").stdout.splitlines()


def test_kinds_that_share_a_class_are_a_setting_of_their_own() -> None:
    assert named("auxiliaries.tagger").choices == "table or none"
    assert named("auxiliaries.tagger.kind").choices == '"softmax", "crf"'
    assert named("auxiliaries.tagger.dropout").usual == "0.1"


def test_recipes_folds_variants_unless_asked() -> None:
    folded, unfolded = run("recipes").stdout, run("recipes", "--all").stdout
    assert "binder/joint" not in folded and "joint" in folded
    assert "binder/joint" in unfolded
