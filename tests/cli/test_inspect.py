"""`spanwright inspect spans`: pictures and numbers of softmax and bi-encoder models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.corpora.files import write

PICTURES = ("overlaps", "classes", "templates", "projections", "scores")
FILES = {*(f"{name}.png" for name in PICTURES), "figures.json"}
MODELS = {
    "softmax": {},
    "bi-encoder": {"scorer": {"kind": "bi-encoder", "types": "keywords"}},
    "tagger": {
        "scorer": {"kind": "none"},
        "auxiliaries": {"tagger": {}},
        "output": "tags",
        "decoding": "flat",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus and a model of each kind."""
    made = tmp_path_factory.mktemp("inspect")
    write(making.documents(8), made / "gold.jsonl")
    for name, changes in MODELS.items():
        artifact.save(tiny.model(("Cell", "Gene", "$[x]$"), **changes), made / name)
    return made


@pytest.mark.parametrize("name", ["softmax", "bi-encoder"])
def test_pictures_numbers_and_a_table_are_written(name: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "spans"
    done = run("inspect", "spans", folder / name, folder / "gold.jsonl", "--out", out, "--spans", 20)
    assert done.code == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert all((out / f"{each}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for each in PICTURES)
    figures = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    assert (figures["entities"], figures["other_spans"]) == (20, 20)
    assert (figures["scores"]["Gene"]["thresholds"] is None) == (name == "softmax")
    assert (figures["templates"]["against_none"] is None) == (name == "bi-encoder")
    assert "20 entities and 20 other spans" in done.stdout
    assert f"{figures['classes']['within']:.3f}" in done.stdout
    assert "$[x]$: an entity scores above another span" in done.stdout


def test_the_same_seed_gives_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    def figures(seed: int, place: str) -> dict[str, object]:
        call = ("inspect", "spans", folder / "softmax", folder / "gold.jsonl", "--spans", 10, "--seed", seed)
        assert run(*call, "--out", tmp_path / place).code == 0
        found: dict[str, object] = json.loads((tmp_path / place / "figures.json").read_text())
        return found

    first, again, other = figures(1, "a"), figures(1, "b"), figures(2, "c")
    assert first == again
    assert first["classes"] != other["classes"]


def test_a_tagger_has_no_span_vectors(folder: Path, tmp_path: Path) -> None:
    done = run("inspect", "spans", folder / "tagger", folder / "gold.jsonl", "--out", tmp_path / "out")
    assert done.code == 2
    assert "it only tags words" in done.error
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(folder: Path) -> None:
    gold = folder / "gold.jsonl"
    done = run("inspect", "spans", folder / "softmax", gold, "--out", gold)
    assert done.code == 2
    assert done.error == f"error: {gold}: a file; legal is a folder, which is made where there is none"
