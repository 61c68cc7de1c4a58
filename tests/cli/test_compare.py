from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Outcome, run

import making
import spanwright.comparing
from spanwright.formats.files import write

SMALL = (*making.SMALL, "training.epochs=1")
SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, dev and test files; a document of train has an entity that cannot be read."""
    folder = tmp_path_factory.mktemp("corpus")
    write(making.documents(40), folder / "train.jsonl")
    write(making.documents(6, prefix="dev"), folder / "dev.jsonl")
    write(making.documents(6, prefix="test"), folder / "test.jsonl")
    with (folder / "train.jsonl").open("a") as file:
        file.write('{"id": "odd", "text": "a", "entities": [{"start": 0, "end": 9, "type": "Gene"}]}\n')
    return folder


def files(corpus: Path) -> list[object]:
    return [part for split in SPLITS for part in (f"--{split}", corpus / f"{split}.jsonl")]


def compare(corpus: Path, encoder: str, out: Path, *arguments: object) -> Outcome:
    settings = [part for change in SMALL for part in ("--set", change)]
    return run("compare", *files(corpus), "--encoder", encoder, "--out", out, *settings, *arguments)


@pytest.fixture(scope="module")
def compared(
    corpus: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, Path]:
    """What comparing two recipes with two seeds printed, and its folder."""
    out = tmp_path_factory.mktemp("compared")
    longer = ("--set-for", "bundling/crf:training.epochs=2")
    arguments = ("--seeds", 2, "--corpus", "made", "--documents", 30, *longer)
    return compare(corpus, tiny_encoder, out, "plain", "bundling/crf", *arguments), out


def test_two_recipes_with_two_seeds_are_compared_by_one_command(compared: tuple[Outcome, Path]) -> None:
    outcome, out = compared
    assert outcome.code == 0, outcome.stderr
    runs = {str(path.parent.relative_to(out / "runs")) for path in out.rglob("scores.json")}
    assert runs == {f"made/{recipe}/seed-{seed}" for recipe in ("plain", "bundling-crf") for seed in (1, 2)}
    recipes = json.loads((out / "results.json").read_text())["corpora"]["made"]["recipes"]
    for name, found in recipes.items():
        assert f"| {name} | {100 * found['precision']['mean']:.2f} ±" in (out / "results.md").read_text()
        assert f"{100 * found['f1']['mean']:.2f} ±{100 * found['f1']['deviation']:.2f}" in outcome.stdout
    assert f"results: {out / 'results.md'}" in outcome.stderr


def test_the_view_tells_which_run_it_is_at_and_what_is_finished(compared: tuple[Outcome, Path]) -> None:
    shown = compared[0].stderr
    for number, name in enumerate(("plain", "bundling/crf"), start=1):
        assert f"run {number} of 4: {name} on made, seed 1" in shown
        assert f"run {number + 2} of 4: {name} on made, seed 2" in shown
    assert shown.count("epoch 1: dev precision") == 4
    assert shown.count("finished so far") == 4


def test_problems_in_reading_are_told_with_the_corpus_and_the_split(compared: tuple[Outcome, Path]) -> None:
    assert "made, train:\n1 problem in reading" in compared[0].stderr


def test_options_reach_the_runs(compared: tuple[Outcome, Path]) -> None:
    runs = compared[1] / "runs" / "made"
    plain, crf = (
        json.loads((runs / name / "seed-2/settings.json").read_text()) for name in ("plain", "bundling-crf")
    )
    assert (plain["settings"]["training"]["epochs"], crf["settings"]["training"]["epochs"]) == (1, 2)
    assert plain["settings"]["training"]["seed"] == 2
    data = json.loads((runs / "plain" / "seed-1" / "journal.jsonl").read_text().splitlines()[0])
    assert data["train"]["documents"] == 30


def test_the_same_command_again_trains_nothing_and_prints_json_on_request(
    corpus: Path, tiny_encoder: str, compared: tuple[Outcome, Path]
) -> None:
    _, out = compared
    longer = ("--set-for", "bundling/crf:training.epochs=2")
    arguments = ("--seeds", 2, "--corpus", "made", "--documents", 30, *longer, "--json")
    again = compare(corpus, tiny_encoder, out, "plain", "bundling/crf", *arguments)
    assert again.code == 0, again.stderr
    assert "plain on made, seed 1: finished before, F1 " in again.stderr
    assert "dev precision" not in again.stderr
    assert json.loads(again.stdout) == json.loads((out / "results.json").read_text())


def test_a_changed_setting_is_refused_with_the_reason(
    corpus: Path, tiny_encoder: str, compared: tuple[Outcome, Path]
) -> None:
    arguments = ("--seeds", 2, "--corpus", "made", "--documents", 30)
    refused = compare(corpus, tiny_encoder, compared[1], "plain", "bundling/crf", *arguments)
    assert refused.code == 2
    assert (
        "bundling-crf/seed-1: the run there is another one: training.epochs was 2 and is 1." in refused.error
    )


def test_a_plan_compares_several_corpora_and_draws_its_plots(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    paths = "\n".join(f"{split} = {str(corpus / f'{split}.jsonl')!r}" for split in SPLITS)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
        recipes = ["plain"]
        seeds = 1
        encoder = {tiny_encoder!r}
        set = {list(SMALL)!r}
        heat_map_split = "dev"
        [corpora.one]
        {paths}
        [corpora.two]
        {paths}
        documents = {{ train = 20 }}
        [plots.both]
        kind = "bars"
        recipes = ["plain"]
        [[claims]]
        name = "more-documents"
        place = "our own"
        says = "More documents make a better model."
        better = "plain"
        than = ["plain"]
        than_corpus = "two"
        corpora = ["one"]
        """
    )
    outcome = run("compare", plan, "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.stderr
    assert "one (test)" in outcome.stdout and "two (test)" in outcome.stdout
    (found,) = json.loads((tmp_path / "out" / "results.json").read_text())["claims"]
    assert "more-documents" in outcome.stdout and "too few seeds" in " ".join(outcome.stdout.split())
    assert (found["seeds"], found["documents"], found["flags"][-1]) == (1, 6, "too few seeds")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"heat-map-one.png", "heat-map-two.png", "mistakes-two.csv", "plot-both.png"} <= names
    assert "(plot-both.png)" in (tmp_path / "out" / "results.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plain", "binder"), "without --train, --dev and --test, expected one plan, such as plan.toml"),
        (("plan.toml",), "plan.toml: no such file"),
        (("plan.toml", "--seeds", 3), "plan.toml: a plan has everything in it; put seeds there"),
        (("plain", "--train", "a.tsv", "--dev", "b.tsv"), "compare: 'corpora.corpus': test is missing"),
        (("plain", "--corpus", "made"), "compare: 'corpora.made': train is missing"),
    ],
)
def test_a_call_that_says_too_little_or_too_much_is_refused(
    arguments: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    refused = run("compare", *arguments, "--out", tmp_path / "out")
    assert refused.code == 2
    assert message in refused.error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set-for", "plain=3"), "--set-for 'plain=3': expected RECIPE:key=value"),
        (("--set-for", "binder:training.epochs=3"), "set_for names 'binder'; expected plain"),
        (("--base", "bundling"), "base names 'bundling'; expected plain"),
        (("--heat-map-split", "train"), "'heat_map_split' is 'train': expected 'dev' or 'test'"),
        (("--descriptions", "genia"), "descriptions are given for the corpus 'corpus', but none"),
        (("--format", "docx"), "docx"),
        (("--option", "tag_column"), "--option 'tag_column': expected name=value"),
        (("--option", "tag_column=3"), "tag_column"),
        (("--documents", 0), "'corpora.corpus.documents.train' is 0"),
    ],
)
def test_a_wrong_option_is_refused(
    corpus: Path, tiny_encoder: str, arguments: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    refused = compare(corpus, tiny_encoder, tmp_path / "out", "plain", *arguments)
    assert refused.code == 2
    assert message in refused.error


def test_an_interrupted_comparison_says_how_to_go_on(
    corpus: Path, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(spanwright.comparing, "compare", interrupt)
    outcome = compare(corpus, tiny_encoder, tmp_path / "out", "plain")
    assert outcome.code == 130
    assert outcome.stderr.endswith("interrupted; the same command goes on from here\n")
