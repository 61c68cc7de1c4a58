"""Plans of searches: what they may say, and what they are told when they say something else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from spanwright.errors import InputError, SettingsError
from spanwright.tuning import load_plan, make_plan
from spanwright.tuning.plan import NumberRange, ValueChoice, flat_ranges

RATE = "optimiser.learning_rates.encoder"
FILES = {"train": "train.jsonl", "dev": "dev.jsonl"}


def plan_of(search: dict[str, Any], **more: Any) -> Any:
    return make_plan({"recipe": "plain", **FILES, "search": search, **more}, "plan.toml")


def test_the_kind_of_a_range_follows_its_values() -> None:
    search = {
        RATE: {"low": 1e-5, "high": 5e-4, "log": True},
        "training.accumulate": {"low": 1, "high": 4},
        "representation.dropout": {"low": 0, "high": 0.5, "step": 0.1},
        "encoder.pooling": ["max", "first"],
    }
    found = plan_of(search).search
    assert [type(given) for given in found.values()] == [NumberRange, NumberRange, NumberRange, ValueChoice]
    assert [given.whole for given in found.values() if isinstance(given, NumberRange)] == [False, True, False]


def test_keys_may_be_written_as_tables(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    head = 'recipe = "plain"\ntrain = "a.jsonl"\ndev = ["b.jsonl"]\n'
    quoted = f'{head}[search]\n"{RATE}" = {{low = 1e-5, high = 1e-4}}\n'
    path.write_text(quoted)
    written = load_plan(path).search
    path.write_text(f"{head}[search.optimiser.learning_rates]\nencoder = {{low = 1e-5, high = 1e-4}}\n")
    assert load_plan(path).search == written == {RATE: NumberRange(low=1e-5, high=1e-4)}


def test_values_that_were_chosen_go_over_the_fixed_settings() -> None:
    plan = plan_of({RATE: [1e-5, 1e-4]}, set=["training.epochs=7"], seed=3)
    settings = plan.settings({RATE: 1e-4})
    assert settings.optimiser.learning_rates["encoder"] == 1e-4
    assert (settings.training.epochs, settings.training.seed) == (7, 3)


def test_whole_tables_and_lists_can_be_chosen() -> None:
    transforms = [[], [{"kind": "feed-forward", "size": 8}]]
    plan = plan_of({"transforms": transforms})
    assert [len(plan.settings({"transforms": chosen}).transforms) for chosen in transforms] == [0, 1]


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (
            {"training.epoch": [1, 2]},
            "search, training.epoch = 1: plain: unknown setting 'training.epoch' (did you mean",
        ),
        (
            {"training.epochs": {"low": 0, "high": 3}},
            "search, training.epochs = 0: plain: setting 'training.ep",
        ),
        ({"encoder.pooling": ["max", "median"]}, 'search, encoder.pooling = "median": plain: setting'),
        (
            {RATE: {"low": 2.0, "high": 1.0}},
            f"the range of '{RATE}': low 2.0 lies above high 1.0; expected low <",
        ),
        (
            {RATE: {"low": 0.0, "high": 1.0, "log": True}},
            "low is 0.0 with log = true; expected a number above 0",
        ),
        ({RATE: {"low": 0.1, "high": 1.0, "step": 0.0}}, "step is 0.0; expected a number above 0"),
        ({RATE: {"low": 0.1, "high": 1.0, "step": 0.1, "log": True}}, "expected one of the two"),
        ({RATE: {"low": 0.1}}, f"the range of '{RATE}': 'high' is missing"),
        ({RATE: {"low": "a", "high": 1}}, "'low.int' is 'a'"),
        (
            {RATE: {"low": 0.1, "high": 1.0, "steps": 2}},
            "'steps' is unknown (did you mean 'step'?); expected low, high, step, log",
        ),
        ({RATE: []}, "the list is empty; expected one value or more"),
        ({RATE: [1, 1]}, "has a value twice; expected each once"),
        ({RATE: 0.1}, "0.1 is not a range; expected a list, such as [1, 2, 4], or a table, such as"),
        ({}, "'search' is {}: "),
        ({"training.seed": [1, 2]}, "training.seed cannot be set or searched for: seed, beside recipe, is"),
    ],
)
def test_a_wrong_search_is_told_where_and_what_is_legal(search: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        plan_of(search)
    assert str(caught.value).startswith("plan.toml: ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"dev": None}, "dev is missing; expected train and dev, or corpora"),
        (
            {"corpora": "c.toml"},
            "corpora is given, so files, formats and numbers of documents belong there",
        ),
        (
            {"train": None, "dev": None, "corpora": "c.toml", "format": "conll"},
            "corpora is given, so files, formats and numbers of documents belong there",
        ),
        (
            {"trial": 3},
            "'trial' is unknown (did you mean 'trials'?); expected recipe, train, dev, corpora, format, ",
        ),
        (
            {"documents": {"trian": 3}},
            "'documents.trian' is unknown (did you mean 'train'?); expected train, dev, test",
        ),
        ({"documents": {"test": 3}}, "documents.test is given, but a search looks at train and dev alone"),
        ({"trials": 0}, "'trials' is 0: "),
        ({"set": [f"{RATE}=1e-4"]}, f"'{RATE}' is in set and in search; expected one of the two"),
        ({"set": ["training.seed=2"]}, "training.seed cannot be set"),
    ],
)
def test_a_wrong_plan_is_told_where_and_what_is_legal(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        plan_of({RATE: [1e-5, 1e-4]}, **more)


def test_a_fixed_setting_that_is_wrong_is_refused() -> None:
    with pytest.raises(SettingsError, match=re.escape("unknown setting 'training.epoch'")):
        plan_of({RATE: [1e-5]}, set=["training.epoch=1"])


def test_a_plan_that_is_not_there_and_one_that_is_not_toml_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: no such file"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "plan.toml").write_text("recipe = ")
    with pytest.raises(InputError, match=r"plan\.toml: not valid TOML"):
        load_plan(tmp_path / "plan.toml")


def test_tables_in_tables_become_dotted_keys() -> None:
    assert flat_ranges({"a": {"b": {"low": 1, "high": 2}, "c": [1]}, "d.e": [2]}) == {
        "a.b": {"low": 1, "high": 2},
        "a.c": [1],
        "d.e": [2],
    }
