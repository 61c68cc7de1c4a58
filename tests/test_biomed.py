"""The biomedical model: no document of a test split was trained on, and the card tells what it must."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tiny
from spanwright.corpora.label_map import load_map
from spanwright.model_card import model_card
from spanwright.text import Document

PACKAGE = Path(__file__).resolve().parent.parent / "models" / "biomed"
MODEL = PACKAGE / "spanwright_biomed" / "model"


def script(name: str) -> ModuleType:
    """A script beside the package."""
    spec = importlib.util.spec_from_file_location(f"biomed_{name}", PACKAGE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


splits = script("corpora")


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
