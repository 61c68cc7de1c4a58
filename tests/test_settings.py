from __future__ import annotations

from pathlib import Path

import pydantic
import pytest

from spanwright.comparing.plan import Plan
from spanwright.errors import SettingsError
from spanwright.settings import Settings, check, load_settings
from spanwright.settings.learning import LogisticSchedule
from spanwright.settings.scorers import BiEncoderSettings, SigmoidSettings
from spanwright.strict import Strict
from spanwright.training.corpora_file import CorporaFile
from spanwright.tuning.plan import TuningPlan


def refusal(*changes: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings("plain", changes)
    return str(caught.value)


def test_a_shipped_recipe_is_loaded_by_name() -> None:
    assert load_settings("plain").name == "plain"


def test_a_recipe_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[training]\nepochs = 3\n')
    assert load_settings(str(path)).training.epochs == 3


def test_what_a_recipe_does_not_say_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n')
    assert load_settings(str(path)) == Settings(name="mine")


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("training.epochs=3", 3),
        ("encoder.name=some/folder", "some/folder"),
        ('encoder.name="some/folder"', "some/folder"),
        ("encoder.name=a=b", "a=b"),
        ("scorer.hidden=[8, 4]", (8, 4)),
        ("candidates.width_limit=auto", "auto"),
        ("candidates.width_limit=9", 9),
        ("optimiser.learning_rates.head=0.5", {"head": 0.5}),
        ("decoding=flat", "flat"),
        ("windows.context=sentence", "sentence"),
    ],
)
def test_a_setting_is_changed_by_its_dotted_key(change: str, value: object) -> None:
    found: object = load_settings("plain", [change])
    for name in change.partition("=")[0].split(".")[:2]:
        found = getattr(found, name)
    assert found == value


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("training.epochs", 3, "3"),
        ("training.patience", None, None),
        ("encoder.name", "2024", '"2024"'),
        ("scorer.hidden", (8, 4), "[8, 4]"),
        ("optimiser.learning_rates", {"encoder": 1e-5, "head": 0.5}, "{encoder = 1e-5, head = 0.5}"),
        ("auxiliaries.tagger", {}, "{}"),
        ("objective.convex", True, "true"),
    ],
)
def test_a_value_of_python_is_as_good_as_a_written_one(key: str, value: object, written: str | None) -> None:
    expected = load_settings("plain", [f"{key}={written}"] if written is not None else [])
    assert load_settings("plain", {key: value}) == expected


def test_values_that_are_given_are_not_changed() -> None:
    given = {"optimiser.learning_rates": {"encoder": 1e-5, "head": 0.5}, "optimiser.learning_rates.head": 0.1}
    settings = load_settings("plain", given)
    assert settings.optimiser.learning_rates == {"encoder": 1e-5, "head": 0.1}
    assert given["optimiser.learning_rates"] == {"encoder": 1e-5, "head": 0.5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training.epoch": 3}, "'training.epoch' (did you mean 'training.epochs'?); expected accumulate, "),
        ({"training.epochs": 0}, "setting 'training.epochs' is 0: expected at least 1"),
        ({"training.epochs": "three"}, "setting 'training.epochs' is 'three': expected a whole number"),
        ({"name.x": 3}, "plain: setting 'name.x': 'name' is a value, not a table of settings"),
    ],
)
def test_a_wrong_value_of_python_is_named_by_its_key(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("plain", changes)
    assert message in str(caught.value)


def test_settings_can_be_changed_again() -> None:
    settings = load_settings("binder", {"training.epochs": 3})
    changed = load_settings(settings, {"windows.context": "sentence"}, descriptions=Path("types.toml"))
    assert (changed.training.epochs, changed.windows.context) == (3, "sentence")
    assert changed.labels.descriptions == "types.toml"
    assert load_settings(settings) is settings


def test_a_change_goes_over_the_encoder_that_is_named() -> None:
    assert load_settings("plain", encoder="2024").encoder.name == "2024"
    assert load_settings("plain", ["encoder.name=mine"], encoder="2024").encoder.name == "mine"


def test_the_last_of_several_changes_of_a_setting_holds() -> None:
    assert load_settings("plain", ["training.epochs=3", "training.epochs=4"]).training.epochs == 4


def test_a_recipe_that_extends_another_changes_only_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "plain"\nname = "mine"\n[representation]\nsize = 99\n')
    settings, plain = load_settings(str(path)), load_settings("plain")
    assert settings.name == "mine"
    assert settings.representation == plain.representation.model_copy(update={"size": 99})
    assert settings.scorer == plain.scorer


def test_recipes_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(f'extends = "{two}"\n')
    two.write_text(f'extends = "{one}"\n')
    with pytest.raises(SettingsError, match=r"two\.toml: extends '.*one\.toml'; expected another recipe"):
        load_settings(str(one))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name = \n", "not valid TOML"),
        (b'name = "\xff"\n', "not valid TOML"),
        (b"extends = 3\n", "extends 3; expected another recipe"),
        (b'extends = "plian"\n', "unknown recipe 'plian' .*; expected"),
        (b'description = "nameless"\n', "the setting 'name' is missing"),
    ],
    ids=["no TOML", "no UTF-8", "extends a number", "extends nothing", "no name"],
)
def test_a_recipe_file_that_cannot_be_used_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        load_settings(str(path))


def test_a_recipe_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"absent\.toml: no such recipe file"):
        load_settings("absent.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "training.epoch=3",
            "'training.epoch' (did you mean 'training.epochs'?); expected accumulate, batch_pieces, ",
        ),
        (
            "trainig.epochs=3",
            "'trainig' (did you mean 'training'?); expected auxiliaries, candidates, corpora, ",
        ),
        (
            "objective.phases=[{share=1, terms=['a'], x=1}]",
            "'objective.phases.0.x'; expected rates, share, terms",
        ),
        (
            "objective.weights.spans={kind='logistic', x=1}",
            "spans.x'; expected centre, end, kind, steepness",
        ),
        (
            "objective.weights.spans={kind='linear', start=0}",
            "the setting 'objective.weights.spans.end' is missing",
        ),
        ("training.epochs=0", "setting 'training.epochs' is 0: expected at least 1"),
        (
            f"training.seed={2**64}",
            f"setting 'training.seed' is {2**64}: expected less than {2**64}",
        ),
        (
            "windows.overlap=129",
            "windows.overlap is 129, but windows of 256 pieces can share at most 128 words: set "
            "windows.overlap=128 or less, or raise windows.pieces",
        ),
        ("windows.pieces=40", "windows.overlap is 24, but windows of 40 pieces can share at most 20 words"),
        ("optimiser.betas=[0.9]", "plain: the setting 'optimiser.betas.1' is missing"),
        ("scorer.hidden=[0]", "setting 'scorer.hidden.0' is 0: expected more than 0"),
        ("scorer.hidden=[8, -5]", "setting 'scorer.hidden.1' is -5: expected more than 0"),
        ("encoder.dropout=2", "setting 'encoder.dropout' is 2: expected less than 1"),
        ("encoder.dropout=-0.1", "setting 'encoder.dropout' is -0.1: expected at least 0"),
        ("objective.weights.spans=-1", "setting 'objective.weights.spans' is -1: expected at least 0"),
        (
            "objective.weights.spans={kind='linear', start=-1, end=1}",
            "setting 'objective.weights.spans.start' is -1: expected at least 0",
        ),
        (
            "objective.weights.spans={kind='linear', start=1, end=-1}",
            "setting 'objective.weights.spans.end' is -1: expected at least 0",
        ),
        (
            "objective.weights.spans={kind='logistic', end=-1}",
            "setting 'objective.weights.spans.end' is -1: expected at least 0",
        ),
        ("candidates.width_limit=0", "setting 'candidates.width_limit' is 0: expected more than 0"),
        ("candidates.negatives=-1", "setting 'candidates.negatives' is -1: expected at least 0"),
        (
            "optimiser.learning_rates.head=-1",
            "setting 'optimiser.learning_rates.head' is -1: expected at least 0",
        ),
        ("decoding=crossing", "setting 'decoding' is 'crossing': expected 'nested', 'flat' or"),
        ("training=3", "setting 'training' is 3"),
        ("name.x=3", "'name' is a value, not a table of settings"),
        ("training.epochs", "expected key=value, such as --set training.epochs=3"),
        ("=3", "expected key=value"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_legal(change: str, message: str) -> None:
    assert message in refusal(change)


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e999"])
@pytest.mark.parametrize(
    "key",
    [
        "optimiser.learning_rates.head",
        "optimiser.clip",
        "objective.weights.spans",
        "encoder.dropout",
        "candidates.pruning.keep",
    ],
)
def test_a_setting_is_a_finite_number(key: str, number: str) -> None:
    assert f"setting '{key}' is {float(number)}: expected a finite number" in refusal(f"{key}={number}")


def test_all_that_users_write_is_checked_by_the_same_rules() -> None:
    """Recipes, plans and lists of corpora; what the service reads and answers has rules of its own."""
    for written in (Plan, TuningPlan, CorporaFile, Settings):
        assert issubclass(written, Strict)
    found = [
        model
        for model in pydantic.BaseModel.__subclasses__()
        if model.__module__.startswith("spanwright.")
        and not model.__module__.startswith("spanwright.service")
    ]
    assert found == [Strict]


def test_the_largest_seed_and_overlap_are_legal() -> None:
    settings = load_settings("plain", [f"training.seed={2**64 - 1}", "windows.overlap=128"])
    assert (settings.training.seed, settings.windows.overlap) == (2**64 - 1, 128)


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ("binder", "scorer.kind 'bi-encoder' learns no probabilities of spans: it must be 'softmax' or"),
        ("tagger", "scorer.kind 'none' learns no probabilities of spans: it must be 'softmax' or 'sigmoid'"),
        ("dspert", "scorer.smoothing makes targets of its own: set scorer.smoothing=0"),
        ("spanner/tagger", "auxiliaries.tagger learns from entities that are certain: set auxiliaries."),
        ("joint-ib", "auxiliaries.span_vae learns from entities that are certain: set auxiliaries.span_vae="),
    ],
)
def test_parts_that_cannot_learn_soft_targets_refuse_them(recipe: str, reason: str) -> None:
    name, _, auxiliary = recipe.partition("/")
    added = [f"auxiliaries.{auxiliary}={{}}"] if auxiliary else []
    with pytest.raises(SettingsError) as caught:
        load_settings(name, ["training.targets=soft", *added])
    assert f"training.targets is 'soft', but {reason}" in str(caught.value)


@pytest.mark.parametrize("change", ["scorer.kind=softmax", "scorer={kind='sigmoid'}"])
def test_scorers_with_probabilities_learn_soft_targets(change: str) -> None:
    assert load_settings("plain", ["training.targets=soft", change]).training.targets == "soft"


def test_another_kind_keeps_what_it_knows_of_the_old_one_and_drops_the_rest() -> None:
    plain = load_settings("plain", {"scorer.dropout": 0.4})
    assert plain.scorer.kind == "softmax"
    changed = load_settings(plain, ["scorer.kind=bi-encoder"]).scorer
    assert changed.model_dump() == BiEncoderSettings(kind="bi-encoder", dropout=0.4).model_dump()
    recipe = load_settings("plain", ["scorer.kind=bi-encoder"]).scorer
    assert recipe.model_dump() == BiEncoderSettings(kind="bi-encoder").model_dump()


def test_another_kind_drops_a_value_of_the_old_one_that_it_does_not_allow() -> None:
    assert load_settings("binder").scorer.model_dump()["threshold"] == "dynamic"
    changed = load_settings("binder", ["scorer.kind=sigmoid"]).scorer
    assert changed.model_dump() == SigmoidSettings(kind="sigmoid", dropout=0.1).model_dump()


def test_another_kind_of_schedule_drops_what_is_foreign_to_it() -> None:
    (changed,) = load_settings(
        "plain",
        {
            "objective.weights.spans": {"kind": "linear", "start": 0, "end": 2},
            "objective.weights.spans.kind": "logistic",
        },
    ).objective.weights.values()
    assert changed == LogisticSchedule(kind="logistic", end=2)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_foreign_to_another_kind_is_refused_if_the_user_wrote_it(first: bool) -> None:
    changes = ("scorer.hidden=[8]", "scorer.kind=bi-encoder")
    assert "unknown setting 'scorer.hidden' here" in refusal(*(changes if first else reversed(changes)))


@pytest.mark.parametrize("kind", ["sofmax", 3, [3]])
def test_a_kind_that_does_not_exist_is_refused(kind: object) -> None:
    with pytest.raises(
        SettingsError, match=r"unknown kind '.*'; expected softmax, sigmoid, bi-encoder, none"
    ):
        load_settings("plain", {"scorer.kind": kind})


def test_the_kind_that_a_part_has_changes_nothing() -> None:
    assert load_settings("binder", ["scorer.kind=bi-encoder"]) == load_settings("binder")


def test_every_wrong_setting_is_named_at_once() -> None:
    message = refusal("training.epoch=3", "windows.pieces=2")
    assert "'training.epoch'" in message and "'windows.pieces' is 2" in message


def test_resolved_settings_survive_json() -> None:
    settings = load_settings("plain", ["objective.weights.spans={kind='linear', start=0, end=1}"])
    assert check(settings.model_dump(mode="json"), "json") == settings


@pytest.mark.parametrize("corpora", [{"leaked": "keep"}, {"leaked": "keep", "token": False}])
def test_the_former_name_of_training_leaked_is_still_read(corpora: dict[str, object]) -> None:
    values = {"name": "old", "corpora": corpora, "training": {"epochs": 3}}
    settings = check(values, "old.json")
    assert (settings.training.leaked, settings.training.epochs) == ("keep", 3)
    assert check(settings.model_dump(mode="json"), "new.json") == settings


def test_a_wrong_value_under_the_former_name_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"setting .training\.leaked. is .maybe.: .*'drop' or 'keep'"):
        load_settings("cvae", ["corpora.leaked=maybe"])


def test_two_names_of_a_setting_with_different_values_are_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"training\.leaked is .drop., but corpora\.leaked.* .keep.; leave out"
    ):
        load_settings("cvae", ["corpora.leaked=keep", "training.leaked=drop"])
