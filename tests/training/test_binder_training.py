"""The binder recipe trains: it learns, resumes exactly, and leaves out windows that it is told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import making
from spanwright import artifact
from spanwright.settings import Settings, load_settings
from spanwright.text import Document
from spanwright.training.journal import read_journal
from spanwright.training.loop import RunResult, train
from watching import Recorder, StoppedError

TRAIN = making.documents(40)
DEV = making.documents(10, prefix="dev")


def settings(recipe: str, encoder: str, *changes: str) -> Settings:
    """A recipe, small enough to train on a tiny encoder in a second."""
    small = (
        "windows.pieces=64",
        "windows.overlap=6",
        "candidates.width_limit=2",
        "representation.size=32",
        "representation.width_size=4",
        "representation.dropout=0.0",
        "scorer.dropout=0.0",
        "optimiser.learning_rates={encoder=2e-3, head=1e-2}",
        "training.batch_windows=4",
        "training.epochs=8",
    )
    return load_settings(recipe, [f"encoder.name={encoder}", *small, *changes])


def run(
    recipe: str, encoder: str, out: Path, *changes: str, watcher: Recorder | None = None, **values: Any
) -> RunResult:
    data: dict[str, Any] = {"train": TRAIN, "dev": DEV, **values}
    return train(settings(recipe, encoder, *changes), out=out, watcher=watcher or Recorder(), **data)


@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        ("binder", ()),
        ("binder", ("scorer.share_encoder=true",)),
        ("binder/shared-linear", ()),
        ("binder/learned-thresholds", ()),
    ],
)
def test_a_learnable_task_is_learnt(
    tiny_encoder: str, tmp_path: Path, recipe: str, changes: tuple[str, ...]
) -> None:
    result = run(recipe, tiny_encoder, tmp_path / "run", *changes)
    assert result.scores["dev"].micro.f1 > 0.9
    assert min(counts.f1 for counts in result.scores["dev"].per_type.values()) > 0.8


def only_genes(documents: list[Document]) -> list[Document]:
    return [
        document.with_entities(tuple(entity for entity in document.entities if entity.type == "Gene"))
        for document in documents
    ]


def test_joint_inference_is_learnt_where_words_tell_whether_they_begin_an_entity(
    tiny_encoder: str, tmp_path: Path
) -> None:
    data = {"train": only_genes(TRAIN), "dev": only_genes(DEV)}
    result = run("binder/joint", tiny_encoder, tmp_path / "run", "encoder.pooling=mean", **data)
    assert result.scores["dev"].micro.f1 > 0.9


def test_descriptions_travel_into_the_model(tiny_encoder: str, tmp_path: Path) -> None:
    path = tmp_path / "types.toml"
    path.write_text('Cell = "Names of cells."\nGene = "Names of genes."\n')
    changes = (f"labels.descriptions={path}", "training.epochs=1")
    recorder = Recorder()
    run("binder", tiny_encoder, tmp_path / "run", *changes, watcher=recorder, train=TRAIN[:8])
    assert artifact.load(tmp_path / "run" / "model").labels.texts == ("Names of cells.", "Names of genes.")
    assert recorder.warnings == []


def test_types_without_descriptions_are_told(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    run("binder", tiny_encoder, tmp_path / "run", "training.epochs=1", watcher=recorder, train=TRAIN[:8])
    (warning,) = recorder.warnings
    assert "read by their names in words: Cell, Gene; give texts with --descriptions" in warning


def test_thresholds_are_tuned_after_each_epoch_and_travel_into_the_model(
    tiny_encoder: str, tmp_path: Path
) -> None:
    recorder = Recorder()
    result = run("binder/tuned-thresholds", tiny_encoder, tmp_path / "run", watcher=recorder)
    assert result.scores["dev"].micro.f1 > 0.9
    tuned = artifact.load(tmp_path / "run" / "model").network.state_dict()["spans.scorer.compare.spans.tuned"]
    best = max(epoch for epoch, is_best in enumerate(recorder.best) if is_best)
    after_epochs = [weights["spans.scorer.compare.spans.tuned"].tolist() for weights in recorder.weights]
    assert tuned.tolist() == after_epochs[best] != [0.0, 0.0]
    assert len(set(map(tuple, after_epochs))) == len(after_epochs)


@pytest.mark.parametrize("recipe", ["binder", "binder/prototypes", "binder/tuned-thresholds"])
def test_an_interrupted_run_ends_like_one_that_was_not(
    tiny_encoder: str, tmp_path: Path, recipe: str
) -> None:
    changes = ("training.checkpoint_steps=3", "training.epochs=3", "scorer.dropout=0.1")

    def go(name: str, **values: Any) -> RunResult:
        return run(recipe, tiny_encoder, tmp_path / name, *changes, train=TRAIN[:16], **values)

    go("whole")
    with pytest.raises(StoppedError):
        go("cut", watcher=Recorder(stop_at_step=8))
    recorder = Recorder()
    go("cut", watcher=recorder, resume=True)
    assert len(recorder.losses) == 12 - 6
    for file in ("model/model.safetensors", "checkpoints/step-000000012/model.safetensors"):
        assert (tmp_path / "cut" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert read_journal(tmp_path / "cut") == read_journal(tmp_path / "whole")


def test_windows_without_gold_are_left_out_where_asked(tiny_encoder: str, tmp_path: Path) -> None:
    empty = [Document(f"empty-{number}", f"nothing {'ab ' * (number + 1)}") for number in range(8)]
    steps: dict[str, int] = {}
    for choice in ("keep", "drop"):
        recorder = Recorder()
        changes = (f"windows.without_gold={choice}", "training.epochs=1", "training.batch_windows=1")
        documents = [*TRAIN[:8], *empty]
        run("binder", tiny_encoder, tmp_path / choice, *changes, watcher=recorder, train=documents)
        steps[choice] = len(recorder.losses)
        assert recorder.setup.reports["train"].documents == 16
    assert steps == {"keep": 16, "drop": 8}
