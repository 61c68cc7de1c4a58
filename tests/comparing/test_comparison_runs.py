"""Comparisons with real trainings of a tiny encoder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import making
import several
from spanwright.comparing import Plan, Run, SilentComparison, compare, make_plan, runs
from spanwright.comparing.runs import plan_runs, predictions
from spanwright.errors import InputError, SettingsError
from spanwright.evaluation import evaluate
from spanwright.formats.files import write
from spanwright.text import Entity
from spanwright.training.journal import read_journal
from watching import Recorder, StoppedError

SMALL = (*making.SMALL, "training.epochs=2")
RUNS = ("plain/seed-1", "bundling/seed-1", "plain/seed-2", "bundling/seed-2")


class Watched(SilentComparison):
    """Remembers which runs were trained and reused; may stop one in the middle."""

    def __init__(self, *, stop_in_run: int | None = None) -> None:
        self.stop_in_run = stop_in_run
        self.trained: list[str] = []
        self.reused: list[str] = []
        self.steps = 0

    @contextmanager
    def training(self, run: Run, number: int, total: int) -> Iterator[Recorder]:
        assert total == len(RUNS)
        recorder = Recorder(stop_at_step=16 if number == self.stop_in_run else None)
        yield recorder
        self.steps = len(recorder.losses)

    def finished(self, run: Run, outcome: Any, *, reused: bool) -> None:
        (self.reused if reused else self.trained).append(f"{run.recipe}/seed-{run.seed}")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, dev and test files."""
    folder = tmp_path_factory.mktemp("corpus")
    write(making.documents(48), folder / "train.jsonl")
    write(making.documents(6, prefix="dev"), folder / "dev.jsonl")
    write(making.documents(8, prefix="test"), folder / "test.jsonl")
    return folder


def plan(corpus: Path, encoder: str, *changes: str, **values: Any) -> Plan:
    made = {split: str(corpus / f"{split}.jsonl") for split in ("train", "dev", "test")}
    made |= values.pop("of_corpus", {})
    everything = {
        "recipes": ["plain", "bundling"],
        "seeds": 2,
        "encoder": encoder,
        "set": [*SMALL, *changes],
        "corpora": {"made": made},
    }
    return make_plan(everything | values, "plan")


@pytest.fixture(scope="module")
def compared(corpus: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison that nothing disturbed."""
    out = tmp_path_factory.mktemp("compared")
    watched = Watched()
    compare(plan(corpus, tiny_encoder), out=out, watcher=watched)
    assert (watched.trained, watched.reused) == (list(RUNS), [])
    return out


def f1_by_run(out: Path) -> dict[str, float]:
    recipes = json.loads((out / "results.json").read_text())["corpora"]["made"]["recipes"]
    return {
        f"{recipe}/seed-{seed}": f1
        for recipe, found in recipes.items()
        for seed, f1 in found["f1_per_seed"].items()
    }


def modified(folder: Path) -> dict[str, int]:
    """When each file of a folder, and the folder itself, was written last."""
    paths = (folder, *folder.rglob("*"))
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in paths}


def test_every_recipe_runs_with_every_seed_and_scores_as_its_training_says(compared: Path) -> None:
    scores = {run: json.loads((compared / "runs" / "made" / run / "scores.json").read_text()) for run in RUNS}
    expected = {run: found["test"]["micro"]["f1"] for run, found in scores.items()}
    assert f1_by_run(compared) == pytest.approx(expected)
    # Two runs of a small test split may well score the same, but not all of them.
    assert len(set(expected.values())) > 2


def test_tables_and_pictures_are_written(compared: Path) -> None:
    names = {path.name for path in compared.iterdir()}
    assert names == {
        "runs",
        "results.json",
        "results.md",
        "f1.png",
        "heat-map-made.png",
        "heat-map-made.csv",
        "mistakes-made.csv",
        "runs.jsonl",
    }
    assert (compared / "heat-map-made.png").read_bytes().startswith(b"\x89PNG")


def test_a_finished_run_keeps_no_checkpoints(compared: Path) -> None:
    assert not list(compared.rglob("checkpoints"))


def test_an_interrupted_comparison_goes_on_and_leaves_finished_runs_alone(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    chosen = plan(corpus, tiny_encoder)
    with pytest.raises(StoppedError):
        compare(chosen, out=tmp_path, watcher=Watched(stop_in_run=2))
    first = tmp_path / "runs" / "made" / "plain" / "seed-1"
    before = modified(first)
    assert not (tmp_path / "results.json").exists()
    watched = Watched()
    compare(chosen, out=tmp_path, watcher=watched)
    assert watched.reused == list(RUNS[:1])
    assert watched.trained == list(RUNS[1:])
    assert modified(first) == before
    assert f1_by_run(tmp_path) == f1_by_run(compared)


def test_an_interrupted_run_goes_on_from_its_checkpoint(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    """Twelve or more batches an epoch: the run stops at step 16, after the checkpoint of the first epoch."""
    chosen = plan(corpus, tiny_encoder)
    with pytest.raises(StoppedError):
        compare(chosen, out=tmp_path, watcher=Watched(stop_in_run=1))
    folder = tmp_path / "runs" / "made" / "plain" / "seed-1"
    (checkpoint,) = (folder / "checkpoints").iterdir()
    done = json.loads((checkpoint / "position.json").read_text())["step"]
    watched = Watched(stop_in_run=2)
    with pytest.raises(StoppedError):
        compare(chosen, out=tmp_path, watcher=watched)
    assert watched.trained == list(RUNS[:1])
    assert 12 <= done < 16
    # Two epochs of as many steps each, of which the second was left.
    assert watched.steps == done


def test_the_finished_runs_of_an_interrupted_comparison_are_compared_on_demand(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    chosen = plan(corpus, tiny_encoder)
    with pytest.raises(StoppedError):
        compare(chosen, out=tmp_path, watcher=Watched(stop_in_run=4))
    watched = Watched()
    results = compare(chosen, out=tmp_path, only_finished=True, watcher=watched)
    assert (watched.trained, watched.reused) == ([], list(RUNS[:3]))
    assert [len(each.outcomes) for each in results.corpora[0].recipes] == [2, 1]
    assert lines(tmp_path) == lines(compared)[:3]


def test_a_corpus_that_has_not_begun_is_left_out_of_the_finished_ones(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    shutil.copytree(compared, tmp_path / "out")
    made = plan(corpus, tiny_encoder).corpora["made"].model_dump(exclude_defaults=True)
    both = plan(corpus, tiny_encoder, corpora={"made": made, "later": made})
    results = compare(both, out=tmp_path / "out", only_finished=True)
    assert [result.corpus for result in results.corpora] == ["made"]
    assert f1_by_run(tmp_path / "out") == f1_by_run(compared)


def test_a_comparison_none_of_whose_runs_is_finished_is_an_error(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"no run of 'plain', .* is finished on 'made'"):
        compare(plan(corpus, tiny_encoder), out=tmp_path, only_finished=True)


def test_runs_tell_how_to_judge_and_to_repeat_them(compared: Path) -> None:
    for line, name in zip(lines(compared), RUNS, strict=True):
        run = json.loads(line)
        folder = compared / "runs" / "made" / name
        assert run["dev_f1"] == [
            entry["dev"]["micro"]["f1"] for entry in read_journal(folder) if entry["event"] == "epoch"
        ]
        assert run["changed"]["training.epochs"] == 2
        assert "training.accumulate" not in run["changed"]
        assert sum(row[0] for row in run["counts"]) == sum(
            len(d.entities) for d in making.documents(8, prefix="test")
        )
        assert run["versions"]["spanwright"]


def lines(out: Path) -> list[str]:
    return [without_times(line) for line in (out / "runs.jsonl").read_text().splitlines()]


def without_times(line: str) -> str:
    return json.dumps({**json.loads(line), "seconds": 0, "words_per_second": 0})


def copied(compared: Path, folder: Path) -> Path:
    return Path(shutil.copytree(compared, folder / "out"))


def test_a_comparison_that_is_complete_trains_nothing(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    out = copied(compared, tmp_path)
    page = (out / "results.md").read_text()
    (out / "results.md").unlink()
    before = modified(out / "runs")
    watched = Watched()
    compare(plan(corpus, tiny_encoder), out=out, watcher=watched)
    assert (watched.trained, watched.reused) == ([], list(RUNS))
    assert modified(out / "runs") == before
    assert (out / "results.md").read_text() == page


def test_another_base_and_another_split_for_the_heat_map_need_no_training(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    out = copied(compared, tmp_path)
    watched = Watched()
    chosen = plan(corpus, tiny_encoder, base="bundling", heat_map_split="dev")
    results = compare(chosen, out=out, watcher=watched)
    assert watched.trained == []
    assert results.corpora[0].of("bundling").against_base is None
    gold = {cell.bucket: cell.gold for cell in results.corpora[0].heat_map if cell.attribute == "width"}
    assert sum(gold.values()) == sum(len(d.entities) for d in making.documents(6, prefix="dev"))


def test_lines_are_enough_to_go_on_and_to_make_all_pages_again(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    _, *others = (compared / "runs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_text("".join(others))
    watched = Watched()
    compare(plan(corpus, tiny_encoder), out=tmp_path, watcher=watched)
    assert (watched.trained, watched.reused) == ([RUNS[0]], list(RUNS[1:]))
    assert sorted(lines(tmp_path)) == sorted(lines(compared))
    assert without_seconds(tmp_path / "results.json") == without_seconds(compared / "results.json")


def test_lines_of_two_files_are_put_together_by_putting_them_in_one(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    """As of two machines that shared the runs; a run that both have counts once."""
    every = (compared / "runs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_text("".join([*every[2:], *every[:3]]))
    watched = Watched()
    compare(plan(corpus, tiny_encoder), out=tmp_path, watcher=watched)
    assert (watched.trained, watched.reused) == ([], list(RUNS))
    assert without_seconds(tmp_path / "results.json") == without_seconds(compared / "results.json")


def without_seconds(results: Path) -> str:
    return re.sub(r'"(seconds|words_per_second)": [\d.e-]+', "", results.read_text())


def test_lines_from_before_a_setting_was_there_or_with_other_words_about_a_recipe_are_kept(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    older = [json.loads(line) for line in (compared / "runs.jsonl").read_text().splitlines()]
    for line in older:
        del line["settings"]["optimiser"]["epsilon"]
        line["settings"]["description"] = "what was said of it before"
    (tmp_path / "runs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in older))
    watched = Watched()
    compare(plan(corpus, tiny_encoder), out=tmp_path, watcher=watched)
    assert (watched.trained, watched.reused) == ([], list(RUNS))


def test_lines_of_runs_that_a_plan_no_longer_has_stay(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    out = copied(compared, tmp_path)
    all_lines = (out / "runs.jsonl").read_text()
    compare(plan(corpus, tiny_encoder, seeds=1), out=out, watcher=Watched())
    assert (out / "runs.jsonl").read_text() == all_lines


def test_the_line_of_another_run_is_refused(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    shutil.copy(compared / "runs.jsonl", tmp_path / "runs.jsonl")
    with pytest.raises(InputError, match=r"runs\.jsonl: the run of plain on made, seed 1 is another one: .*"):
        compare(plan(corpus, tiny_encoder, "training.epochs=3"), out=tmp_path)


def test_a_line_that_is_none_is_named(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    text = (compared / "runs.jsonl").read_text()
    (tmp_path / "runs.jsonl").write_text(text[: text.index("\n") + 100])
    with pytest.raises(InputError, match=r"runs\.jsonl:2: not the line of a run"):
        compare(plan(corpus, tiny_encoder), out=tmp_path)


def test_a_run_whose_last_file_is_torn_is_not_finished(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    out = copied(compared, tmp_path)
    run = plan_runs(plan(corpus, tiny_encoder), out, SilentComparison())[0]
    assert run.finished
    scores = run.folder / "scores.json"
    scores.write_text(scores.read_text()[:20])
    assert not run.finished


def test_predictions_that_are_missing_are_made_by_the_model(
    corpus: Path, tiny_encoder: str, compared: Path, tmp_path: Path
) -> None:
    out = copied(compared, tmp_path)
    run = plan_runs(plan(corpus, tiny_encoder), out, SilentComparison())[0]
    expected = (run.folder / "test.jsonl").read_bytes()
    (run.folder / "test.jsonl").unlink()
    found = evaluate(run.corpus.test, predictions(run, "test")).micro.f1
    assert (run.folder / "test.jsonl").read_bytes() == expected
    assert found == pytest.approx(f1_by_run(out)["plain/seed-1"])


@pytest.mark.parametrize(
    ("changes", "values", "reason"),
    [
        (("training.epochs=3",), {}, "training.epochs was 2 and is 3"),
        (("optimiser.learning_rates.head=0.5",), {}, "optimiser.learning_rates.head was 0.01 and is 0.5"),
        ((), {"of_corpus": {"documents": {"train": 40}}}, "the train documents have changed"),
        ((), {"of_corpus": {"documents": {"test": 7}}}, "the test documents have changed"),
    ],
)
def test_a_run_with_other_settings_or_documents_is_refused_before_any_training(
    corpus: Path,
    tiny_encoder: str,
    compared: Path,
    changes: tuple[str, ...],
    values: dict[str, Any],
    reason: str,
) -> None:
    before = modified(compared)
    with pytest.raises(InputError) as caught:
        compare(plan(corpus, tiny_encoder, *changes, **values), out=compared)
    folder = compared / "runs" / "made" / "plain" / "seed-1"
    assert str(caught.value) == (
        f"{folder}: the run there is another one: {reason}. Take the settings and documents that it was "
        f"started with, another --out, or remove the folder"
    )
    assert modified(compared) == before


def test_settings_that_only_the_model_can_refuse_are_refused_before_any_training(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"learning_rates names the roles \['tails'\]"):
        compare(
            plan(corpus, tiny_encoder, set_for={"bundling": ["optimiser.learning_rates.tails=1"]}),
            out=tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()


def test_a_recipe_that_does_not_suit_the_documents_is_named_before_any_model_is_built(
    corpus: Path, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "new_model", lambda *_: pytest.fail("a model was built"))
    nested = [
        replace(document, entities=(Entity(0, 4, "A"), Entity(0, 2, "B")))
        for document in making.documents(9, prefix="nested")
    ]
    write(nested, tmp_path / "nested.jsonl")
    chosen = plan(
        corpus,
        tiny_encoder,
        recipes=["plain", "tagger"],
        set=[],
        of_corpus={"train": str(tmp_path / "nested.jsonl")},
    )
    with pytest.raises(SettingsError, match=r"^tagger on made: output is 'tags', but entities .* overlap"):
        compare(chosen, out=tmp_path / "out")


def test_a_split_without_documents_is_refused(corpus: Path, tiny_encoder: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    chosen = plan(corpus, tiny_encoder, of_corpus={"test": str(tmp_path / "empty.jsonl")})
    with pytest.raises(InputError, match=r"corpus 'made': the test files have no document"):
        compare(chosen, out=tmp_path / "out")


def test_a_comparison_does_not_run_in_several_processes(
    corpus: Path, tiny_encoder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"^compare trains one model after another .* without torchrun"):
        compare(plan(corpus, tiny_encoder), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_label_map_gives_a_corpus_its_shared_types(corpus: Path, tiny_encoder: str, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text('types = ["Thing"]\n[corpora.made]\nGene = "Thing"\nCell = ""\n')
    mapped = plan(corpus, tiny_encoder, of_corpus={"map": str(tmp_path / "map.toml")})
    run = plan_runs(mapped, tmp_path / "out", Watched())[0]
    documents = [*run.corpus.train, *run.corpus.dev, *run.corpus.test]
    assert {entity.type for document in documents for entity in document.entities} == {"Thing"}
    genes = [
        entity for document in making.documents(48) for entity in document.entities if entity.type == "Gene"
    ]
    assert sum(len(document.entities) for document in run.corpus.train) == len(genes)


def test_runs_with_shared_types_are_scored_as_their_trainings_were(tiny_encoder: str, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(several.MAP)
    lines = [f'map = "{tmp_path / "map.toml"}"', 'target = ["Alpha", "Beta"]']
    for name in ("Alpha", "Beta"):
        lines.append(f"[corpora.{name}]")
        for split, count in (("train", 24), ("dev", 4), ("test", 4)):
            documents = several.documents(name, count, prefix=split, flat=True)
            write([replace(each, corpus=None) for each in documents], tmp_path / f"{name}-{split}.jsonl")
            lines.append(f'{split} = "{tmp_path / f"{name}-{split}.jsonl"}"')
    (tmp_path / "corpora.toml").write_text("\n".join(lines))
    values = {
        "recipes": ["cvae/shared-label"],
        "seeds": 1,
        "encoder": tiny_encoder,
        "set": [*making.SMALL, "training.epochs=6", "scorer.hidden=[]", "training.batch_windows=2"],
        "corpora": {"both": {"together": str(tmp_path / "corpora.toml")}},
    }
    results = compare(make_plan(values, "plan"), out=tmp_path / "out")
    (folder,) = (tmp_path / "out" / "runs" / "both").glob("*/seed-1")
    scores = json.loads((folder / "scores.json").read_text())
    f1 = results.corpora[0].recipes[0].spread("f1").mean
    assert f1 == pytest.approx(scores["test"]["micro"]["f1"]) and f1 > 0
