"""Promises 20 and 22: what is saved is what is loaded, and the same run twice is the same."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch

import making
import spanwright
import tiny
from batching import as_taken
from spanwright import artifact
from spanwright.batches.collate import collate
from spanwright.batches.prepare import prepare, windows_of
from spanwright.errors import ModelError
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document
from spanwright.training.loop import RunResult, train
from spanwright.training.run_folder import digest

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
DATA = {
    "train": making.documents(16),
    "dev": making.documents(5, prefix="dev"),
    "test": making.documents(4, prefix="test"),
}


def run(encoder: str, out: Path, *changes: str) -> RunResult:
    return train(making.settings(encoder, *changes), **DATA, out=out)


@pytest.fixture(scope="module")
def result(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return run(tiny_encoder, tmp_path_factory.mktemp("determinism") / "run")


def digests(folder: Path) -> dict[str, str]:
    """Digests of all files of a run but for wall-clock figures."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "timings.jsonl"
    }


def test_the_same_settings_and_seed_give_the_same_files_byte_for_byte(
    tiny_encoder: str, result: RunResult, tmp_path: Path
) -> None:
    run(tiny_encoder, tmp_path / "again")
    again = digests(tmp_path / "again")
    assert again == digests(result.folder)
    assert {"journal.jsonl", "scores.json", "model/model.safetensors"} <= again.keys()


def test_another_seed_gives_other_weights(tiny_encoder: str, result: RunResult, tmp_path: Path) -> None:
    run(tiny_encoder, tmp_path / "other", "training.seed=2")
    other = digests(tmp_path / "other")
    assert other["model/model.safetensors"] != digests(result.folder)["model/model.safetensors"]


def test_sampled_negatives_and_accumulation_are_repeatable_too(tiny_encoder: str, tmp_path: Path) -> None:
    changes = ("candidates.negatives=3", "training.accumulate=2", "training.epochs=2")
    for name in ("one", "two"):
        run(tiny_encoder, tmp_path / name, *changes)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_the_run_folder_holds_settings_versions_and_corpus_digests(result: RunResult) -> None:
    values = json.loads((result.folder / "settings.json").read_text())
    assert values["settings"] == result.model.settings.model_dump(mode="json")
    assert values["versions"]["torch"] == torch.__version__
    assert values["versions"]["spanwright"] == spanwright.__version__
    assert values["corpora"] == {name: digest(documents) for name, documents in DATA.items()}


def scores_of(model: artifact.TrainedModel, document: Document) -> torch.Tensor:
    """The scores of all candidate spans of a document."""
    prepared = prepare(document, model.pieces, model.plan)
    windows = list(windows_of(prepared, 0, model.plan, model.pieces.special_count))
    batch = as_taken(collate(windows, [prepared], model.pieces, width_limit=model.plan.width_limit))
    network = model.network
    with torch.inference_mode():
        return network.spans(network.encoder(batch), batch)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_saved_model_predicts_the_same_bits_when_it_is_loaded(tmp_path: Path, family: str) -> None:
    saved = tiny.model(family=family)
    artifact.save(saved, tmp_path / "model")
    loaded = artifact.load(tmp_path / "model")
    documents = making.documents(6)
    for document in documents:
        assert torch.equal(scores_of(saved, document), scores_of(loaded, document))
    found = list(Tagger(saved).tag(documents))
    assert found == list(Tagger(loaded).tag(documents))
    assert sum(len(document.entities) for document in found) > 20


def test_a_model_that_is_loaded_and_saved_again_is_the_same_files(result: RunResult, tmp_path: Path) -> None:
    artifact.save(artifact.load(result.folder / "model"), tmp_path / "copy")
    assert digests(tmp_path / "copy") == digests(result.folder / "model")


def test_tagging_twice_gives_the_same_answer(result: RunResult) -> None:
    tagger = Tagger(result.model)
    assert list(tagger.tag(DATA["test"])) == list(tagger.tag(DATA["test"]))


@pytest.mark.parametrize("version", [0, artifact.FORMAT_VERSION + 1, "1", None])
def test_another_format_version_is_refused_with_both_versions(
    result: RunResult, tmp_path: Path, version: object
) -> None:
    folder = Path(shutil.copytree(result.folder / "model", tmp_path / "model"))
    description = json.loads((folder / "spanwright.json").read_text())
    description |= {"format_version": version, "spanwright_version": "9.8.7"}
    (folder / "spanwright.json").write_text(json.dumps(description))
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert f"the model has format version {version!r}" in str(caught.value)
    assert f"reads versions 1 to {artifact.FORMAT_VERSION}" in str(caught.value)
    assert "written by version '9.8.7'" in str(caught.value)


@pytest.mark.parametrize("version", range(1, artifact.FORMAT_VERSION + 1))
def test_a_model_of_each_format_version_still_finds_what_it_found(version: int) -> None:
    folder = FIXTURES / f"model-format-{version}"
    (expected,) = read(FIXTURES / f"{folder.name}-expected.jsonl").documents
    found = load(folder).tag(expected.text)
    assert [entity.key for entity in found.entities] == [entity.key for entity in expected.entities]
    for entity, recorded in zip(found.entities, expected.entities, strict=True):
        assert entity.confidence == pytest.approx(recorded.confidence, abs=1e-4)
    assert sorted(map(found.mention, found.entities)) == ["bcase", "bcase cell", "gdfase", "kl cell"]


def test_the_fixture_models_are_small() -> None:
    for folder in FIXTURES.glob("model-format-*/"):
        assert sum(file.stat().st_size for file in folder.iterdir()) < 300_000
