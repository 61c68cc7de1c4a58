"""The page of claims, made from made-up lines of runs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copy

import pretending
import pytest
from pretending import cells_only, right

from places import ROOT
from spanwright.comparing import RunOutcome, load_plan
from spanwright.comparing.outcomes import write_outcomes

CLAIMS = ROOT / "benchmarks" / "claims"


def made_up_runs(name: str, folder: Path, better: set[str]) -> list[RunOutcome]:
    """Runs of every recipe of a plan; those that are better find everything."""
    plan = load_plan(CLAIMS / f"{name}.toml")
    answers = {"plain": right, "spanner": cells_only}
    good, bad = pretending.outcomes(folder, answers, pretending.plan(*answers, seeds=1))
    runs = []
    for corpus in plan.corpora:
        for recipe in plan.recipes_on(corpus):
            for seed in range(1, plan.seeds + 1):
                template = good if recipe in better else bad
                curve = [0.5 + 0.02 * seed, 0.7, 0.7 + 0.001 * seed]
                record = replace(template.record, dev_f1=curve, commit="0123456789")
                runs.append(replace(template, corpus=corpus, recipe=recipe, seed=seed, record=record))
    return runs


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The page of three plans, two of which have runs, and the folder of its pictures."""
    folder = tmp_path_factory.mktemp("page")
    plans, results = folder / "plans", folder / "results"
    plans.mkdir()
    for name, better in (("bundling", {"bundling"}), ("dspert", {"dspert/pruned"}), ("binder", None)):
        copy(CLAIMS / f"{name}.toml", plans)
        if better is not None:
            (results / name).mkdir(parents=True)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(ROOT)
                write_outcomes(made_up_runs(name, folder / name, better), results / name)
    scores = {"biored_test": {"all": {"precision": 0.5, "recall": 0.25, "f1": 0.333}}}
    (results / "binder").mkdir()
    (results / "binder" / "new-type.json").write_text(json.dumps(scores))
    out = folder / "docs" / "claims.md"
    out.parent.mkdir()
    command = [sys.executable, CLAIMS / "page.py", "--plans", plans, "--results", results, "--out", out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return out.read_text(), out.parent / "images" / "claims"


def row(page: str, beginning: str) -> list[str]:
    line = next(line for line in page.splitlines() if line.startswith(f"| {beginning}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_claim_has_its_verdict_effect_and_runs(page: tuple[str, Path]) -> None:
    cells = row(page[0], "Bundling makes the span model better where")
    assert cells[1:3] == ["table 3", "**confirmed**"]
    effect, (low, high) = float(cells[3]), map(float, cells[4].split(" to "))
    assert 0 < low < effect < high
    assert cells[6] == "conll04 +0.8; ncbi +0.5; scierc +0.7"
    assert cells[7] == "3, 90"
    assert cells[8].startswith("3 epochs")
    assert cells[9] == "[bundling](results/claims/bundling) (60 runs, commit 0123456)"


def test_the_other_way_round_it_is_contradicted(page: tuple[str, Path]) -> None:
    assert row(page[0], "Bundling makes the span model worse on tweets")[2] == "**contradicted**"


def test_a_claim_without_runs_or_numbers_is_not_run_yet(page: tuple[str, Path]) -> None:
    cells = row(page[0], "BINDER is better than token classification with")
    assert cells[2] == "**not run yet**" and cells[9] == "[plan](../benchmarks/claims/binder.toml)"
    assert row(page[0], "Deep vectors of entities are longer.")[2] == "**not run yet**"


def test_the_summary_counts_verdicts_by_paper(page: tuple[str, Path]) -> None:
    cells = row(page[0], "[BINDER (Zhang")
    assert cells[1:] == ["", "", "", "4", "2"]


def test_what_cannot_be_tested_and_what_was_changed_is_told(page: tuple[str, Path]) -> None:
    assert "| The same on OntoNotes, ACE04 and ACE05. | table 3 | These corpora are licensed" in page[0]
    assert "- MiniLM with 6 blocks instead of RoBERTa-base with 12" in page[0]
    assert "$ spanwright compare benchmarks/claims/dspert.toml --out docs/results/claims/dspert\n" in page[0]


def test_files_of_analyses_are_shown_where_they_are(page: tuple[str, Path]) -> None:
    assert "- biored_test, all: precision 50.0, recall 25.0, f1 33.3" in page[0]
    assert page[0].count("Not run yet.") == 1  # figure 4 of DSpERT


def test_every_picture_that_the_page_shows_is_drawn(page: tuple[str, Path]) -> None:
    text, folder = page
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "bundling-effects.png",
        "bundling-curves.png",
        "dspert-effects.png",
        "dspert-curves.png",
        "dspert-widths.png",
    }
    assert all(f"(images/claims/{name})" in text for name in names)
