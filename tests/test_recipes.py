from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import torch

import making
import tiny
from spanwright.errors import SettingsError
from spanwright.recipes import overlay_names, recipe_names, recipe_text
from spanwright.settings import load_settings
from spanwright.training.loop import train
from watching import Recorder, StoppedError

RECIPES = recipe_names()
VARIANTS = [variant for recipe in RECIPES for variant in overlay_names(recipe)]


def test_the_reference_recipe_is_shipped() -> None:
    assert "plain" in RECIPES


@pytest.mark.parametrize("recipe", [*RECIPES, *VARIANTS])
def test_a_recipe_is_called_like_its_file(recipe: str) -> None:
    assert load_settings(recipe).name == recipe


@pytest.mark.parametrize("recipe", [*RECIPES, *VARIANTS])
def test_a_recipe_says_in_one_line_what_it_is(recipe: str) -> None:
    description = load_settings(recipe).description
    assert len(description) > 20 and "\n" not in description


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_prints_with_comments_and_the_command_that_trains_it(recipe: str) -> None:
    text = recipe_text(recipe)
    assert text.startswith("# ")
    assert f"spanwright train {recipe} " in text
    assert tomllib.loads(text)["name"] == recipe


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_changes_settings_of_its_recipe(variant: str) -> None:
    recipe, _, _ = variant.partition("/")
    own, base = (
        load_settings(name).model_dump(exclude={"name", "description"}) for name in (variant, recipe)
    )
    # The default share of the loss stands among those of figure 5, so that the sweep is complete.
    assert own != base or variant == "bundling/weight-0.1"


@pytest.fixture(scope="module")
def deep_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny encoder with as many layers as a base model: recipes name layers by number."""
    return str(tiny.encoder_folder(tmp_path_factory.mktemp("deep-encoder"), layers=12))


@pytest.mark.parametrize("recipe", [*RECIPES, *VARIANTS])
def test_a_recipe_trains_and_learns_from_its_first_steps(
    recipe: str, deep_encoder: str, tmp_path: Path
) -> None:
    changes = [f"encoder.name={deep_encoder}", "windows.pieces=64", "windows.overlap=6"]
    changes += ["candidates.width_limit=4", "training.epochs=3"]
    chosen = load_settings(recipe, changes)
    flat = chosen.output == "tags"
    documents = making.with_concepts(making.documents(6, flat=flat))
    dev = making.documents(2, prefix="dev", flat=flat)
    if chosen.corpora is not None:
        chosen = load_settings(recipe, [*changes, "corpora.target=['first']", "corpora.map=auto"])
        documents = [*making.of_corpus(documents[:3], "first"), *making.of_corpus(documents[3:], "second")]
        dev = making.of_corpus(dev, "first")
    # All documents are one batch; where a first phase trains a part alone, the second step is after it.
    recorder = Recorder(stop_at_step=2 if chosen.objective.phases else 1)
    with pytest.raises(StoppedError):
        train(
            chosen,
            train=documents,
            dev=dev,
            out=tmp_path / "run",
            watcher=recorder,
        )
    assert all(loss > 0 for loss in recorder.losses)
    for role, named in recorder.setup.model.network.roles().items():
        assert any(not torch.equal(parameter, recorder.fresh[name]) for name, parameter in named), role
        assert all(parameter.isfinite().all() for _, parameter in named), role


def test_an_unknown_recipe_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(SettingsError, match=r"unknown recipe 'plian' .*; expected .*plain"):
        recipe_text("plian")
