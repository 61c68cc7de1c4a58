"""Distillation from end to end with tiny encoders: the teachers' files, the student's run, and its limits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import making
from spanwright import artifact
from spanwright.errors import InputError, SettingsError
from spanwright.formats.files import read, write
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.settings import Settings
from spanwright.text import Document, Entity, words
from spanwright.training.data import automatic_decoding
from spanwright.training.distillation import distill
from spanwright.training.loop import RunResult, train
from watching import Recorder, StoppedError

TRAIN = making.documents(40, flat=True)
DEV = making.documents(10, prefix="dev", flat=True)
RAW = [document.with_entities(()) for document in making.documents(30, prefix="raw", flat=True)]


class Witness(Recorder):
    """A recorder that also counts softened documents by file."""

    def __init__(self, *, stop_at_step: int | None = None) -> None:
        super().__init__(stop_at_step=stop_at_step)
        self.softened_documents: dict[str, int] = {}

    def softened(self, *, name: str, documents: int, targets: int) -> None:
        self.softened_documents[name] = documents


@pytest.fixture(scope="module")
def teacher(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teacher") / "run"
    settings = making.settings(tiny_encoder, "training.epochs=6", "candidates.width_limit=3")
    train(settings, train=TRAIN, dev=DEV, out=folder)
    return folder / "model"


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of texts, of which the last stands in dev."""
    path = tmp_path_factory.mktemp("texts") / "raw.jsonl"
    write([*RAW, Document("leaked", DEV[0].text.upper())], path)
    return path


def student(encoder: str, *changes: str) -> Settings:
    return making.settings(encoder, "windows.pieces=48", "training.epochs=8", *changes)


@pytest.fixture(scope="module")
def finished(
    teacher: Path, raw: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RunResult, Witness]:
    """A student of two teachers, which are the same one, and what the distillation told."""
    witness = Witness()
    result = distill(
        [teacher, teacher],
        student(tiny_encoder),
        train=TRAIN[:6],
        dev=DEV,
        raw=[raw],
        out=tmp_path_factory.mktemp("student") / "run",
        watcher=witness,
    )
    return result, witness


def again(finished: tuple[RunResult, Witness], folder: Path) -> Path:
    """A copy of the softened files alone, as a distillation leaves that stops before the training."""
    shutil.copytree(finished[0].folder / "soft", folder / "soft")
    return folder


def test_a_student_learns_from_texts_that_nobody_annotated(
    finished: tuple[RunResult, Witness], tiny_encoder: str, tmp_path: Path
) -> None:
    alone = train(student(tiny_encoder), train=TRAIN[:6], dev=DEV, out=tmp_path / "alone")
    taught, untaught = (result.scores["dev"].micro.f1 for result in (finished[0], alone))
    assert taught > 0.7
    assert taught > untaught + 0.1


def test_the_folder_of_a_student_is_a_run_and_its_softened_files(
    finished: tuple[RunResult, Witness],
) -> None:
    folder = finished[0].folder
    assert {"soft", "model", "settings.json", "scores.json"} <= {path.name for path in folder.iterdir()}
    soft = read(folder / "soft" / "train.jsonl").documents
    assert [document.id for document in soft] == [document.id for document in TRAIN[:6]]
    for document, gold in zip(soft, TRAIN[:6], strict=True):
        keys = {entity.key for entity in gold.entities}
        shares = [entity.confidence or 0.0 for entity in document.entities if entity.key in keys]
        others = [entity.confidence or 0.0 for entity in document.entities if entity.key not in keys]
        assert len(shares) == len(keys)
        assert all(share >= 0.5 for share in shares)
        assert all(share <= 0.5 for share in others)


def test_a_student_learns_the_probabilities_of_the_softened_files(
    finished: tuple[RunResult, Witness],
) -> None:
    result, witness = finished
    soft = [
        document
        for name in ("train", "raw")
        for document in read(result.folder / "soft" / f"{name}.jsonl").documents
        if document.id != "leaked"
    ]
    narrow = [
        entity.confidence
        for document in soft
        for entity in document.entities
        if sum(entity.start <= start < entity.end for start, _ in words(document)) <= 2
    ]
    golds = witness.setup.batch(range(len(witness.setup.train.windows)), (1, 0, 0)).golds
    assert golds.probability is not None
    assert sorted(golds.probability.tolist()) == pytest.approx(sorted(narrow), abs=1e-6)
    assert min(narrow) < 0.1 < 0.9 < max(narrow)


def test_texts_that_stand_in_dev_teach_nothing(finished: tuple[RunResult, Witness]) -> None:
    result, witness = finished
    assert witness.softened_documents == {"train.jsonl": 6, "raw.jsonl": 31}
    assert witness.setup.removed == 1
    taught = {document.document.id for document in witness.setup.train.documents}
    assert taught == {document.id for document in [*TRAIN[:6], *RAW]}
    assert result.scores["dev"].documents == len(DEV)


def test_width_limit_and_decoding_of_a_student_are_those_of_the_annotation(
    finished: tuple[RunResult, Witness],
) -> None:
    chosen = finished[0].model.settings
    assert chosen.training.targets == "soft"
    assert chosen.decoding == "flat"
    assert chosen.candidates.width_limit == 2
    assert automatic_decoding(read(finished[0].folder / "soft" / "raw.jsonl").documents) != "flat"


def test_a_student_that_was_stopped_ends_with_the_same_weights(
    finished: tuple[RunResult, Witness], teacher: Path, raw: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    folder = again(finished, tmp_path / "run")
    values = {"train": TRAIN[:6], "dev": DEV, "raw": [raw], "out": folder}
    witness = Witness(stop_at_step=40)
    with pytest.raises(StoppedError):
        distill([teacher, teacher], student(tiny_encoder), **values, resume=True, watcher=witness)
    assert witness.softened_documents == {}
    distill([teacher, teacher], student(tiny_encoder), **values, resume=True)
    ours, theirs = (
        artifact.load(place / "model").network.state_dict() for place in (folder, finished[0].folder)
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    with pytest.raises(InputError, match=r"train\.jsonl: the run was started with other lowest; give"):
        distill([teacher, teacher], student(tiny_encoder), **values, lowest=0.02, resume=True)


def test_a_run_that_is_there_is_not_overwritten(
    finished: tuple[RunResult, Witness], teacher: Path, tiny_encoder: str
) -> None:
    with pytest.raises(InputError, match=r"a run is there already; continue it with --resume"):
        distill([teacher], student(tiny_encoder), train=TRAIN, dev=DEV, out=finished[0].folder)


def test_softened_files_are_made_by_one_process_at_a_time(
    teacher: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    with locked_folder(tmp_path / "run/soft"), pytest.raises(InputError, match="another process is at work"):
        distill([teacher], student(tiny_encoder), train=TRAIN[:6], dev=DEV, out=tmp_path / "run")


def test_there_must_be_something_to_resume(teacher: Path, tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run to resume"):
        distill([teacher], student(tiny_encoder), train=TRAIN, dev=DEV, out=tmp_path / "new", resume=True)


def test_annotations_of_types_that_teachers_lack_are_refused(
    teacher: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    other = [*TRAIN, Document("x", "a virus", (Entity(2, 7, "Virus"),))]
    with pytest.raises(InputError, match=r"types that the teachers lack: Virus; expected .*: Cell, Gene"):
        distill([teacher], student(tiny_encoder), train=other, dev=DEV, out=tmp_path / "run")
    assert not (tmp_path / "run" / "soft" / "train.jsonl").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"gold_share": 1.5}, r"the gold share is 1\.5; expected 0 to 1"),
        ({"raw": ["absent.txt"]}, r"absent\.txt: no such file or folder"),
        ({"dev": []}, r"the dev corpus is empty"),
    ],
)
def test_what_cannot_be_distilled_is_refused_before_anything_is_softened(
    teacher: Path, tiny_encoder: str, tmp_path: Path, values: dict[str, object], message: str
) -> None:
    given: dict[str, object] = {"train": TRAIN, "dev": DEV, **values}
    with pytest.raises(InputError, match=message):
        distill([teacher], student(tiny_encoder), out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


def test_a_student_that_learns_no_probabilities_is_refused(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^student binder: training.targets is 'soft', but scorer.kind"):
        distill([teacher], "binder", train=TRAIN, dev=DEV, out=tmp_path / "run")


def test_several_processes_are_refused(
    teacher: Path, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "2")
    with pytest.raises(InputError, match=r"^distill softens documents in one process; start it without"):
        distill([teacher], student(tiny_encoder), train=TRAIN, dev=DEV, out=tmp_path / "run")
