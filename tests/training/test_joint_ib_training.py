"""The joint-ib recipe trains: its phases, what each term teaches, exact resuming, and what models keep."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import making
from batching import as_taken
from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.errors import ModelError, SettingsError
from spanwright.parts.batch import Batch
from spanwright.predicting.tagger import Tagger
from spanwright.settings import Settings, load_settings
from spanwright.settings.auxiliaries import AuxiliarySettings
from spanwright.training.journal import read_journal
from spanwright.training.loop import RunResult, train
from spanwright.training.objective import total, weights_at
from spanwright.training.setup import Setup, set_up
from watching import Recorder, StoppedError

TRAIN = making.with_concepts(making.documents(12))
DEV = making.documents(4, prefix="dev")
SMALL = (
    *making.SMALL_JOINT_IB,
    "training.epochs=5",
)
"""Twelve steps, of which the first three are those of the first phase."""
WRITTEN = {"reconstruction", "reconstruction-divergence", "synonyms", "synonyms-divergence"}


def settings(encoder: str, *changes: str) -> Settings:
    return load_settings("joint-ib", [f"encoder.name={encoder}", *SMALL, *changes])


def run(encoder: str, out: Path, *changes: str, watcher: Recorder | None = None, **values: Any) -> RunResult:
    data: dict[str, Any] = {"train": TRAIN, "dev": DEV, **values}
    return train(settings(encoder, *changes), out=out, watcher=watcher or Recorder(), **data)


@pytest.fixture(scope="module")
def finished(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, Recorder]:
    """A run that keeps its writer and writes checkpoints often, and what it told."""
    recorder, folder = Recorder(), tmp_path_factory.mktemp("joint-ib") / "run"
    return run(tiny_encoder, folder, *OFTEN, watcher=recorder), recorder


OFTEN = ("training.checkpoint_steps=2", "auxiliaries.span_vae.keep=true", "scorer.threshold=tuned")
"""With tuned thresholds, even a model that has hardly learnt answers something."""


@pytest.fixture(scope="module")
def setup(tiny_encoder: str) -> Setup:
    return set_up(settings(tiny_encoder), TRAIN, DEV, [])


def losses(setup: Setup, positions: range = range(6)) -> dict[str, Tensor]:
    """The loss terms of some training windows."""
    torch.manual_seed(0)
    network = setup.model.network.train()
    return network.losses(as_taken(setup.batch(positions, (1, 0, 0))), network.terms)


def taught(setup: Setup, term: str) -> set[str]:
    """The parts whose parameters have a gradient of a term other than 0."""
    network = setup.model.network
    network.zero_grad()
    torch.autograd.backward(losses(setup)[term])
    found = [n for n, p in network.named_parameters() if p.grad is not None and bool(p.grad.any())]
    return {part_of(name) for name in found}


def part_of(name: str) -> str:
    """The part of a model that a parameter belongs to, as the tests below call it."""
    for part in (*PARTS, *WRITER):
        if name.startswith(part):
            return part
    raise AssertionError(name)


PARTS = ("encoder", "spans.representation.representation", "spans.representation.transforms", "spans.scorer")
WRITER = (
    "writer.table",
    "writer.means.0",
    "writer.log_variances.0",
    "writer.log_variances.1",
    "writer.decoders.0",
    "writer.decoders.1",
)


def test_all_terms_are_in_the_objective_and_phases_decide_when(setup: Setup) -> None:
    objective, terms = setup.model.settings.objective, setup.model.network.terms
    assert terms == {"spans", "compression"} | WRITTEN
    assert weights_at(objective, terms, progress=0.19).keys() == WRITTEN
    assert weights_at(objective, terms, progress=0.21).keys() == terms


def test_every_term_is_a_loss_above_0_and_the_sum_is_weighted(setup: Setup) -> None:
    found, objective = losses(setup), setup.model.settings.objective
    assert found.keys() == setup.model.network.terms
    assert all(float(loss.detach()) > 0 for loss in found.values())
    weights = weights_at(objective, setup.model.network.terms, progress=0.9)
    expected = sum(weights[name] * float(loss.detach()) for name, loss in found.items())
    assert float(total(found, weights).detach()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("term", "parts"),
    [
        ("spans", set(PARTS)),
        ("compression", set(PARTS[:3])),
        ("reconstruction", {"encoder", *(WRITER[at] for at in (0, 1, 2, 4))}),
        ("reconstruction-divergence", {"encoder", *(WRITER[at] for at in (1, 2))}),
        ("synonyms", {"encoder", *(WRITER[at] for at in (0, 1, 3, 5))}),
        ("synonyms-divergence", {"encoder", *(WRITER[at] for at in (1, 3))}),
    ],
)
def test_a_term_teaches_the_parts_that_it_depends_on(setup: Setup, term: str, parts: set[str]) -> None:
    assert taught(setup, term) == parts


def changed(before: dict[str, Tensor], after: dict[str, Tensor]) -> set[str]:
    """The parts that have learnt: of which a weight, and not just a tuned threshold, is another one."""
    learnt = before.keys() - {"spans.scorer.tuned"}
    return {name.partition(".")[0] for name in learnt if not torch.equal(before[name], after[name])}


def test_the_first_phase_trains_writer_and_encoder_and_the_rest_of_the_run_everything(
    finished: tuple[RunResult, Recorder],
) -> None:
    recorder = finished[1]
    assert len(recorder.losses) == 15
    first, *_, last = recorder.weights
    assert changed(recorder.fresh, first) == {"encoder", "writer"}
    assert changed(first, recorder.weights[1]) == changed(first, last) == {"encoder", "writer", "spans"}


def test_a_part_that_a_phase_leaves_out_is_not_even_computed(setup: Setup) -> None:
    network, batch = setup.model.network, as_taken(setup.batch(range(4), (1, 0, 0)))
    assert network.losses(batch, WRITTEN).keys() == WRITTEN
    assert network.losses(batch, {"spans"}).keys() == {"spans", "compression"}


def digests(folder: Path) -> dict[str, str]:
    """Digests of all files of a run but for wall-clock figures."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "timings.jsonl"
    }


def test_the_same_seed_gives_the_same_files_byte_for_byte(
    tiny_encoder: str, finished: tuple[RunResult, Recorder], tmp_path: Path
) -> None:
    run(tiny_encoder, tmp_path / "again", *OFTEN)
    assert digests(tmp_path / "again") == digests(finished[0].folder)


@pytest.mark.parametrize("step", [3, 9], ids=["in the first phase", "after it"])
def test_an_interrupted_run_ends_like_one_that_was_not(
    tiny_encoder: str, finished: tuple[RunResult, Recorder], tmp_path: Path, step: int
) -> None:
    cut = tmp_path / "cut"
    # The last checkpoint is in the middle of an epoch; the step after it is done again.
    with pytest.raises(StoppedError):
        run(tiny_encoder, cut, *OFTEN, watcher=Recorder(stop_at_step=step))
    recorder = Recorder()
    run(tiny_encoder, cut, *OFTEN, watcher=recorder, resume=True)
    assert recorder.losses == finished[1].losses[step - 1 :]
    assert digests(cut) == digests(finished[0].folder)
    assert read_journal(cut) == read_journal(finished[0].folder)


def test_while_phases_last_the_newest_model_is_kept(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    phase = "{share=1.0, terms=['reconstruction', 'synonyms']}"
    run(tiny_encoder, tmp_path / "run", "training.epochs=3", f"objective.phases=[{phase}]", watcher=recorder)
    assert recorder.f1 != sorted(recorder.f1)
    assert recorder.best == [True] * 3


def test_patience_begins_when_all_terms_are_on(tiny_encoder: str, tmp_path: Path) -> None:
    """Before, the span scores learn nothing: a run would end without ever having trained them."""
    recorder, phase = Recorder(), "objective.phases=[{share=0.5, terms=['reconstruction']}]"
    patient = ("training.patience=1", "training.epochs=8", "optimiser.learning_rates={encoder=0.0, head=0.0}")
    run(tiny_encoder, tmp_path / "run", *patient, phase, watcher=recorder)
    assert recorder.best == [*[True] * 4, False]


def test_a_saved_model_has_no_writer(tiny_encoder: str, tmp_path: Path) -> None:
    result = run(tiny_encoder, tmp_path / "run", "training.epochs=1")
    assert {file.name for file in (tmp_path / "run" / "model").iterdir()} == {*artifact.FILES, "README.md"}
    loaded = artifact.load(tmp_path / "run" / "model")
    assert {name.partition(".")[0] for name in loaded.network.state_dict()} == {"encoder", "spans"}
    assert loaded.network.writer is None and loaded.settings.auxiliaries.span_vae is None
    assert len(loaded.vocabulary.entries) == len(result.model.vocabulary.entries) == 0


def test_a_model_finds_the_same_without_its_writer(finished: tuple[RunResult, Recorder]) -> None:
    kept = finished[0].model
    chosen = kept.settings.auxiliaries.span_vae.model_copy(update={"keep": False})
    leaving = kept.settings.model_copy(update={"auxiliaries": AuxiliarySettings(span_vae=chosen)})
    bare = replace(kept, settings=leaving).for_use()
    assert kept.for_use() is kept and kept.network.writer is not None and bare.network.writer is None
    found = list(Tagger(kept).tag(DEV))
    assert list(Tagger(bare).tag(DEV)) == found
    assert any(document.entities for document in found)


def test_a_kept_writer_writes_the_same_when_it_is_loaded(
    tiny_encoder: str, finished: tuple[RunResult, Recorder]
) -> None:
    result, recorder = finished
    loaded = artifact.load(result.folder / "model")
    best = max(epoch for epoch, is_best in enumerate(recorder.best) if is_best)
    trained = recorder.setup.model
    trained.network.load_state_dict(recorder.weights[best])
    assert loaded.vocabulary == trained.vocabulary
    batch = as_taken(recorder.setup.batch(range(len(recorder.setup.train.windows)), (1, 0, 0)))
    for synonym in (False, True):
        texts = rewrites(loaded, batch, synonym=synonym)
        assert texts == rewrites(trained, batch, synonym=synonym)
        assert any(texts)


def rewrites(model: TrainedModel, batch: Batch, *, synonym: bool) -> list[str]:
    """What a model writes for the gold spans of a batch."""
    network = model.network.eval()
    assert network.writer is not None and batch.rewrites is not None
    with torch.inference_mode():
        vectors = network.evidence(network.encoder(batch), batch.rewrites.spans)
        rows = network.writer.rewrite(vectors, synonym=synonym, longest=5).tolist()
    return [" ".join(model.vocabulary.words(row)) for row in rows]


def test_a_kept_writer_brings_its_words_and_other_files_are_as_ever(
    finished: tuple[RunResult, Recorder],
) -> None:
    folder = finished[0].folder / "model"
    assert {file.name for file in folder.iterdir()} == {*artifact.FILES, "README.md", "vocabulary.json"}
    words = json.loads((folder / "vocabulary.json").read_text())["words"]
    assert set(words) == {word for document in TRAIN for word in document.text.removesuffix(".").split()} | {
        "."
    }


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"words": []}', '{"words": 3}'])
def test_a_kept_writer_whose_words_are_broken_is_refused(
    finished: tuple[RunResult, Recorder], tmp_path: Path, content: str | None
) -> None:
    folder = Path(shutil.copytree(finished[0].folder / "model", tmp_path / "model"))
    (folder / "vocabulary.json").unlink()
    if content is not None:
        (folder / "vocabulary.json").write_text(content)
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value)


def test_terms_of_synonyms_in_the_objective_are_refused_without_sources(
    tiny_encoder: str, tmp_path: Path
) -> None:
    with pytest.raises(
        SettingsError, match=r"objective names the terms \['synonyms', 'synonyms-divergence'\]"
    ):
        run(tiny_encoder, tmp_path / "run", "auxiliaries.span_vae.synonyms=[]")


def test_thresholds_are_tuned_after_each_epoch_and_the_task_is_learnt(
    tiny_encoder: str, tmp_path: Path
) -> None:
    recorder, data = Recorder(), {"dev": making.documents(10, prefix="dev")}
    changes = (
        "scorer.threshold=tuned",
        "training.epochs=8",
        "representation.dropout=0.0",
        "transforms=[{kind='bottleneck', hidden=[32], size=32, samples=2}]",
        "objective.phases=[{share=0.125, terms=['reconstruction']}]",
        "objective.weights.compression=1e-4",
    )
    data["train"] = making.with_concepts(making.documents(40))
    result = run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder, **data)
    assert result.scores["dev"].micro.f1 > 0.85
    tuned = artifact.load(tmp_path / "run" / "model").network.state_dict()["spans.scorer.tuned"]
    best = max(epoch for epoch, is_best in enumerate(recorder.best) if is_best)
    after_epochs = [weights["spans.scorer.tuned"].tolist() for weights in recorder.weights]
    assert tuned.tolist() == after_epochs[best] != [0.5, 0.5]
    assert len(set(map(tuple, after_epochs))) == len(after_epochs)


def test_a_phase_that_trains_nothing_is_told_in_words(tiny_encoder: str, tmp_path: Path) -> None:
    phase = "objective.phases=[{share=0.5, terms=['reconstruction'], rates={encoder=0.0, auxiliary=0.0}}]"
    settings = load_settings("joint-ib", [f"encoder.name={tiny_encoder}", *SMALL, phase])
    with pytest.raises(SettingsError, match=r"\['reconstruction'\] train roles alone whose rates are 0"):
        train(settings, train=TRAIN, dev=DEV, out=tmp_path / "run")
