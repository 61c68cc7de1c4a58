"""The biomedical model: no document of a test split was trained on, and the card tells what it must."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import tiny
from places import ROOT
from spanwright.comparing import load_plan
from spanwright.corpora.label_map import load_map
from spanwright.model_card import model_card
from spanwright.text import Document

PACKAGE = ROOT / "models" / "biomed"
BENCHMARKS = ROOT / "benchmarks" / "biomed"
MODEL = PACKAGE / "spanwright_biomed" / "model"


def script(path: Path) -> ModuleType:
    """A script, as a module."""
    spec = importlib.util.spec_from_file_location(f"biomed_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


splits = script(PACKAGE / "corpora.py")


def document(id: str) -> Document:
    return Document(id, "A text.")


@pytest.mark.parametrize(
    ("training", "leaked"),
    [
        ({"BC5CDR": ["1", "2"], "NLMGene": ["3"]}, []),
        ({"BC5CDR": ["1", "7"]}, ["7 of BC5CDR"]),
        ({"NLMGene": ["9"], "Linnaeus": ["9#4"]}, ["9 of NLMGene", "9#4 of Linnaeus"]),
        ({"BioID": ["1234567_2", "7654321_1"]}, ["1234567_2 of BioID"]),
        ({"BC5CDR": ["1234567"]}, []),
    ],
    ids=["none", "same corpus", "other corpora and passages", "captions", "PubMed Central has other ids"],
)
def test_a_training_document_of_a_test_split_is_found(
    training: dict[str, list[str]], leaked: list[str]
) -> None:
    tests = {"BioRED": [document("7")], "SPECIES800": [document("9")], "BioID": [document("1234567_9")]}
    assert splits.leaked_ids(training, tests) == leaked


@pytest.fixture(scope="module")
def training_ids() -> dict[str, list[str]]:
    path = MODEL / "training-ids.json"
    if not path.exists():
        pytest.skip(f"no model at {MODEL}; `make model` makes it")
    found: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_no_document_of_a_test_split_was_trained_on(
    training_ids: dict[str, list[str]], corpora: Path
) -> None:
    found = splits.read_splits(corpora / "aioner" / "pubtator", load_map("cvae-ner"))
    tests = {name: test for name, (_, test) in found.items()}
    assert splits.leaked_ids(training_ids, tests) == []
    # And the ids are those of documents that are there, so that the check compares what it should.
    for name, (train, _) in found.items():
        known = {document.id for document in train}
        assert training_ids[name] and {id.partition("#")[0] for id in training_ids[name]} <= known


def test_the_package_is_small_and_tells_of_itself(training_ids: dict[str, list[str]]) -> None:
    assert sum(file.stat().st_size for file in MODEL.iterdir()) <= 75_000_000
    card = (MODEL / "README.md").read_text(encoding="utf-8")
    for section in ("Intended use", "Corpora", "Tests", "Confidence", "Speed", "Licence"):
        assert f"\n## {section}\n" in card
    assert all(f"\n| {name} | " in card for name in training_ids)


def test_the_card_tells_what_its_makers_and_measurements_say() -> None:
    made = tiny.model()
    scores = {"precision": 0.8, "recall": 0.7, "f1": 0.75, "documents": 3, "interval": [0.71, 0.79]}
    facts = {
        "name": "cells",
        "summary": "Cells of made-up texts",
        "use": "To test.",
        "weak": ["Real texts."],
        "licence": "Free for all.",
        "corpora": {"A": {"source": "nowhere", "terms": "none", "documents": 1200, "left_out": 2}},
        "tests": {"A": {**scores, "types": {"Cell": {"f1": 0.9, "gold": 4}, "Gene": {"f1": 0.5, "gold": 6}}}},
        "speed": {"words_per_second": 5432.1, "threads": 2, "machine": "a machine"},
    }
    card = model_card(made.settings, made.labels, facts)
    for text in (
        "# cells on minilm",
        'spanwright.load("cells")',
        "Cells of made-up texts.",
        "To test.\n\nWhat it is bad at, or not made for:\n\n- Real texts.",
        "| A | nowhere | none | 1,200 | 2 |",
        "| A | 3 | 80.0 | 70.0 | 75.0 (71.0 to 79.0) |",
        "5,432 words per second from text to entities, on 2 threads of a machine",
        "## Licence\n\nFree for all.",
    ):
        assert text in card
    assert card.index("| Gene | A | 6 | 50.0 |") < card.index("| Cell | A | 4 | 90.0 |")


def test_the_plans_of_what_it_is_worth_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    plans = [
        file for file in sorted(BENCHMARKS.glob("*.toml")) if "recipes" in tomllib.loads(file.read_text())
    ]
    assert len(plans) == 4
    for file in plans:
        plan = load_plan(file)
        assert (
            f"spanwright compare {file.relative_to(ROOT)} --out docs/results/biomed/{file.stem}"
            in file.read_text()
        )
        for corpus in plan.corpora:
            assert all(plan.settings(recipe, corpus) for recipe in plan.recipes_on(corpus))
    kept = load_plan(BENCHMARKS / "forgetting.toml").settings(
        "benchmarks/biomed/diseases-kept.toml", "diseases"
    )
    assert kept.keeps_types and kept.soft_targets


def test_the_page_has_a_place_for_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = script(BENCHMARKS / "tables.py")
    text = (ROOT / "docs" / "biomed.md").read_text(encoding="utf-8")
    for name in ("tests", "left-out", "few-sentences", "forgetting"):
        assert "| a | b |" in page.with_table(text, name, "| a | b |")
    told = {"f1": 0.8, "documents": 2, "interval": [0.7, 0.9]}
    speed = {"words_per_second": 5000.0, "threads": 2, "machine": "a machine"}
    shown = page.tests({"tests": {"A": told}, "speed": speed, "bytes": 5_000_000}, [])
    assert "| A | 2 | 80.0 (70.0 to 90.0) |  |" in shown and "5.0 MB" in shown
    assert page.tests({}, []) == page.forgetting([]) == page.few_sentences([]) == "Not measured yet."
