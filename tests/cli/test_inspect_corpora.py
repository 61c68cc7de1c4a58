"""`spanwright inspect corpora` with a tiny model that was trained on two corpora."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running import Outcome, run

import making
import spanwright
import tiny
from spanwright import artifact
from spanwright.formats.files import write
from spanwright.reporting import read_picture
from spanwright.settings import load_settings
from spanwright.text import Document

SMALL = (
    *making.SMALL,
    "scorer.hidden=[16]",
    "candidates.width_limit=2",
    "auxiliaries.cvae.hidden=16",
    "auxiliaries.cvae.latent=8",
    "auxiliaries.cvae.keep=true",
    "optimiser.learning_rates={encoder=2e-3, head=1e-2, auxiliary=1e-2, condition=1e-1}",
    "objective.weights={conditional=1, conditional-divergence=1}",
    "training.accumulate=1",
    "training.epochs=2",
    "corpora.target=['first']",
    "corpora.map=auto",
)
FILE = """
[corpora.first]
train = "missing.jsonl"
dev = "{folder}/first.jsonl"
test = "{folder}/first.jsonl"

[corpora.second]
train = "missing.jsonl"
dev = "{folder}/second.jsonl"
"""
"""Of the first corpus there are two splits, of the second one; training files are nowhere."""


def documents(count: int, seed: int, corpus: str) -> list[Document]:
    """Documents of a corpus; those of the second have types that rich would take for markup."""
    made = making.of_corpus(making.documents(count, seed=seed), corpus)
    return made if corpus == "first" else [_bracketed(document) for document in made]


def _bracketed(document: Document) -> Document:
    renamed = (replace(entity, type=f"[{entity.type}]") for entity in document.entities)
    return document.with_entities(tuple(renamed))


def of_both(count: int, seed: int) -> list[Document]:
    return [*documents(count, seed, "first"), *documents(count, seed + 1, "second")]


DEV = of_both(4, 2)


@pytest.fixture(scope="module")
def folder(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of corpora, and models with and without conditions, and of one corpus."""
    made = tmp_path_factory.mktemp("corpora")
    for name in ("first", "second"):
        write([document for document in DEV if document.corpus == name], made / f"{name}.jsonl")
    (made / "corpora.toml").write_text(FILE.format(folder=made))
    settings = load_settings("cvae", [f"encoder.name={tiny_encoder}", *SMALL])
    trained = spanwright.train(settings, train=of_both(8, 0), dev=DEV, out=made / "run").model
    artifact.save(trained, made / "kept")
    lost = load_settings("cvae", [*SMALL, "auxiliaries.cvae.keep=false"]).auxiliaries
    bare = replace(trained, settings=trained.settings.model_copy(update={"auxiliaries": lost})).for_use()
    artifact.save(bare, made / "lost")
    artifact.save(tiny.model(), made / "single")
    return made


def inspect(folder: Path, out: Path, *arguments: object, model: str = "kept") -> Outcome:
    return run("inspect", "corpora", folder / model, "--out", out, *arguments)


def numbers(done: Outcome, out: Path) -> dict[str, Any]:
    assert done.code == 0, done.stderr
    found: dict[str, Any] = json.loads((out / "corpora.json").read_text(encoding="utf-8"))
    return found


def cells(table: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    rows = ([cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines())
    return {row[0]: row[1:] for row in rows if row}


def shown(values: Iterable[float | None]) -> list[str]:
    return ["-" if value is None else f"{value:.3f}" for value in values]


def test_conditions_and_entities_are_drawn_and_measured(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "corpora"
    done = inspect(folder, out, "--corpora", folder / "corpora.toml", "--split", "dev", "--spans", 9)
    found = numbers(done, out)
    assert {path.name for path in out.iterdir()} == {"conditions.png", "entities.png", "corpora.json"}
    assert all(read_picture(out / f"{name}.png", "").size[0] > 500 for name in ("conditions", "entities"))
    assert (found["corpora"], found["label_map"]) == (["first", "second"], True)
    assert found["entities"]["count"] == {"first": 9, "second": 9}
    before, after = found["conditions"]["before"], found["conditions"]["after"]
    assert found["conditions"]["labels"] == 6
    assert (before["same"], before["different"]) == (pytest.approx(0.5), 0)
    assert abs(after["same"] - before["same"]) > 0.01
    told = cells(done.stdout)
    columns = (before, after, found["entities"]["cosines"])
    assert told["one shared type, different corpora"] == shown(each["same"] for each in columns)
    assert told["different shared types"] == shown(each["different"] for each in columns)
    assert told["different shared types, different corpora"] == shown(
        each["different_across"] for each in columns
    )
    for name in ("no entity", "Cell", "Gene"):
        assert told[name] == shown(each["by_meaning"].get(name) for each in columns)
    assert "entities: first 9, second 9" in done.stdout


def test_without_a_file_of_corpora_conditions_are_looked_at_alone(folder: Path, tmp_path: Path) -> None:
    done = inspect(folder, tmp_path)
    found = numbers(done, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"conditions.png", "corpora.json"}
    assert found["entities"] is found["gold"] is None
    assert done.stderr == f"written to {tmp_path}: conditions.png, corpora.json\n"


def test_corpora_without_the_split_are_left_out_and_named(folder: Path, tmp_path: Path) -> None:
    done = inspect(folder, tmp_path, "--corpora", folder / "corpora.toml", "--spans", 5)
    found = numbers(done, tmp_path)
    assert "note: without test files, left out: second" in done.stderr
    assert found["gold"] == {"file": str(folder / "corpora.toml"), "split": "test"}
    assert found["entities"]["count"] == {"first": 5, "second": 0}
    assert found["entities"]["cosines"]["same"] is None


def test_a_model_that_kept_no_conditions_shows_entities_and_says_why(folder: Path, tmp_path: Path) -> None:
    call = ("--corpora", folder / "corpora.toml", "--split", "dev", "--spans", 5)
    done = inspect(folder, tmp_path, *call, model="lost")
    assert numbers(done, tmp_path)["conditions"] is None
    assert {path.name for path in tmp_path.iterdir()} == {"entities.png", "corpora.json"}
    assert "note: no conditions are shown: the model has no conditional auto-encoder" in done.stderr
    assert "--set auxiliaries.cvae.keep=true" in done.stderr


def test_a_file_in_the_place_of_the_folder_is_refused(folder: Path) -> None:
    taken = folder / "corpora.toml"
    done = inspect(folder, taken)
    assert done.code == 2
    assert done.error == f"error: {taken}: a file; expected a folder, which is made where there is none"


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        ("single", None, "the model does not tell corpora apart"),
        ("lost", None, "there is nothing to look at: the model has no conditional auto-encoder"),
        ("kept", '[corpora.first]\ntrain = "a.jsonl"\n', "no corpus has dev files; expected a --split that"),
        ("kept", '[corpora.third]\ntrain = "a"\ndev = "{folder}/first.jsonl"\n', "is of the corpus 'third'"),
    ],
    ids=["one corpus", "nothing to look at", "no such split", "unknown corpus"],
)
def test_calls_that_show_nothing_are_refused_and_write_nothing(
    folder: Path, tmp_path: Path, model: str, text: str | None, message: str
) -> None:
    call: tuple[object, ...] = ()
    if text is not None:
        (tmp_path / "other.toml").write_text(text.format(folder=folder))
        call = ("--corpora", tmp_path / "other.toml", "--split", "dev")
    done = inspect(folder, tmp_path / "out", *call, model=model)
    assert done.code == 2
    assert message in done.error
    assert not (tmp_path / "out").exists()
