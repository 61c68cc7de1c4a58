from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanwright.comparing import load_plan, make_plan
from spanwright.comparing.pictures import plots_of
from spanwright.comparing.plan import folder_name
from spanwright.errors import InputError

CORPUS = {"train": "train.tsv", "dev": ["dev.tsv"], "test": ["a.tsv", "b.tsv"]}
PLOT = {"kind": "line", "recipes": ["plain"]}


def values(**changes: Any) -> dict[str, Any]:
    return {"recipes": ["plain", "bundling"], "corpora": {"made": CORPUS}, **changes}


def refusal(**changes: Any) -> str:
    with pytest.raises(InputError) as caught:
        make_plan(values(**changes), "plan.toml")
    message = str(caught.value)
    assert message.startswith("plan.toml: ")
    return message.removeprefix("plan.toml: ")


@pytest.mark.parametrize("encoder", ["folders/😀", "2024", 'a "quoted" folder', "del\x7fete"])
def test_the_encoder_of_a_plan_may_be_a_folder_of_any_name(encoder: str) -> None:
    plan = make_plan(values(encoder=encoder), "plan.toml")
    recipe, corpus = plan.recipes[0], next(iter(plan.corpora))
    assert plan.settings(recipe, corpus).encoder.name == encoder


def test_a_plan_is_read_from_toml(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        """
        recipes = ["plain", "bundling/crf"]
        seeds = 2
        base = "bundling/crf"
        encoder = "2024"
        set = ["training.epochs=2"]

        [set_for]
        "bundling/crf" = ["training.epochs=5"]

        [corpora.ncbi]
        train = ["a.tsv", "b.tsv"]
        dev = "dev.tsv"
        test = "test.tsv"
        documents = { train = 50, dev = 10 }
        set = ["training.epochs=3", "training.batch_windows=4"]

        [plots.taggers]
        kind = "bars"
        recipes = ["plain", "bundling/crf"]
        """
    )
    plan = load_plan(tmp_path / "plan.toml")
    assert plan == load_plan(str(tmp_path / "plan.toml"))
    assert plan.base == "bundling/crf"
    assert plan.corpora["ncbi"].train == (Path("a.tsv"), Path("b.tsv"))
    assert plan.corpora["ncbi"].dev == (Path("dev.tsv"),)
    assert plan.corpora["ncbi"].documents.model_dump() == {"train": 50, "dev": 10, "test": None}
    assert plan.plots["taggers"].kind == "bars"
    settings = plan.settings("plain", "ncbi")
    assert (settings.encoder.name, settings.training.batch_windows) == ("2024", 4)


def test_settings_of_a_recipe_go_over_those_of_a_corpus_and_these_over_those_of_all() -> None:
    corpora = {"one": CORPUS, "two": {**CORPUS, "set": ["training.epochs=3"]}}
    plan = make_plan(
        values(corpora=corpora, set=["training.epochs=2"], set_for={"bundling": ["training.epochs=4"]}),
        "plan",
    )
    epochs = {
        (recipe, corpus): plan.settings(recipe, corpus).training.epochs
        for recipe in plan.recipes
        for corpus in plan.corpora
    }
    assert epochs == {
        ("plain", "one"): 2,
        ("plain", "two"): 3,
        ("bundling", "one"): 4,
        ("bundling", "two"): 4,
    }


def test_a_corpus_may_have_some_of_the_recipes() -> None:
    plan = make_plan(values(corpora={"one": CORPUS, "two": {**CORPUS, "recipes": ["plain"]}}), "plan")
    assert plan.recipes_on("one") == ("plain", "bundling")
    assert plan.recipes_on("two") == ("plain",)


def test_the_first_recipe_is_the_base_unless_one_is_named() -> None:
    assert make_plan(values(), "plan").base == "plain"
    assert make_plan(values(base="bundling"), "plan").base == "bundling"


def test_descriptions_go_to_the_recipes_that_read_them() -> None:
    corpora = {"made": {**CORPUS, "descriptions": "genia"}}
    recipes = ["plain", "binder", "binder/keywords", "binder/atomic"]
    plan = make_plan(values(recipes=recipes, corpora=corpora), "plan")
    found = [plan.settings(recipe, "made").labels.descriptions for recipe in recipes]
    assert found == [None, "genia", "genia", None]


def test_descriptions_that_no_recipe_reads_are_refused() -> None:
    message = refusal(corpora={"made": {**CORPUS, "descriptions": "genia"}})
    assert message == (
        "descriptions are given for the corpus 'made', but none of the recipes reads any; binder does"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": "binder"}, "base names 'binder'; expected plain, bundling"),
        (
            {"corpora": {"made": {**CORPUS, "recipes": ["binder"]}}},
            "corpora.made.recipes names 'binder'; expected plain, bundling",
        ),
        (
            {"corpora": {"one": CORPUS, "two": {**CORPUS, "recipes": ["bundling"]}}},
            "corpora.two.recipes lacks the base 'plain'; add it, or choose another base",
        ),
        ({"set_for": {"binder": []}}, "set_for names 'binder'; expected plain, bundling"),
        (
            {"plots": {"one": {"kind": "line", "recipes": ["plain", "spanner"]}}},
            "plots.one names 'spanner'; expected plain, bundling",
        ),
        (
            {"recipes": ["plain", "plain"]},
            "two of the recipes would go into the folder 'plain'; rename one",
        ),
        (
            {"recipes": ["a/mine.toml", "b/mine.toml"]},
            "two of the recipes would go into the folder 'mine'; rename one",
        ),
        (
            {"set": ["training.seed=5"]},
            "training.seed cannot be set: a comparison counts its seeds from 1",
        ),
        (
            {"set_for": {"plain": ["training.seed = 5"]}},
            "training.seed cannot be set: a comparison counts its seeds from 1",
        ),
        ({"seeds": 0}, "'seeds' is 0: expected more than 0"),
        (
            {"seed": 1},
            "'seed' is unknown (did you mean 'seeds'?); "
            "expected recipes, corpora, seeds, base, encoder, set, set_for, "
            "heat_map_split, plots, paper, changed, claims, untestable, analyses",
        ),
        (
            {"corpora": {"made": {**CORPUS, "tests": 1}}},
            "'corpora.made.tests' is unknown (did you mean 'test'?); "
            "expected train, dev, test, together, format, options, "
            "documents, recipes, map, descriptions, set",
        ),
        (
            {"corpora": {"made": {**CORPUS, "documents": {"all": 1}}}},
            "'corpora.made.documents.all' is unknown; expected train, dev, test",
        ),
        (
            {"plots": {"one": {"kind": "line", "recipes": ["plain"], "title": ""}}},
            "'plots.one.title' is unknown; expected kind, recipes",
        ),
        (
            {"corpora": {"made": {"train": "a", "dev": "b"}}},
            "'corpora.made': test is missing; expected train, dev and test, or together",
        ),
        (
            {"corpora": {"made": {**CORPUS, "together": "c.toml"}}},
            "'corpora.made': together is given, so files, formats, maps and numbers of documents belong "
            "there",
        ),
        ({"heat_map_split": "train"}, "'heat_map_split' is 'train': expected 'dev' or 'test'"),
    ],
)
def test_a_wrong_plan_is_refused_with_the_place_and_what_is_legal(
    changes: dict[str, Any], message: str
) -> None:
    assert refusal(**changes) == message


@pytest.mark.parametrize("name", ["../up", "a b/c", "", "-a", ".a", "a\n"])
@pytest.mark.parametrize("what", ["corpus", "plot"])
def test_names_that_are_part_of_file_names_cannot_lead_out_of_the_folder(what: str, name: str) -> None:
    named = {"corpus": {"corpora": {name: CORPUS}}, "plot": {"plots": {name: PLOT}}}
    assert refusal(**named[what]) == (
        f"the {what} name {name!r} is part of file names: expected letters, digits, '_', '.' and '-', "
        "beginning with a letter, a digit or '_'"
    )


def test_a_wrong_setting_of_any_recipe_is_refused() -> None:
    with pytest.raises(InputError, match=r"bundling: unknown setting 'training.epoch'"):
        make_plan(values(set_for={"bundling": ["training.epoch=1"]}), "plan")


def test_a_plan_that_is_no_toml_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("recipes = [")
    with pytest.raises(InputError, match=r"plan.toml: not valid TOML"):
        load_plan(tmp_path / "plan.toml")
    with pytest.raises(InputError, match=r"none.toml: no such file"):
        load_plan(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("recipe", "folder"),
    [("plain", "plain"), ("bundling/crf", "bundling-crf"), ("my/recipes/mine.v2.toml", "mine.v2")],
)
def test_a_recipe_has_one_folder(recipe: str, folder: str) -> None:
    assert folder_name(recipe) == folder


def test_recipes_that_differ_in_a_weight_only_are_a_line_in_the_order_of_weights() -> None:
    recipes = ["bundling/weight-0.9", "plain", "bundling/weight-0.1"]
    plots = plots_of(make_plan(values(recipes=recipes), "plan"))
    assert list(plots) == ["bundling-weight"]
    assert plots["bundling-weight"].kind == "line"
    assert plots["bundling-weight"].recipes == ("bundling/weight-0.1", "bundling/weight-0.9")


def test_a_single_weight_is_no_line() -> None:
    assert plots_of(make_plan(values(recipes=["bundling/weight-0.9", "plain"]), "plan")) == {}
