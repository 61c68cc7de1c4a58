"""The plans of benchmarks/claims: all of them load, and tell how they are run."""

from __future__ import annotations

import re
from pathlib import Path

import pretending
import pytest
import torch

import making
import tiny
from places import ROOT
from spanwright.comparing import load_plan
from spanwright.comparing.plan import Plan
from spanwright.text import Document
from spanwright.training.checkpoint import Position
from spanwright.training.corpora_file import load_corpora_file
from spanwright.training.processes import joined_processes
from spanwright.training.scoring import finish, score_dev
from spanwright.training.setup import set_up
from spanwright.training.step import Learner

CLAIMS = ROOT / "benchmarks" / "claims"
PLANS = sorted(path.stem for path in CLAIMS.glob("*.toml"))


@pytest.fixture
def plan(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan, read where its paths start from."""
    monkeypatch.chdir(ROOT)
    return load_plan(CLAIMS / f"{request.param}.toml")


every_plan = pytest.mark.parametrize("plan", PLANS, indirect=True)


@every_plan
def test_every_plan_has_claims_of_a_paper_and_says_what_it_changed(plan: Plan) -> None:
    assert plan.claims and plan.paper and plan.changed
    # Each recipe of a plan serves a claim, or it would be trained for nothing.
    used = {recipe for claim in plan.claims for recipe in claim.recipes}
    assert used == set(plan.recipes)


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_tells_its_command_and_its_cost(name: str) -> None:
    text = (CLAIMS / f"{name}.toml").read_text()
    assert f"spanwright compare benchmarks/claims/{name}.toml --out docs/results/claims/{name}\n" in text
    assert "core hours: " in text


def test_the_list_of_plans_is_complete() -> None:
    assert sorted(re.findall(r"\]\(([\w-]+)\.toml\) \|", (CLAIMS / "README.md").read_text())) == PLANS


@every_plan
def test_claims_are_about_numbers_that_runs_have(plan: Plan, tmp_path: Path) -> None:
    made = pretending.plan("plain", seeds=1)
    (outcome,) = pretending.outcomes(tmp_path, {"plain": pretending.right}, made)
    for claim in plan.claims:
        kind, _, name = claim.of.partition("/")
        if kind == "mistakes":
            assert name in outcome.mistake_rates
        elif kind not in ("f1", "type", "number"):
            assert (kind, name) in outcome.buckets


@every_plan
def test_the_numbers_of_a_paper_are_as_many_as_the_recipes_of_its_claim(plan: Plan) -> None:
    for claim in plan.claims:
        for numbers in claim.reported.values():
            assert len(numbers) == len(claim.order or (claim.better, *claim.than))


@every_plan
def test_files_of_public_corpora_are_there(plan: Plan, corpora: Path) -> None:
    for corpus in plan.corpora.values():
        files = [path for split in (corpus.train, corpus.dev, corpus.test) for path in split or ()]
        shared = [path for path in files if path.parts[:3] == ("..", "shared", "corpora")]
        assert all((corpora / Path(*path.parts[3:])).exists() for path in shared)


@pytest.mark.parametrize("name", ["clean", "leaked", "small"])
def test_several_corpora_are_those_of_the_label_map(name: str) -> None:
    file = load_corpora_file(CLAIMS / "corpora" / f"{name}.toml")
    assert file.target == ("BioRED",) and len(file.corpora) == 10 and file.map == "cvae-ner"


@pytest.fixture(scope="module")
def deep_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """As many blocks as the deepest plan asks for."""
    return str(tiny.encoder_folder(tmp_path_factory.mktemp("deep") / "encoder", layers=12))


def documents(count: int, prefix: str, *, several: bool) -> list[Document]:
    """Made-up documents; where several corpora are asked for, those of BioRED and of one beside it."""
    made = making.documents(count, prefix=prefix, flat=True)
    if not several:
        return making.with_concepts(made)
    return [*making.of_corpus(genes(made), "BioRED"), *making.of_corpus(genes(made), "GNormPlus")]


def genes(documents: list[Document]) -> list[Document]:
    return [
        each.with_entities(tuple(entity for entity in each.entities if entity.type == "Gene"))
        for each in documents
    ]


@every_plan
def test_every_recipe_of_a_plan_learns_and_answers(plan: Plan, deep_encoder: str) -> None:
    done = set()
    for corpus in plan.corpora:
        for recipe in plan.recipes_on(corpus):
            asked = plan.settings(recipe, corpus)
            encoder = asked.encoder.model_copy(update={"name": deep_encoder})
            settings = asked.model_copy(update={"encoder": encoder})
            if (text := settings.model_dump_json()) in done:
                continue
            done.add(text)
            several = settings.corpora is not None
            train = documents(6, "train", several=several)
            setup = set_up(settings, train, documents(2, "dev", several=several), [])
            with joined_processes("cpu") as processes:
                learner = Learner(setup, processes)
                for progress in (0.05, 0.95):  # in the phases of a recipe, and after them
                    loss, _ = learner.step(setup.batches(0)[:1], Position(), progress=progress)
                    assert torch.isfinite(torch.tensor(loss))
            score_dev(setup)
            assert finish(setup, setup.model).scores["dev"].micro.gold > 0
