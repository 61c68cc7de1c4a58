"""`spanwright train --corpora`, `tag --corpus` and `tag --as`, and plans that name a file of corpora."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running import Outcome, run

import several
from spanwright.comparing import SilentComparison, make_plan
from spanwright.comparing.outcomes import analyse
from spanwright.comparing.runs import Run, perform, plan_runs
from spanwright.errors import InputError
from spanwright.formats.files import read, write
from spanwright.predicting.tagger import load
from spanwright.text import Document
from spanwright.training.watcher import Silent

FILES_BESIDE = "together is given, so files, formats, maps and numbers of documents belong there"
DEV = several.split("dev", Alpha=3, Beta=2)
TEST = several.split("test", Alpha=4, Beta=2, Gamma=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of three corpora, of which a training document of Gamma stands in the dev file of Alpha."""
    made = tmp_path_factory.mktemp("corpora")
    for name, count in (("Alpha", 12), ("Beta", 8), ("Gamma", 8)):
        train = several.documents(name, count)
        train += [replace(DEV[0], id="leaked", entities=())] if name == "Gamma" else []
        for split, documents in (("train", train), ("dev", DEV), ("test", TEST)):
            # Files need not tell: whose they are says the file of corpora.
            own = [d for d in documents if split == "train" or d.corpus == name]
            if own:
                write([replace(document, corpus=None) for document in own], made / f"{name}-{split}.jsonl")
    (made / "map.toml").write_text(several.MAP)
    (made / "corpora.toml").write_text(corpora_file(made))
    return made


def corpora_file(folder: Path) -> str:
    return f"""
    target = "Alpha"
    map = "{folder}/map.toml"

    [corpora.Gamma]
    train = "{folder}/Gamma-train.jsonl"
    test = "{folder}/Gamma-test.jsonl"
    weight = 1.5

    [corpora.Alpha]
    train = "{folder}/Alpha-train.jsonl"
    dev = "{folder}/Alpha-dev.jsonl"
    test = "{folder}/Alpha-test.jsonl"

    [corpora.Beta]
    train = "{folder}/Beta-train.jsonl"
    dev = "{folder}/Beta-dev.jsonl"
    test = "{folder}/Beta-test.jsonl"
    documents = {{test = 1}}
    """


def train(folder: Path, out: Path, encoder: str, *arguments: object, recipe: str = "cvae") -> Outcome:
    small = [*several.SMALL, "scorer.hidden=[]", "training.epochs=7"]
    small += several.SMALL_CVAE if recipe == "cvae" else ()
    settings = [argument for change in small for argument in ("--set", change)]
    corpora = ("--corpora", folder / "corpora.toml")
    return run("train", recipe, *corpora, "--out", out, "--encoder", encoder, *settings, *arguments)


@pytest.fixture(scope="module")
def trained(
    folder: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, Path]:
    """What `train` printed, and the folder of the run."""
    out = tmp_path_factory.mktemp("runs") / "run"
    return train(folder, out, tiny_encoder), out


# Training.


def test_the_file_names_the_corpora_the_target_the_map_and_the_weights(trained: tuple[Outcome, Path]) -> None:
    outcome, out = trained
    assert outcome.code == 0, outcome.stderr
    model = load(out / "model").model
    assert model.labels.corpora == ("Alpha", "Beta", "Gamma")
    assert model.labels.shared == ("Cell", "Gene", "Gene", "Gene", "")
    chosen = model.settings.corpora
    assert chosen is not None
    assert (chosen.target, chosen.weights) == (("Alpha",), {"Gamma": 1.5})


def test_all_corpora_are_scored_and_the_scores_are_printed(trained: tuple[Outcome, Path]) -> None:
    outcome, out = trained
    scores = json.loads((out / "scores.json").read_text())
    assert list(scores) == ["dev", "test", "dev Beta", "test Beta", "test Gamma"]
    for split in scores:
        assert split in outcome.stdout
    assert outcome.stdout.count("micro") == len(scores)
    for name in ("dev", "dev Beta"):
        assert f"epoch 7: {name} precision" in outcome.stderr
    assert "(best so far)" in outcome.stderr


def test_leaked_documents_are_told_for_each_corpus(trained: tuple[Outcome, Path]) -> None:
    told = "training documents removed because they stand in dev or test: 1 (Alpha 0, Beta 0, Gamma 1)"
    assert told in trained[0].stderr.splitlines()


def test_leaked_documents_that_are_kept_are_told_too(folder: Path, tiny_encoder: str, tmp_path: Path) -> None:
    keep = ("--set", "training.leaked=keep", "--set", "training.epochs=1")
    outcome = train(folder, tmp_path / "run", tiny_encoder, *keep, recipe="cvae/multi")
    assert outcome.code == 0, outcome.stderr
    told = (
        "training documents removed because they stand in dev or test: 0; kept although they do: 1 "
        "(Alpha 0, Beta 0, Gamma 1)"
    )
    assert told in outcome.stderr.splitlines()


def test_settings_of_the_command_go_over_those_of_the_file(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    changes = (
        "--set",
        "corpora.target=['Beta']",
        "--set",
        "corpora.train=target",
        "--set",
        "training.epochs=1",
    )
    outcome = train(folder, tmp_path / "run", tiny_encoder, *changes, recipe="cvae/multi")
    assert outcome.code == 0, outcome.stderr
    assert load(tmp_path / "run" / "model").model.labels.types == ("Protein",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there is nothing to train on: give --train and --dev files, or --corpora FILE"),
        (("--train", "train.jsonl"), "there is nothing to train on: give --train and --dev files"),
        (
            ("--corpora", "corpora.toml", "--dev", "dev.jsonl"),
            "--corpora names all files, so --train, --dev and --test cannot be given with it",
        ),
        (("--corpora", "nowhere.toml"), "nowhere.toml: no such file; it names corpora and their files"),
    ],
    ids=["nothing", "no dev", "both", "no file"],
)
def test_a_command_without_its_data_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    outcome = run("train", "cvae", "--out", tmp_path / "run", *arguments)
    assert outcome.code == 2
    assert message in outcome.error
    assert not (tmp_path / "run").exists()


def test_files_of_one_corpus_are_refused_where_a_recipe_needs_several(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    files = ("--train", folder / "Alpha-train.jsonl", "--dev", folder / "Alpha-dev.jsonl")
    outcome = run("train", "cvae", *files, "--out", tmp_path / "run", "--encoder", tiny_encoder)
    assert outcome.code == 2
    assert "does not say which corpus it is from" in outcome.error and "set corpora=false" in outcome.error


def test_a_mistake_in_the_file_is_an_error_of_one_line(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "corpora.toml"
    path.write_text(corpora_file(folder).replace("weight", "wieght"))
    outcome = run("train", "cvae", "--corpora", path, "--out", tmp_path / "run")
    assert outcome.code == 2
    assert (
        f"{path}: 'corpora.Gamma.wieght' is unknown (did you mean 'weight'?); expected train, dev"
        in outcome.error
    )


def test_problems_in_reading_are_told_and_stop_a_strict_training(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text((folder / "Gamma-train.jsonl").read_text() + '{"id": \n')
    path = tmp_path / "corpora.toml"
    path.write_text(corpora_file(folder).replace(f"{folder}/Gamma-train.jsonl", str(broken)))
    outcome = run("train", "cvae", "--corpora", path, "--out", tmp_path / "run", "--strict")
    assert outcome.code == 2
    assert f"{broken}:10: not JSON" in outcome.error


def test_a_file_of_corpora_is_never_trained_on_as_one_corpus(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    lines = corpora_file(folder).splitlines()
    path = tmp_path / "corpora.toml"
    path.write_text(
        "\n".join(line for line in lines if not line.strip().startswith(("target", "map", "weight")))
    )
    small = [argument for change in several.SMALL for argument in ("--set", change)]
    arguments = ("--corpora", path, "--out", tmp_path / "run", "--encoder", tiny_encoder)
    outcome = run("train", "plain", *arguments, *small, "--set", "training.epochs=1")
    assert outcome.code == 0, outcome.stderr
    assert load(tmp_path / "run" / "model").model.labels.corpora == ("Alpha", "Beta", "Gamma")


# Tagging.


@pytest.fixture(scope="module")
def texts(folder: Path) -> Path:
    """The test documents of all corpora; each says which it is from."""
    write(TEST, folder / "all-test.jsonl")
    return folder / "all-test.jsonl"


def tagged(trained: tuple[Outcome, Path], out: Path, *arguments: object) -> dict[str | None, set[str]]:
    """The types that `tag` finds in the documents of each corpus."""
    outcome = run("tag", trained[1] / "model", *arguments, "--out", out)
    assert outcome.code == 0, outcome.stderr
    found: dict[str | None, set[str]] = {}
    for document in read(out).documents:
        found.setdefault(document.corpus, set()).update(entity.type for entity in document.entities)
    return found


def test_documents_are_tagged_with_the_types_of_their_own_corpus(
    trained: tuple[Outcome, Path], texts: Path, tmp_path: Path
) -> None:
    found = tagged(trained, tmp_path / "out.jsonl", texts)
    assert found == {name: set(types) for name, types in several.TYPES.items()}


@pytest.mark.parametrize("name", several.TYPES)
def test_a_named_corpus_answers_for_all_documents(
    trained: tuple[Outcome, Path], texts: Path, tmp_path: Path, name: str
) -> None:
    found = tagged(trained, tmp_path / "out.jsonl", texts, "--corpus", name)
    assert set().union(*found.values()) == set(several.TYPES[name])


def test_documents_that_name_no_corpus_are_tagged_as_the_target(
    trained: tuple[Outcome, Path], folder: Path, tmp_path: Path
) -> None:
    found = tagged(trained, tmp_path / "out.jsonl", folder / "Beta-test.jsonl", folder / "Gamma-test.jsonl")
    assert found == {None: {"Cell", "Gene"}}


def test_answers_can_be_in_shared_types(trained: tuple[Outcome, Path], texts: Path, tmp_path: Path) -> None:
    found = tagged(trained, tmp_path / "out.jsonl", texts, "--as", "shared")
    assert found == {"Alpha": {"Cell", "Gene"}, "Beta": {"Gene"}, "Gamma": {"Gene"}}
    named = tagged(trained, tmp_path / "named.jsonl", texts, "--as", "shared", "--corpus", "Beta")
    assert set().union(*named.values()) == {"Gene"}


def test_own_types_are_what_is_answered_unless_asked(
    trained: tuple[Outcome, Path], texts: Path, tmp_path: Path
) -> None:
    found = tagged(trained, tmp_path / "out.jsonl", texts, "--as", "own")
    assert found == tagged(trained, tmp_path / "plain.jsonl", texts)


def test_an_unknown_corpus_is_refused_before_anything_is_written(
    trained: tuple[Outcome, Path], texts: Path, tmp_path: Path
) -> None:
    outcome = run("tag", trained[1] / "model", texts, "--corpus", "Delta", "--out", tmp_path / "out.jsonl")
    assert outcome.code == 2
    assert "the model knows no corpus 'Delta'; expected: Alpha, Beta, Gamma" in outcome.error
    assert not (tmp_path / "out.jsonl").exists()


def test_another_kind_of_answer_is_refused(trained: tuple[Outcome, Path], texts: Path) -> None:
    outcome = run("tag", trained[1] / "model", texts, "--as", "mixed")
    assert outcome.code == 2
    assert "'own', 'shared'" in outcome.stderr


# Plans.


def plan_of(folder: Path, encoder: str, recipe: str = "cvae/multi", **values: Any) -> Any:
    corpus = {"together": str(folder / "corpora.toml"), **values}
    return make_plan(
        {
            "recipes": [recipe],
            "corpora": {"all": corpus},
            "seeds": 1,
            "encoder": encoder,
            "set": [*several.SMALL, "scorer.hidden=[]"],
        },
        "made up",
    )


def test_a_plan_can_name_a_file_of_corpora(folder: Path, tiny_encoder: str, tmp_path: Path) -> None:
    settings = plan_of(folder, tiny_encoder, set=["training.leaked=keep"]).settings("cvae/multi", "all")
    assert settings.corpora is not None
    assert (settings.corpora.target, settings.corpora.weights) == (("Alpha",), {"Gamma": 1.5})
    assert settings.training.leaked == "keep"


def test_the_runs_of_a_plan_are_compared_on_the_target(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    seen: list[tuple[str, str]] = []

    class Watched(SilentComparison):
        def read(self, corpus: str, split: str, log: Any) -> None:
            seen.append((corpus, split))

    runs: list[Run] = plan_runs(plan_of(folder, tiny_encoder), tmp_path, Watched())
    (planned,) = runs
    assert planned.settings.corpora is not None and planned.settings.corpora.target == ("Alpha",)
    assert {document.corpus for document in planned.corpus.train} == {"Alpha", "Beta", "Gamma"}
    for split in ("test", "dev"):
        documents = planned.compared(planned.evaluated[split])
        assert {document.corpus for document in documents} == {"Alpha"}
    assert seen[0] == ("Gamma", "train") and len(seen) == 8


def test_a_comparison_counts_the_entities_of_the_target_alone(
    folder: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    plan = plan_of(folder, tiny_encoder, set=["training.epochs=1"])
    (planned,) = plan_runs(plan, tmp_path, SilentComparison())
    perform(planned, Silent())
    outcome = analyse(planned, heat_map_split="dev")
    assert outcome.counts.sum(0)[0] == _entities(TEST, "Alpha")
    widths = [found.gold for (name, _), found in outcome.buckets.items() if name == "width"]
    assert sum(widths) == _entities(DEV, "Alpha")


def _entities(documents: list[Document], corpus: str) -> int:
    return sum(len(document.entities) for document in documents if document.corpus == corpus)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"train": "train.jsonl"}, FILES_BESIDE),
        ({"documents": {"train": 3}}, FILES_BESIDE),
        ({"format": "jsonl"}, FILES_BESIDE),
        ({"together": None}, "train is missing; expected train, dev and test, or together"),
        ({"together": None, "train": "a", "test": "b"}, "dev is missing; expected train, dev and test"),
        ({"together": "nowhere.toml"}, "nowhere.toml: no such file"),
    ],
    ids=["files beside", "documents beside", "format beside", "nothing", "no dev", "no file"],
)
def test_a_plan_whose_files_contradict_each_other_is_refused(
    folder: Path, tiny_encoder: str, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plan_of(folder, tiny_encoder, **values)
