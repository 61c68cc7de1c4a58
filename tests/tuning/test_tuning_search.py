"""Searches: trials, interruptions, pruning, and what they leave in their folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pretended_trials import Quality, Trainings
from typer.testing import CliRunner

import making
from spanwright.cli.main import app
from spanwright.errors import DivergenceError, InputError, SettingsError
from spanwright.formats.files import write
from spanwright.settings import Settings, load_settings
from spanwright.training.loop import train
from spanwright.tuning import TrialOutcome, Tuned, TuningPlan, make_plan, search, tune

pytest.importorskip("optuna", reason="optuna is not installed")
RATE = "optimiser.learning_rates.encoder"
DROPOUT = "representation.dropout"
SEARCH = {RATE: {"low": 1e-5, "high": 1e-3, "log": True}, DROPOUT: [0.1, 0.2, 0.3]}


def near_one_rate(settings: Settings, epoch: int) -> int:
    """Better the nearer the learning rate is to 1e-4, and from epoch to epoch."""
    rate = settings.optimiser.learning_rates["encoder"]
    return int(80 * min(rate / 1e-4, 1e-4 / rate)) + 5 * epoch


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    write(making.documents(12), tmp_path / "train.jsonl")
    write(making.documents(4, prefix="dev"), tmp_path / "dev.jsonl")
    return {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "dev")}


def plan_of(files: dict[str, str], **more: Any) -> TuningPlan:
    values = {"recipe": "plain", **files, "trials": 6, "set": ["training.epochs=3"], "search": SEARCH}
    return make_plan({**values, **more}, "plan.toml")


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    made = Trainings(near_one_rate)
    monkeypatch.setattr(search, "train", made)
    return made


def comparable(outcomes: list[TrialOutcome]) -> list[tuple[Any, ...]]:
    return [(each.number, each.state, each.f1, each.epochs, each.settings) for each in outcomes]


def test_trials_differ_and_the_best_has_the_best_f1(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    found = tune(plan_of(files), out=tmp_path / "out")
    assert [outcome.number for outcome in found.outcomes] == [1, 2, 3, 4, 5, 6]
    assert len({outcome.settings[RATE] for outcome in found.outcomes}) == 6
    assert {outcome.settings[DROPOUT] for outcome in found.outcomes} <= {0.1, 0.2, 0.3}
    finished = [outcome for outcome in found.outcomes if outcome.state == "finished"]
    assert found.best.f1 == max(outcome.f1 for outcome in finished)
    expected = near_one_rate(plan_of(files).settings(found.best.settings), 3)
    assert found.best.f1 == pytest.approx(expected / 100)


def test_another_seed_gives_other_trials_and_the_same_seed_the_same(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    runs = [
        tune(plan_of(files, seed=seed, trials=3), out=tmp_path / f"{number}")
        for number, seed in enumerate((1, 1, 2))
    ]
    one, again, other = (comparable(found.outcomes) for found in runs)
    assert one == again
    assert one != other


@pytest.mark.parametrize("after", [1, 2, 6, 8])
def test_a_search_that_is_interrupted_has_the_trials_of_one_that_is_not(
    files: dict[str, str], trainings: Trainings, tmp_path: Path, after: int
) -> None:
    whole = tune(plan_of(files), out=tmp_path / "whole")
    trained = list(trainings.epochs)
    trainings.epochs, trainings.interrupt_at = [], after
    with pytest.raises(KeyboardInterrupt):
        tune(plan_of(files), out=tmp_path / "cut")
    trainings.interrupt_at = None
    found = tune(plan_of(files), out=tmp_path / "cut")
    assert comparable(found.outcomes) == comparable(whole.outcomes)
    # From its last checkpoint: only the epoch that was scored and not yet kept is trained once more.
    assert len(trainings.epochs) == len(trained) + 1


def test_a_search_that_died_while_it_wrote_goes_on(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    tune(plan_of(files), out=tmp_path / "out", trials=2)
    with (tmp_path / "out" / "study.jsonl").open("a") as file:
        file.write('{"op_code": 5, "wor')
    assert len(tune(plan_of(files), out=tmp_path / "out", trials=3).outcomes) == 3


def test_a_search_killed_between_any_two_lines_has_the_trials_of_one_that_was_not(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    whole = tune(plan_of(files, trials=2), out=tmp_path / "whole")
    lines = (tmp_path / "whole" / "study.jsonl").read_text().splitlines(keepends=True)
    begun = [number for number, line in enumerate(lines) if json.loads(line)["op_code"] == 4]
    outcomes = (tmp_path / "whole" / "trials.jsonl").read_text().splitlines(keepends=True)
    for kept in range(begun[1] + 1, begun[1] + 5):
        cut = Path(shutil.copytree(tmp_path / "whole", tmp_path / f"cut-{kept}"))
        (cut / "study.jsonl").write_text("".join(lines[:kept]))
        (cut / "trials.jsonl").write_text(outcomes[0])
        shutil.rmtree(cut / "trials" / "002", ignore_errors=True)
        found = tune(plan_of(files, trials=2), out=cut)
        assert comparable(found.outcomes) == comparable(whole.outcomes)


def test_a_trial_that_ended_before_the_study_knew_is_not_trained_again(
    files: dict[str, str], trainings: Trainings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(search._Search, "_tell", die)
        with pytest.raises(KeyboardInterrupt):
            tune(plan_of(files), out=tmp_path / "out")
    before = len(trainings.epochs)
    found = tune(plan_of(files), out=tmp_path / "out", trials=2)
    assert [outcome.number for outcome in found.outcomes] == [1, 2]
    assert len(trainings.settings) == 2 and len(trainings.epochs) > before


def test_a_finished_search_trains_nothing_more_unless_more_trials_are_wanted(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    first = tune(plan_of(files), out=tmp_path / "out")
    trainings.settings.clear()
    assert comparable(tune(plan_of(files), out=tmp_path / "out").outcomes) == comparable(first.outcomes)
    assert trainings.settings == []
    more = tune(plan_of(files), out=tmp_path / "out", trials=8)
    assert len(trainings.settings) == 2
    assert comparable(more.outcomes[:6]) == comparable(first.outcomes)


def worse_and_worse() -> Quality:
    """Each trial is worse than all before it."""
    seen: list[Settings] = []

    def quality(settings: Settings, epoch: int) -> int:
        if settings not in seen:
            seen.append(settings)
        return 50 - 5 * seen.index(settings) + epoch

    return quality


def test_a_trial_below_the_median_of_the_others_stops_after_its_first_epoch(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    trainings.quality = worse_and_worse()
    found = tune(plan_of(files, startup_trials=3), out=tmp_path / "out")
    assert [outcome.state for outcome in found.outcomes] == ["finished"] * 3 + ["stopped"] * 3
    assert [outcome.epochs for outcome in found.outcomes] == [3, 3, 3, 1, 1, 1]
    assert found.best.number == 1
    assert found.outcomes[3].f1 == pytest.approx(0.36)


def test_without_pruning_all_trials_come_to_their_end(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    trainings.quality = worse_and_worse()
    found = tune(plan_of(files, startup_trials=3, pruning=False), out=tmp_path / "out")
    assert [outcome.epochs for outcome in found.outcomes] == [3] * 6


def test_only_the_best_model_is_kept_and_no_checkpoints(
    files: dict[str, str], trainings: Trainings, tmp_path: Path
) -> None:
    found = tune(plan_of(files), out=tmp_path / "out")
    assert [path.parent.name for path in (tmp_path / "out" / "trials").glob("*/model")] == [
        f"{found.best.number:03d}"
    ]
    assert found.model.is_dir()
    assert list((tmp_path / "out" / "trials").glob("*/checkpoints")) == []


def test_the_best_settings_are_a_recipe(files: dict[str, str], trainings: Trainings, tmp_path: Path) -> None:
    plan = plan_of(files)
    found = tune(plan, out=tmp_path / "out")
    assert load_settings(str(tmp_path / "out" / "best.toml")) == plan.settings(found.best.settings)
    lines = (tmp_path / "out" / "trials.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 2}, "seed, settings"),
        ({"set": ["training.epochs=4"]}, "settings"),
        ({"search": {RATE: [1e-4]}}, "search"),
        ({"documents": {"train": 5}}, "documents"),
    ],
)
def test_the_folder_of_another_plan_is_refused(
    files: dict[str, str], trainings: Trainings, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    tune(plan_of(files), out=tmp_path / "out", trials=1)
    with pytest.raises(
        InputError, match=f"a search of another plan is there: it differs in {named}. Expected"
    ):
        tune(plan_of(files, **change), out=tmp_path / "out")


def test_settings_that_do_not_go_together_cost_a_trial_and_not_the_search(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trainings = Trainings(near_one_rate)

    def refusing(settings: Settings, **values: Any) -> Any:
        if settings.representation.dropout == 0.1:
            raise SettingsError("too dry")
        return trainings(settings, **values)

    monkeypatch.setattr(search, "train", refusing)
    found = tune(plan_of(files, trials=8), out=tmp_path / "out")
    refused = [outcome for outcome in found.outcomes if outcome.state == "refused"]
    assert refused and all(outcome.settings[DROPOUT] == 0.1 for outcome in refused)
    assert {outcome.reason for outcome in refused} == {"too dry"}
    assert found.best.settings[DROPOUT] != 0.1


def test_a_trial_that_diverges_does_not_end_the_search(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trainings = Trainings(near_one_rate)

    def diverging(settings: Settings, **values: Any) -> Any:
        if settings.representation.dropout == 0.1:
            raise DivergenceError("the loss is nan")
        return trainings(settings, **values)

    monkeypatch.setattr(search, "train", diverging)
    found = tune(plan_of(files, trials=8), out=tmp_path / "out")
    reasons = {outcome.state: outcome.reason for outcome in found.outcomes}
    assert reasons["refused"] == "the loss is nan"
    assert found.best.settings[DROPOUT] != 0.1


def test_a_search_whose_first_trials_are_all_refused_ends_with_the_reason(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Settings] = []

    def refusing(settings: Settings, **_: Any) -> None:
        asked.append(settings)
        raise SettingsError("no such role")

    monkeypatch.setattr(search, "train", refusing)
    with pytest.raises(InputError, match="no trial came to its end: no such role"):
        tune(plan_of(files, trials=9, startup_trials=2), out=tmp_path / "out")
    assert len(asked) == 2


def test_a_search_does_not_run_in_several_processes(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"^tune trains one model after another .* without torchrun"):
        tune(plan_of(files), out=tmp_path / "out")


def test_the_command_searches_and_its_best_settings_train_again(
    files: dict[str, str], tiny_encoder: str, tmp_path: Path
) -> None:
    """With real trainings: the best recipe, trained anew, has the F1 that the search found."""
    small = json.dumps([f"encoder.name={tiny_encoder}", *making.SMALL, "training.epochs=1"])
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"recipe = 'plain'\ntrain = {files['train']!r}\ndev = {files['dev']!r}\ntrials = 2\nset = {small}\n"
        f"[search]\n'{DROPOUT}' = [0.1, 0.3]\n'training.batch_windows' = {{low = 1, high = 4}}\n".replace(
            '"training.batch_windows=4", ', ""
        )
    )
    done = CliRunner().invoke(app, ["tune", str(plan), "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    best = json.loads(done.stdout)["best"]
    recipe = load_settings(str(tmp_path / "out" / "best.toml"))
    again = train(recipe, train=files["train"], dev=files["dev"], out=tmp_path / "again")
    assert again.scores["dev"].micro.f1 == best["f1"]


def test_tuned_says_where_the_best_model_is(tmp_path: Path) -> None:
    best = TrialOutcome(7, "finished", 0.5, 1, 1.0, {})
    assert Tuned(tmp_path, [best], best).model == tmp_path / "trials" / "007" / "model"
