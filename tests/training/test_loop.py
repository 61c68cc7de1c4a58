from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

import making
from spanwright import artifact
from spanwright.arrays import Integers
from spanwright.batches.pieces import PieceEncoder
from spanwright.cli.progress import TrainingView
from spanwright.errors import InputError, SettingsError
from spanwright.evaluation import Scores
from spanwright.evaluation.scores import Counts
from spanwright.formats.files import read, write
from spanwright.predicting.tagger import load
from spanwright.text import Document, Entity, Range
from spanwright.training import scoring, step
from spanwright.training.journal import read_journal
from spanwright.training.loop import RunResult, train
from watching import Recorder, StoppedError

TRAIN = making.documents(40)
DEV = making.documents(10, prefix="dev")
TEST = making.documents(6, prefix="test")


def run(
    encoder: str, out: Path, *changes: str, watcher: Recorder | None = None, **values: object
) -> RunResult:
    data: dict[str, object] = {"train": TRAIN, "dev": DEV, **values}
    return train(making.settings(encoder, *changes), out=out, watcher=watcher or Recorder(), **data)


@pytest.fixture(scope="module")
def finished(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, Recorder]:
    """A run over four epochs, and what it told."""
    recorder = Recorder()
    folder = tmp_path_factory.mktemp("runs") / "finished"
    return run(tiny_encoder, folder, watcher=recorder, test=TEST), recorder


@pytest.fixture
def copied(finished: tuple[RunResult, Recorder], tmp_path: Path) -> Path:
    """A copy of the finished run's folder, to be changed at will."""
    return Path(shutil.copytree(finished[0].folder, tmp_path / "copied"))


def weights_in(folder: Path) -> dict[str, torch.Tensor]:
    return artifact.load(folder / "model").network.state_dict()


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def test_the_loss_goes_down(finished: tuple[RunResult, Recorder]) -> None:
    losses = finished[1].losses
    assert sum(losses[-5:]) < 0.1 * sum(losses[:5])


def test_a_learnable_task_is_learnt(finished: tuple[RunResult, Recorder]) -> None:
    result, recorder = finished
    assert recorder.f1[-1] > recorder.f1[0]
    assert result.scores["dev"].micro.f1 > 0.9
    assert result.scores["test"].micro.f1 > 0.8


def test_progress_rises_to_the_whole(finished: tuple[RunResult, Recorder]) -> None:
    shares = finished[1].shares
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_best_model_is_kept_and_not_the_last(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter([5, 9, 9, 2, 9])

    def score(*_: object) -> Scores:
        return Scores(per_type={"Gene": Counts(next(found), 9)}, documents=1)

    monkeypatch.setattr(scoring, "score_model", score)
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", watcher=recorder, train=TRAIN[:8])
    assert recorder.best == [True, True, False, False]
    assert same(weights_in(tmp_path / "run"), recorder.weights[1])


def test_every_document_is_prepared_once_however_often_dev_is_scored(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For reports, thresholds, scores, what a pruner keeps, and at the end once more."""
    seen: Counter[str] = Counter()
    encode = PieceEncoder.encode

    def count(pieces: PieceEncoder, text: str, words: Sequence[Range]) -> tuple[Integers, Integers]:
        seen[text] += 1
        return encode(pieces, text, words)

    monkeypatch.setattr(PieceEncoder, "encode", count)
    settings = making.settings(
        tiny_encoder, "training.epochs=2", "scorer.kind=sigmoid", "candidates.pruning.keep=2.0"
    )
    train(settings, train=TRAIN[:4], dev=DEV[:3], out=tmp_path / "run")
    assert seen == dict.fromkeys([document.text for document in (*TRAIN[:4], *DEV[:3])], 1)


def test_the_result_is_the_model_in_the_folder(finished: tuple[RunResult, Recorder]) -> None:
    result = finished[0]
    assert same(result.model.network.state_dict(), weights_in(result.folder))
    assert not result.model.network.training


def test_the_result_tags_as_its_model_does(finished: tuple[RunResult, Recorder]) -> None:
    result, text = finished[0], TEST[0].text
    assert result.tag(text).entities
    assert result.tag(text) == load(result.folder / "model").tag(text)


def test_settings_are_changed_by_their_keys(tiny_encoder: str, tmp_path: Path) -> None:
    settings = making.settings("absent")
    changes = {"training.epochs": 1, "optimiser.learning_rates": {"encoder": 1e-3, "head": 1e-2}}
    result = train(settings, train=TRAIN[:4], dev=DEV, out=tmp_path, encoder=Path(tiny_encoder), set=changes)
    assert result.model.settings.training.epochs == 1
    assert result.model.settings.optimiser.learning_rates == {"encoder": 1e-3, "head": 1e-2}


def test_a_wrong_setting_is_named_by_its_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^plain: unknown setting 'training\.epoch' .*; expected"):
        train("plain", train=TRAIN, dev=DEV, out=tmp_path / "run", set={"training.epoch": 3})
    assert not (tmp_path / "run").exists()


def test_descriptions_are_for_recipes_that_read_them(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"labels\.descriptions is given, but scorer\.kind 'softmax'"):
        train("plain", train=TRAIN, dev=DEV, out=tmp_path / "run", descriptions="ncbi-disease")


def test_a_corpus_and_several_are_trained_on(tiny_encoder: str, tmp_path: Path) -> None:
    write(TRAIN[:3], tmp_path / "one.jsonl")
    write(TRAIN[3:5], tmp_path / "two.jsonl")
    with (tmp_path / "two.jsonl").open("a") as file:
        file.write('{"id": \n')
    one, two = read(tmp_path / "one.jsonl"), read(tmp_path / "two.jsonl")
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", "training.epochs=1", watcher=recorder, train=[one, two])
    assert recorder.setup.reports["train"].documents == 5
    (warning,) = (told for told in recorder.warnings if "reading" in told)
    assert warning.startswith(f"1 problem in reading, the first: {tmp_path / 'two.jsonl'}:3: not JSON")


def test_the_run_folder_tells_how_to_repeat_the_run(finished: tuple[RunResult, Recorder]) -> None:
    values = json.loads((finished[0].folder / "settings.json").read_text())
    assert values["settings"]["candidates"]["width_limit"] == 2
    assert {"spanwright", "torch", "transformers", "python"} <= values["versions"].keys()
    assert set(values["corpora"]) == {"train", "dev", "test"}
    assert len(set(values["corpora"].values())) == 3


def test_the_journal_holds_data_losses_and_scores(finished: tuple[RunResult, Recorder]) -> None:
    result, recorder = finished
    lines = read_journal(result.folder)
    assert lines[0]["event"] == "data"
    assert lines[0]["train"]["documents"] == len(TRAIN)
    steps = {line["step"]: line["loss"] for line in lines if line["event"] == "step"}
    assert steps == {20: recorder.losses[19], 40: recorder.losses[39]}
    epochs = [line for line in lines if line["event"] == "epoch"]
    assert [line["epoch"] for line in epochs] == [1, 2, 3, 4]
    assert [line["dev"]["micro"]["f1"] for line in epochs] == recorder.f1
    assert [line["best"] for line in epochs] == recorder.best


def test_scores_and_the_model_card_hold_every_evaluation_split(
    finished: tuple[RunResult, Recorder],
) -> None:
    result = finished[0]
    scores = json.loads((result.folder / "scores.json").read_text())
    assert {name: entry["micro"]["f1"] for name, entry in scores.items()} == {
        name: entry.micro.f1 for name, entry in result.scores.items()
    }
    card = (result.folder / "model" / "README.md").read_text()
    assert "| dev | " in card and "| test | " in card
    assert result.folder.joinpath("timings.jsonl").read_text().count("words_per_second") == 4


def test_only_finished_things_are_left_in_the_run_folder(finished: tuple[RunResult, Recorder]) -> None:
    names = {path.name for path in finished[0].folder.iterdir()}
    files = {"settings.json", "journal.jsonl", "timings.jsonl", "scores.json"}
    assert names == files | {"checkpoints", "model", "dev.jsonl", "test.jsonl"}


def test_patience_ends_a_run_that_gets_no_better(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", "training.epochs=20", "training.patience=2", watcher=recorder)
    assert len(recorder.best) < 20
    assert recorder.best[-3:] == [True, False, False]


def test_dev_can_be_scored_every_few_steps_and_patience_counts_these(
    tiny_encoder: str, tmp_path: Path
) -> None:
    recorder = Recorder()
    changes = ("training.epochs=20", "training.score_steps=3", "training.patience=4")
    run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder)
    assert recorder.best[-5:] == [True, False, False, False, False]
    assert len(recorder.losses) == 3 * len(recorder.best) < 200
    epochs = [line["epoch"] for line in read_journal(tmp_path / "run") if line["event"] == "epoch"]
    assert epochs == pytest.approx([0.3 * (number + 1) for number in range(len(epochs))])


def test_an_epoch_that_patience_ends_is_timed_too(tiny_encoder: str, tmp_path: Path) -> None:
    changes = ("training.score_steps=1", "training.patience=1", "optimiser.warmup=0.5")
    run(tiny_encoder, tmp_path / "run", *changes)
    (epoch,) = map(json.loads, (tmp_path / "run/timings.jsonl").read_text().splitlines())
    assert epoch["epoch"] == 1 and epoch["words_per_second"] > 0


def test_the_last_step_is_scored_however_steps_are_counted(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", "training.epochs=2", "training.score_steps=8", watcher=recorder)
    epochs = [line["epoch"] for line in read_journal(tmp_path / "run") if line["event"] == "epoch"]
    assert epochs == pytest.approx([0.8, 1.6, 2.0])


def test_patience_is_remembered_when_a_run_is_resumed(tiny_encoder: str, tmp_path: Path) -> None:
    changes = ("training.epochs=20", "training.patience=2")
    run(tiny_encoder, tmp_path / "run", *changes)
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder, resume=True)
    assert recorder.losses == []


def test_accumulated_gradients_of_two_batches_are_those_of_one_batch_of_both(
    still_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum over windows is divided by their number, so batches of equally many windows add up."""
    gradients: list[torch.Tensor] = []

    def remember(optimiser: torch.optim.Optimizer, *_: object) -> torch.Tensor:
        parameters = (parameter for group in optimiser.param_groups for parameter in group["params"])
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in parameters]))
        return gradients[-1].norm()

    monkeypatch.setattr(step, "limit_gradients", remember)
    common = ("training.epochs=1", "representation.dropout=0.0")
    for name, changes in {
        "one": ("training.batch_windows=8",),
        "two": ("training.batch_windows=4", "training.accumulate=2"),
    }.items():
        recorder = Recorder()
        run(still_encoder, tmp_path / name, *common, *changes, watcher=recorder, train=TRAIN[:8])
        assert len(recorder.losses) == 1
    one, two = gradients
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)
    assert one.norm() > 1


def test_batches_after_the_last_full_group_are_trained_too(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    changes = ("training.epochs=1", "training.batch_windows=1", "training.accumulate=3")
    run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder, train=TRAIN[:4])
    assert len(recorder.losses) == 2
    assert recorder.shares == [pytest.approx(0.75), pytest.approx(1.0)]


def test_batches_that_are_accumulated_share_the_pieces_of_a_step(tiny_encoder: str, tmp_path: Path) -> None:
    recorder = Recorder()
    changes = ("training.epochs=1", "training.batch_pieces=256", "training.accumulate=2")
    run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder)
    setup = recorder.setup
    batches = setup.batches(0)
    padded = [len(batch) * int(setup.lengths[batch].max()) for batch in batches]
    assert max(padded) <= 128
    assert max(len(batch) for batch in batches) > 1
    assert len(recorder.losses) == math.ceil(len(batches) / 2)


def test_sampled_negatives_train_on_fewer_spans(tiny_encoder: str, tmp_path: Path) -> None:
    spans: dict[str, int] = {}
    for negatives in ('"all"', "1"):
        recorder = Recorder()
        changes = (f"candidates.negatives={negatives}", "training.epochs=1")
        run(tiny_encoder, tmp_path / negatives.strip('"'), *changes, watcher=recorder)
        spans[negatives] = len(recorder.setup.batch(range(4), (1, 0, 0)).spans)
    assert spans["1"] < 0.5 * spans['"all"']


def test_sampled_negatives_learn(tiny_encoder: str, tmp_path: Path) -> None:
    result = run(tiny_encoder, tmp_path / "run", "candidates.negatives=4", "training.epochs=6")
    assert result.scores["dev"].micro.f1 > 0.8


def test_steps_are_counted_before_a_run_and_few_are_told_with_epochs_that_would_be_enough(
    tiny_encoder: str, tmp_path: Path
) -> None:
    recorder = Recorder()
    changes = ("training.epochs=2", "training.accumulate=3")
    run(tiny_encoder, tmp_path / "run", *changes, watcher=recorder)
    assert recorder.setup.steps == len(recorder.losses) == 8
    (warning,) = recorder.short
    assert warning.startswith("this run has only 8 steps") and warning.endswith("training.epochs=50")


def test_a_model_that_finds_nothing_is_told_with_the_likely_reason(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = Scores(per_type={"Gene": Counts(0, 0, 9)}, documents=3)
    monkeypatch.setattr(scoring, "strict_scores", lambda compared: nothing)
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "run", "training.epochs=1", watcher=recorder)
    (warning,) = recorder.idle
    assert "so it is of no use: this run has only" in warning and "try --set training.epochs=" in warning
    TrainingView().scored(epoch=1, scores={"dev": nothing}, best=True)
    told = capsys.readouterr().err
    assert "(finds nothing yet)" in told and "best so far" not in told


def test_a_longer_warm_up_takes_smaller_first_steps(tiny_encoder: str, tmp_path: Path) -> None:
    moved = {}
    for warmup in (0.1, 0.9):
        recorder = Recorder(stop_at_step=1)
        with pytest.raises(StoppedError):
            run(tiny_encoder, tmp_path / str(warmup), f"optimiser.warmup={warmup}", watcher=recorder)
        parameters = recorder.setup.model.network.named_parameters()
        moved[warmup] = max(
            float((each - recorder.fresh[name]).detach().abs().max()) for name, each in parameters
        )
    assert 0 < moved[0.9] < 0.2 * moved[0.1]


def test_the_size_of_a_loss_does_not_matter(tiny_encoder: str, tmp_path: Path) -> None:
    ends: list[dict[str, torch.Tensor]] = []
    for weight in (1.0, 1024.0):
        recorder = Recorder()
        changes = (f"objective.weights.spans={weight}", "training.epochs=1")
        run(tiny_encoder, tmp_path / str(weight), *changes, watcher=recorder)
        ends.append(recorder.weights[-1])
    for name, tensor in ends[0].items():
        torch.testing.assert_close(tensor, ends[1][name], rtol=1e-3, atol=1e-4)


def test_another_seed_gives_another_run(tiny_encoder: str, tmp_path: Path) -> None:
    recorders = [Recorder(), Recorder()]
    for seed, recorder in enumerate(recorders):
        changes = (f"training.seed={seed}", "training.epochs=1")
        run(tiny_encoder, tmp_path / str(seed), *changes, watcher=recorder)
    assert recorders[0].losses != recorders[1].losses


def test_files_can_be_trained_on_and_what_they_lack_is_told(tiny_encoder: str, tmp_path: Path) -> None:
    write(TRAIN, tmp_path / "train.jsonl")
    with (tmp_path / "train.jsonl").open("a") as file:
        file.write('{"id": \n')
    write(DEV, tmp_path / "dev.jsonl")
    recorder = Recorder()
    files = {"train": [tmp_path / "train.jsonl"], "dev": str(tmp_path / "dev.jsonl")}
    run(tiny_encoder, tmp_path / "run", "training.epochs=1", watcher=recorder, **files)
    assert recorder.setup.reports["train"].documents == len(TRAIN)
    (warning,) = recorder.warnings
    assert warning.startswith(f"{tmp_path / 'train.jsonl'}: 1 problem in reading, the first: ")
    assert f"{tmp_path / 'train.jsonl'}:41: not JSON" in warning


def test_a_run_is_not_overwritten(tiny_encoder: str, copied: Path) -> None:
    before = weights_in(copied)
    with pytest.raises(InputError, match=r"a run is there already; continue it with --resume"):
        run(tiny_encoder, copied)
    assert same(weights_in(copied), before)


def test_there_must_be_a_run_to_resume(tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run to resume; leave out --resume"):
        run(tiny_encoder, tmp_path / "run", resume=True)


def test_a_run_is_not_resumed_with_other_settings(tiny_encoder: str, copied: Path) -> None:
    with pytest.raises(InputError, match=r"started with other settings \(training\); give the same"):
        run(tiny_encoder, copied, "training.batch_windows=3", test=TEST, resume=True)


def test_a_run_is_not_resumed_with_other_data(tiny_encoder: str, copied: Path) -> None:
    with pytest.raises(InputError, match=r"started with other corpora \(dev\); give the same"):
        run(tiny_encoder, copied, dev=DEV[:-1], test=TEST, resume=True)


def test_a_finished_run_that_is_resumed_stays_as_it_is(
    tiny_encoder: str, copied: Path, finished: tuple[RunResult, Recorder]
) -> None:
    recorder = Recorder()
    result = run(tiny_encoder, copied, watcher=recorder, test=TEST, resume=True)
    assert recorder.losses == []
    assert same(weights_in(copied), weights_in(finished[0].folder))
    assert read_journal(copied) == read_journal(finished[0].folder)
    assert result.scores == finished[0].scores


@pytest.mark.parametrize(
    ("accumulate", "step", "more"),
    [(1, 1, ()), (1, 13, ()), (2, 7, ()), (1, 13, ("training.score_steps=5", "training.patience=100"))],
)
def test_an_interrupted_run_ends_like_one_that_was_not(
    tiny_encoder: str, tmp_path: Path, accumulate: int, step: int, more: tuple[str, ...]
) -> None:
    settings = (
        *more,
        f"training.accumulate={accumulate}",
        "training.checkpoint_steps=3",
        "training.batch_windows=2",
    )
    run(tiny_encoder, tmp_path / "whole", *settings, train=TRAIN[:16])
    with pytest.raises(StoppedError):
        stopping = Recorder(stop_at_step=step)
        run(tiny_encoder, tmp_path / "cut", *settings, watcher=stopping, train=TRAIN[:16])
    recorder = Recorder()
    run(tiny_encoder, tmp_path / "cut", *settings, watcher=recorder, train=TRAIN[:16], resume=True)
    assert same(weights_in(tmp_path / "cut"), weights_in(tmp_path / "whole"))
    assert read_journal(tmp_path / "cut") == read_journal(tmp_path / "whole")
    assert len(recorder.losses) == 32 // accumulate - step // 3 * 3


def test_a_torn_checkpoint_is_told_and_the_one_before_it_used(tiny_encoder: str, copied: Path) -> None:
    newest = max((copied / "checkpoints").iterdir())
    (newest / "position.json").write_text("")
    recorder = Recorder()
    run(tiny_encoder, copied, watcher=recorder, test=TEST, resume=True)
    (warning,) = recorder.warnings
    assert str(newest) in warning and "position.json is missing or torn" in warning
    assert len(recorder.losses) == 10


def test_a_model_whose_replacement_was_cut_off_is_put_back(tiny_encoder: str, copied: Path) -> None:
    """Between the two renames of a replacement, the old model has another name and there is no model."""
    before = weights_in(copied)
    (copied / "model").rename(copied / ".model.retired")
    run(tiny_encoder, copied, test=TEST, resume=True)
    assert same(weights_in(copied), before)
    assert not (copied / ".model.retired").exists()


def test_an_objective_of_terms_that_the_model_lacks_is_refused_before_training(
    tiny_encoder: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"names the terms \['tags'\]"):
        run(tiny_encoder, tmp_path / "run", "objective.weights.tags=0.5")


def test_entities_that_cannot_be_reached_count_as_misses(tiny_encoder: str, tmp_path: Path) -> None:
    text = "bcase cell de fg hi"
    wide = Document("wide", text, (Entity(0, len(text), "Gene"), Entity(0, 5, "Gene"), Entity(0, 10, "Cell")))
    result = run(tiny_encoder, tmp_path / "run", dev=[*DEV, wide])
    gold = sum(len(document.entities) for document in DEV) + 3
    assert result.scores["dev"].micro.gold == gold
    assert result.scores["dev"].micro.recall < 1
