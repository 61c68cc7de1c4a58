"""Calibration of a trained model: fitted on dev at the end of a run, stored, and used by the tagger."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import making
import tiny
from spanwright import artifact
from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import InputError, ModelError
from spanwright.evaluation import Calibration, Confidences, evaluate
from spanwright.evaluation.reliability import expected_calibration_error
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity
from spanwright.training.confidence import calibrated, confidence_facts, uncalibrated
from spanwright.training.loop import RunResult, train


def careless(documents: list[Document]) -> list[Document]:
    """The documents as an annotator leaves them who forgets every seventh entity or so.

    No model can be sure of such data, which gives wrong predictions and confidences of all sizes.
    """
    chance = random.Random(0)
    return [
        document.with_entities(tuple(entity for entity in document.entities if chance.random() > 0.15))
        for document in documents
    ]


TRAIN = careless(making.documents(40))
DEV = careless(making.documents(40, prefix="dev"))
TEST = careless(making.documents(20, prefix="test"))


@pytest.fixture(scope="module")
def result(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    out = tmp_path_factory.mktemp("confidence") / "run"
    settings = making.settings(tiny_encoder, "training.epochs=5", "training.seed=2")
    return train(settings, train=TRAIN, dev=DEV, test=TEST, out=out)


@pytest.fixture(scope="module")
def model(result: RunResult) -> artifact.TrainedModel:
    return artifact.load(result.folder / "model")


def entities(tagged: list[Document]) -> list[Entity]:
    return [entity for document in tagged for entity in document.entities]


def confidences(model: artifact.TrainedModel, documents: list[Document]) -> np.ndarray:
    return np.array([entity.confidence for entity in entities(list(Tagger(model).tag(documents)))])


def correct(model: artifact.TrainedModel, documents: list[Document]) -> np.ndarray:
    tagged = Tagger(model).tag(documents)
    golds = [{entity.key for entity in document.entities} for document in documents]
    return np.array(
        [e.key in gold for gold, found in zip(golds, tagged, strict=True) for e in found.entities]
    )


def found_in_dev(confidence: list[float], right: list[bool]) -> Confidences:
    """Predictions of one type."""
    zeros = np.zeros(len(right), np.int64)
    return Confidences(("Gene",), np.array(confidence), np.array(right), zeros, np.array([sum(right)]))


def test_the_model_makes_enough_mistakes_for_these_tests(model: artifact.TrainedModel) -> None:
    right = correct(model, DEV)
    assert len(right) > 100
    assert 0.05 < right.mean() < 0.95
    assert model.calibration not in (None, Calibration())


def test_calibration_and_thresholds_are_loaded_as_they_were_fitted(
    result: RunResult, model: artifact.TrainedModel
) -> None:
    assert model.calibration == result.model.calibration
    assert model.thresholds == result.model.thresholds
    assert set(model.thresholds) == {"Cell", "Gene"}


def test_a_calibrated_confidence_is_the_calibration_of_the_raw_one(model: artifact.TrainedModel) -> None:
    assert model.calibration is not None
    raw, shown = confidences(uncalibrated(model), TEST), confidences(model, TEST)
    assert not np.array_equal(raw, shown)
    assert shown.tolist() == np.round(model.calibration.apply(raw), 6).tolist()


def test_calibration_keeps_the_order_of_confidences(model: artifact.TrainedModel) -> None:
    raw, shown = confidences(uncalibrated(model), TEST), confidences(model, TEST)
    assert (np.diff(shown[np.argsort(raw, kind="stable")]) >= 0).all()
    assert (shown >= 0).all() and (shown <= 1).all()


def test_calibration_changes_no_entity(model: artifact.TrainedModel) -> None:
    before, after = (list(Tagger(each).tag(TEST)) for each in (uncalibrated(model), model))
    assert [entity.key for entity in entities(before)] == [entity.key for entity in entities(after)]


def test_calibration_lowers_the_calibration_error_on_dev(model: artifact.TrainedModel) -> None:
    right = correct(model, DEV)
    before, after = (confidences(each, DEV) for each in (uncalibrated(model), model))
    assert expected_calibration_error(after, right) < expected_calibration_error(before, right)


def test_a_fit_with_a_higher_calibration_error_is_not_used(model: artifact.TrainedModel) -> None:
    generator = np.random.default_rng(0)
    for predictions in range(10, 60):
        confidence = generator.random(predictions)
        right = generator.random(predictions) < confidence
        dev = found_in_dev(confidence.tolist(), right.tolist())
        fitted = calibrated(model, dev).calibration
        assert fitted is not None
        errors = [expected_calibration_error(each, right) for each in (fitted.apply(confidence), confidence)]
        assert errors[0] <= errors[1]


@pytest.mark.parametrize("right", [[True, False] * 4, [True] * 40, [], [False] * 40])
def test_predictions_that_tell_too_little_leave_confidences_alone(
    model: artifact.TrainedModel, right: list[bool]
) -> None:
    dev = found_in_dev([0.7] * len(right), right)
    fitted = calibrated(model, dev)
    assert fitted.calibration == Calibration()
    assert fitted.reported([0.25, 1.0]).tolist() == [0.25, 1.0]
    assert confidence_facts(fitted, {"dev": dev})["calibration"] == "none"


def test_thresholds_are_those_of_the_best_f1_on_dev(model: artifact.TrainedModel) -> None:
    """Every threshold that dev allows is tried, by tagging and scoring again."""
    tagger = Tagger(model)
    tagged = list(tagger.tag(DEV, tuned_thresholds=True))
    best = evaluate(DEV, tagged).per_type
    everything = list(tagger.tag(DEV))
    for type_ in model.thresholds:
        values = {entity.confidence or 0.0 for entity in entities(everything) if entity.type == type_}
        for value in values:
            cut = [
                document.with_entities(tuple(e for e in document.entities if (e.confidence or 0.0) >= value))
                for document in everything
            ]
            assert evaluate(DEV, cut).per_type[type_].f1 <= best[type_].f1 + 1e-12


def test_only_types_of_the_model_have_thresholds(model: artifact.TrainedModel) -> None:
    dev = Confidences(("Cell", "Drug"), np.array([0.5]), np.array([True]), np.array([0]), np.array([1, 3]))
    assert calibrated(model, dev).thresholds == {"Cell": 0.0}


def test_nothing_is_dropped_unless_asked(model: artifact.TrainedModel) -> None:
    sure = replace(model, thresholds={"Cell": 1.0, "Gene": 1.0})
    assert list(Tagger(sure).tag(TEST)) == list(Tagger(model).tag(TEST))


def test_entities_below_the_minimum_are_dropped_and_no_others(model: artifact.TrainedModel) -> None:
    tagger = Tagger(model)
    everything = entities(list(tagger.tag(TEST)))
    minimum = float(np.median([entity.confidence for entity in everything]))
    kept = entities(list(tagger.tag(TEST, minimum_confidence=minimum)))
    assert kept == [entity for entity in everything if (entity.confidence or 0.0) >= minimum]
    assert 0 < len(kept) < len(everything)


def test_each_type_has_its_own_threshold_and_one_without_keeps_all(model: artifact.TrainedModel) -> None:
    tagger = Tagger(replace(model, thresholds={"Gene": 1.0}))
    kept = entities(list(tagger.tag(TEST, tuned_thresholds=True)))
    everything = entities(list(tagger.tag(TEST)))
    assert [e for e in kept if e.type == "Cell"] == [e for e in everything if e.type == "Cell"] != []
    assert all(entity.confidence == 1.0 for entity in kept if entity.type == "Gene")


def test_a_single_text_is_filtered_too(model: artifact.TrainedModel) -> None:
    tagger = Tagger(model)
    confidence = [entity.confidence or 0.0 for entity in tagger.tag(TEST[0]).entities]
    assert tagger.tag(TEST[0], minimum_confidence=min(confidence)).entities == tagger.tag(TEST[0]).entities
    assert len(tagger.tag(TEST[0], minimum_confidence=max(confidence)).entities) < len(confidence)


@pytest.mark.parametrize("minimum", [-0.1, 1.1, float("nan")])
def test_a_minimum_that_is_no_confidence_is_refused(model: artifact.TrainedModel, minimum: float) -> None:
    with pytest.raises(InputError, match=r"minimum confidence: found .*; expected 0 <= minimum <= 1"):
        Tagger(model).tag("text", minimum_confidence=minimum)


def test_a_model_without_thresholds_cannot_use_them(model: artifact.TrainedModel) -> None:
    with pytest.raises(InputError, match="tuned thresholds: the model has none"):
        Tagger(uncalibrated(model)).tag("text", tuned_thresholds=True)


def test_the_card_tells_the_errors_before_and_after_and_which_are_in_sample(result: RunResult) -> None:
    facts = result.folder / "model" / "spanwright.json"
    told = json.loads(facts.read_text())["facts"]["confidence"]
    card = (result.folder / "model" / "README.md").read_text()
    for split, name in (("dev", "dev (in-sample: fitted on it)"), ("test", "test")):
        error = told["calibration_error"][split]
        assert f"| {name} | {100 * error['before']:.1f} | {100 * error['after']:.1f} |" in card
    right, shown = correct(result.model, TEST), confidences(result.model, TEST)
    assert told["calibration_error"]["test"]["after"] == pytest.approx(
        expected_calibration_error(shown, right)
    )
    assert f"Calibrated ({told['calibration']})" in card


def test_the_card_says_when_there_was_too_little_to_calibrate_on(tiny_encoder: str, tmp_path: Path) -> None:
    dev = [Document("one", "bcase", (Entity(0, 5, "Gene"),))]
    settings = making.settings(tiny_encoder, "training.epochs=1")
    found = train(settings, train=TRAIN[:8], dev=dev, out=tmp_path / "run").model
    assert found.calibration == Calibration()
    assert "correct, are too few for a calibration" in (tmp_path / "run/model/README.md").read_text()


def test_a_resumed_run_is_not_calibrated_twice(result: RunResult, tiny_encoder: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(result.folder, tmp_path / "run"))
    settings = making.settings(tiny_encoder, "training.epochs=5", "training.seed=2")
    again = train(settings, train=TRAIN, dev=DEV, test=TEST, out=folder, resume=True)
    assert again.model.calibration == result.model.calibration
    stored = "model/spanwright.json"
    assert (folder / stored).read_bytes() == (result.folder / stored).read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "magic"}, "calibration: found"),
        ({"thresholds": {"Gene": 2}}, "the threshold of 'Gene' is 2; it must be from 0 to 1"),
        ({"thresholds": {"Gene": float("nan")}}, "the threshold of 'Gene' is nan"),
        ({"thresholds": {"Gene": "high"}}, "not a model that can be loaded"),
        ({"thresholds": 3}, "not a model that can be loaded"),
    ],
)
def test_a_broken_calibration_is_refused(
    result: RunResult, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    folder = Path(shutil.copytree(result.folder / "model", tmp_path / "model"))
    description = json.loads((folder / "spanwright.json").read_text())
    description["calibration"] |= change
    (folder / "spanwright.json").write_text(json.dumps(description))
    artifact.seal(folder)
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert reason in str(caught.value) and str(folder) in str(caught.value)


def test_a_model_without_calibration_is_loaded_and_saved_without(
    model: artifact.TrainedModel, tmp_path: Path
) -> None:
    artifact.save(uncalibrated(model), tmp_path / "model")
    loaded = artifact.load(tmp_path / "model")
    assert (loaded.calibration, loaded.thresholds) == (None, {})
    assert "calibration" not in json.loads((tmp_path / "model" / "spanwright.json").read_text())


def test_new_types_are_calibrated_and_have_no_threshold() -> None:
    labels = LabelSpace(("Cell",), descriptions=("names of cells",))
    tokenizer = tiny.tokenizer()
    settings = tiny.settings(
        scorer={"kind": "bi-encoder"},
        representation={"kind": "composed", "size": 16, "width_size": 4, "activation": "none"},
    )
    pieces = PieceEncoder(tokenizer)
    network = build(settings, tiny.backbone(tokenizer.get_vocab_size()), labels=labels, pieces=pieces).eval()
    calibration = Calibration("temperature", 0.1)
    model = artifact.TrainedModel(
        network, pieces, labels, settings, calibration=calibration, thresholds={"Cell": 1.0}
    )
    wider = model.with_types({"Drug": "names of drugs"})
    raw, shown = confidences(uncalibrated(wider), DEV), confidences(wider, DEV)
    assert shown.tolist() == calibration.apply(raw).round(6).tolist() != raw.tolist()
    kept = entities(list(Tagger(wider).tag(DEV, tuned_thresholds=True)))
    everything = entities(list(Tagger(wider).tag(DEV)))
    assert {entity.type for entity in everything} == {"Cell", "Drug"}
    assert kept == [e for e in everything if e.type == "Drug" or e.confidence == 1.0]
    assert len(kept) < len(everything)
