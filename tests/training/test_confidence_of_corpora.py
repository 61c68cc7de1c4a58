"""Calibrations and thresholds of corpora that have types of their own, also where types have one name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import making
import tiny
from spanwright import artifact
from spanwright.artifact import ConfidenceScale, TrainedModel
from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import ModelError
from spanwright.evaluation import Calibration, Confidences
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.predicting.tagger import Tagger
from spanwright.service.batching import Batcher
from spanwright.service.messages import TagRequest
from spanwright.service.models import ServedModel
from spanwright.text import Document
from spanwright.training.confidence import calibrated, confidence_facts, uncalibrated

LABELS = LabelSpace(("Cell", "Gene", "Gene"), corpora=("A", "B"), corpus=(0, 0, 1))
SCALES = {
    "A": ConfidenceScale(Calibration("temperature", 4.0), {"Cell": 0.0, "Gene": 1.0}),
    "B": ConfidenceScale(Calibration("temperature", 0.5), {"Gene": 0.0}),
}


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    """An untrained model of two corpora that both have genes."""
    tokenizer, settings = tiny.tokenizer(), tiny.settings(corpora={})
    pieces = PieceEncoder(tokenizer, names_corpus=True)
    network = build(settings, tiny.backbone(tokenizer.get_vocab_size()), labels=LABELS, pieces=pieces)
    network = tiny.eager(network).eval()
    return TrainedModel(network, pieces, LABELS, settings, calibration=Calibration(), scales=SCALES)


def documents(corpus: str) -> list[Document]:
    return making.of_corpus(making.documents(6), corpus)


def confidences_of(model: TrainedModel, corpus: str) -> np.ndarray:
    tagged = Tagger(model).tag(documents(corpus))
    return np.array([entity.confidence for document in tagged for entity in document.entities])


def found(confidence: float, right: list[bool], corpus: str | None = None) -> Confidences:
    """Genes of one confidence, of which some are right."""
    size = len(right)
    return Confidences(
        ("Gene",),
        np.full(size, confidence),
        np.array(right),
        np.zeros(size, np.int64),
        np.array([size]),
        (corpus,) * size,
    )


def test_confidences_are_calibrated_as_those_of_the_corpus(model: TrainedModel) -> None:
    for name, scale in SCALES.items():
        raw = confidences_of(uncalibrated(model), name)
        assert len(raw)
        assert confidences_of(model, name).tolist() == scale.calibration.apply(raw).round(6).tolist()


def test_types_of_one_name_have_a_threshold_in_each_corpus(model: TrainedModel) -> None:
    for name, kept in (("A", False), ("B", True)):
        everything, tuned = (
            [e for d in Tagger(model).tag(documents(name), tuned_thresholds=asked) for e in d.entities]
            for asked in (False, True)
        )
        genes = [entity for entity in everything if entity.type == "Gene"]
        assert genes
        assert [entity for entity in tuned if entity.type == "Gene"] == (genes if kept else [])


def test_thresholds_are_named_with_their_corpora(model: TrainedModel) -> None:
    assert model.tuned == {"Cell of A": 0.0, "Gene of A": 1.0, "Gene of B": 0.0}
    assert model.threshold("Gene", 0) == 1.0


def test_the_service_drops_what_is_below_the_threshold_of_the_corpus(model: TrainedModel) -> None:
    served = ServedModel("several", Tagger(model), cast(Batcher, None))
    for name, kept in (("A", False), ("B", True)):
        tagged = Tagger(model).tag(documents(name)[0])
        request = TagRequest(texts=["x"], corpus=name, tuned_thresholds=True)
        genes = [entity for entity in served.kept(tagged, request).entities if entity.type == "Gene"]
        assert bool(genes) is kept
    assert served.about(default=True).tuned_thresholds == model.tuned


def test_scales_are_fitted_for_each_corpus_on_its_own_dev_documents(model: TrainedModel) -> None:
    wrong_in_a = {"A": found(0.9, [True, *[False] * 59]), "B": found(0.9, [True] * 54 + [False] * 6)}
    bare = uncalibrated(model)
    fitted = calibrated(bare, found(0.9, [True, False] * 30), wrong_in_a)
    shown = [float(fitted.reported([0.9], corpus)[0]) for corpus in (0, 1)]
    assert shown[0] < 0.5 < 0.85 < shown[1]
    assert fitted.thresholds == {}
    assert {name: set(scale.thresholds) for name, scale in fitted.scales.items()} == {
        "A": {"Gene"},
        "B": {"Gene"},
    }


def test_a_corpus_without_dev_predictions_has_the_common_calibration_and_no_threshold(
    model: TrainedModel,
) -> None:
    nothing = found(0.9, [])
    common = found(0.9, [True, *[False] * 59])
    fitted = calibrated(uncalibrated(model), common, {"A": common, "B": nothing})
    assert set(fitted.scales) == {"A"}
    assert fitted.reported([0.9], 1).tolist() == fitted.reported([0.9], 0).tolist()
    assert "Gene of B" not in fitted.tuned


def test_the_calibration_error_is_that_of_each_corpus(model: TrainedModel) -> None:
    facts = confidence_facts(
        model, {"dev": found(0.6, [True] * 10, "A"), "dev B": found(0.6, [True] * 10, "B")}
    )
    errors = [facts["calibration_error"][split]["after"] for split in ("dev", "dev B")]
    assert errors == pytest.approx([1 - float(model.reported([0.6], corpus)[0]) for corpus in (0, 1)])
    assert errors[0] != errors[1]


def test_scales_are_loaded_as_they_were_saved(model: TrainedModel, tmp_path: Path) -> None:
    artifact.save(model, tmp_path / "model")
    assert artifact.load(tmp_path / "model").scales == SCALES


def test_an_older_model_has_one_threshold_for_types_of_one_name(model: TrainedModel, tmp_path: Path) -> None:
    older = replace(model, scales={}, thresholds={"Gene": 0.25})
    artifact.save(older, tmp_path / "model")
    stored = json.loads((tmp_path / "model" / "spanwright.json").read_text())["calibration"]
    assert stored == {"kind": "temperature", "temperature": 1.0, "thresholds": {"Gene": 0.25}}
    assert artifact.load(tmp_path / "model").tuned == {"Gene of A": 0.25, "Gene of B": 0.25}


def test_a_calibration_of_an_unknown_corpus_is_refused(model: TrainedModel, tmp_path: Path) -> None:
    artifact.save(replace(model, scales={"C": SCALES["A"]}), tmp_path / "model")
    with pytest.raises(ModelError, match="a calibration of the corpus 'C', which has no types"):
        artifact.load(tmp_path / "model")
