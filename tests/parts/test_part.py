"""What parts say about themselves: roles of their weights, and usual weights of their loss terms."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from torch import nn

import making
import tiny
from spanwright.artifact import TrainedModel
from spanwright.parts.part import Part, roles_of
from spanwright.recipes import recipe_names
from spanwright.settings import load_settings
from spanwright.training.selection import select
from spanwright.training.setup import new_model

SPANS = {"encoder.": "encoder", "spans.": "head"}
ROLES = {
    "binder": {**SPANS, "spans.scorer.source.": "encoder"},
    "bundling": {**SPANS, "tagger.": "auxiliary"},
    "cvae": {
        **SPANS,
        "spans.conditioned.": "auxiliary",
        "spans.conditioned.cvae.condition.": "condition",
    },
    "dspert": {**SPANS, "spans.representation.representation.blocks.": "encoder"},
    "joint-ib": {**SPANS, "writer.": "auxiliary"},
    "plain": SPANS,
    "spanner": SPANS,
    "tagger": {"encoder.": "encoder", "tagger.": "auxiliary"},
}
"""The roles of all parameters of each recipe, by the beginnings of their names; the longest counts."""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder with as many layers as a base model: recipes name layers by number."""
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"), layers=12)


@cache
def model(recipe: str, encoder: Path) -> TrainedModel:
    """An untrained model of a recipe."""
    changes = [f"encoder.name={encoder}", "windows.pieces=64", "windows.overlap=6"]
    chosen = load_settings(recipe, changes)
    documents = making.with_concepts(making.documents(4, flat=chosen.output == "tags"))
    if chosen.corpora is not None:
        chosen = load_settings(recipe, [*changes, "corpora.target=['first']", "corpora.map=auto"])
        documents = [*making.of_corpus(documents[:2], "first"), *making.of_corpus(documents[2:], "second")]
    made, _ = new_model(chosen, select(chosen, documents[1:], documents[:1], []))
    return made


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_parameter_of_a_recipe_has_the_role_of_its_part(recipe: str, encoder: Path) -> None:
    roles = model(recipe, encoder).network.roles()
    used = set()
    for role, named in roles.items():
        for name, _ in named:
            beginning = max((each for each in ROLES[recipe] if name.startswith(each)), key=len)
            assert (name, role) == (name, ROLES[recipe][beginning])
            used.add(beginning)
    assert used == ROLES[recipe].keys()


@pytest.mark.parametrize("recipe", recipe_names())
def test_parts_tell_usual_weights_of_terms_that_the_model_has(recipe: str, encoder: Path) -> None:
    made = model(recipe, encoder)
    told = [{**part.usual_weights(), **part.usual_shares()} for part in made.settings.parts]
    assert {term for weights in told for term in weights} <= made.network.terms


@pytest.mark.parametrize("recipe", recipe_names())
def test_parts_tell_a_rate_for_each_role_that_the_model_has(recipe: str, encoder: Path) -> None:
    made = model(recipe, encoder)
    told = [part.usual_rates(pretrained=1.0, fresh=2.0) for part in made.settings.parts]
    assert {role for rates in told for role in rates} == made.network.roles().keys()


class Encoding(Part):
    role = "encoder"

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner


class Conditional(Encoding):
    role = "condition"


def role_of_the_only_weight(network: nn.Module) -> str:
    (role,) = roles_of(network)
    return role


def test_the_nearest_part_around_a_parameter_decides_its_role() -> None:
    layer = nn.Linear(2, 2)
    assert role_of_the_only_weight(nn.Sequential(layer)) == "head"
    assert role_of_the_only_weight(Encoding(nn.Sequential(layer))) == "encoder"
    assert role_of_the_only_weight(nn.Sequential(Encoding(Conditional(layer)))) == "condition"
    assert role_of_the_only_weight(nn.Sequential(Conditional(Encoding(layer)))) == "encoder"


@pytest.mark.parametrize("name", ["backbone", "blocks", "condition"])
def test_the_name_of_a_module_says_nothing_about_its_role(name: str) -> None:
    made = tiny.model().network
    assert made.spans is not None
    made.spans.add_module(name, nn.Linear(2, 2, bias=False))
    assert f"spans.{name}.weight" in [each for each, _ in made.roles()["head"]]
