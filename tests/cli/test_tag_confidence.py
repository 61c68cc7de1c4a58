"""`spanwright tag --minimum-confidence` and `--tuned-thresholds`, with a tiny model that is not trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.evaluation import Calibration
from spanwright.formats.files import read, write
from spanwright.text import Document, Entity


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    thresholds = {"Cell": 0.5, "Gene": 0.6}
    made = replace(tiny.model(), calibration=Calibration("temperature", 8.0), thresholds=thresholds)
    artifact.save(made, folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    write(making.documents(5), tmp_path / "texts.jsonl")
    return tmp_path / "texts.jsonl"


def tagged(model: Path, texts: Path, *arguments: object) -> list[Document]:
    out = texts.with_name("tagged.jsonl")
    outcome = run("tag", model, texts, "--out", out, *arguments)
    assert outcome.code == 0, outcome.stderr
    return read(out).documents


def cut(documents: list[Document], cell: float, gene: float) -> list[Document]:
    """The documents without entities whose confidence is below the lowest of their type."""

    def is_kept(entity: Entity) -> bool:
        assert entity.confidence is not None
        return entity.confidence >= {"Cell": cell, "Gene": gene}[entity.type]

    return [document.with_entities(tuple(filter(is_kept, document.entities))) for document in documents]


@pytest.mark.parametrize(
    ("arguments", "cell", "gene"),
    [
        (("--minimum-confidence", 0.55), 0.55, 0.55),
        (("--tuned-thresholds",), 0.5, 0.6),
        (("--tuned-thresholds", "--minimum-confidence", 0.55), 0.55, 0.6),
    ],
    ids=["minimum", "tuned", "both"],
)
def test_entities_of_low_confidence_are_dropped(
    model: Path, texts: Path, arguments: tuple[object, ...], cell: float, gene: float
) -> None:
    everything = tagged(model, texts)
    kept = tagged(model, texts, *arguments)
    assert kept == cut(everything, cell, gene)
    numbers = [sum(len(document.entities) for document in each) for each in (kept, everything)]
    assert 0 < numbers[0] < numbers[1]


def test_confidences_in_a_file_are_calibrated(model: Path, texts: Path, tmp_path: Path) -> None:
    artifact.save(replace(artifact.load(model), calibration=None), tmp_path / "raw")
    raw, shown = (
        [entity.confidence for document in tagged(folder, texts) for entity in document.entities]
        for folder in (tmp_path / "raw", model)
    )
    assert shown == Calibration("temperature", 8.0).apply(raw).round(6).tolist() != raw


def test_a_minimum_beyond_1_is_a_wrong_call(model: Path, texts: Path) -> None:
    assert run("tag", model, texts, "--minimum-confidence", 1.5).code == 2


def test_a_model_without_thresholds_is_an_error_that_says_what_else_to_do(
    texts: Path, tmp_path: Path
) -> None:
    artifact.save(tiny.model(), tmp_path / "model")
    outcome = run("tag", tmp_path / "model", texts, "--tuned-thresholds")
    assert outcome.code == 2
    assert "tuned thresholds: the model has none" in outcome.error
