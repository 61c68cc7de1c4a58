"""`spanwright inspect spans`: pictures and numbers of models with each kind of scorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.formats.files import write
from spanwright.reporting import read_picture

PICTURES = ("overlaps", "classes", "templates", "projections", "scores")
FILES = {*(f"{name}.png" for name in PICTURES), "figures.json"}
MODELS = {
    "softmax": {},
    "bi-encoder": {"scorer": {"kind": "bi-encoder", "types": "keywords"}},
    "sigmoid": {
        "scorer": {"kind": "sigmoid"},
        "transforms": [{"kind": "bottleneck", "hidden": (12,), "size": 6}],
    },
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


@pytest.mark.parametrize("name", ["softmax", "bi-encoder", "sigmoid"])
def test_pictures_numbers_and_a_table_are_written(name: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "spans"
    done = run("inspect", "spans", folder / name, folder / "gold.jsonl", "--out", out, "--spans", 20)
    assert done.code == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert all((out / f"{each}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for each in PICTURES)
    figures = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    assert (figures["entities"], figures["other_spans"]) == (20, 20)
    assert (figures["scores"]["Gene"]["thresholds"] is None) == (name != "bi-encoder")
    assert (figures["templates"]["against_none"] is None) == (name != "softmax")
    assert list(figures["projections_before"]) == (list(figures["projections"]) if name == "sigmoid" else [])
    assert "20 entities and 20 other spans" in done.stdout
    assert f"{figures['classes']['within']:.3f}" in done.stdout
    assert "$[x]$: an entity scores above another span" in done.stdout


def test_clusters_before_and_after_a_bottleneck_are_told(folder: Path, tmp_path: Path) -> None:
    call = ("inspect", "spans", folder / "sigmoid", folder / "gold.jsonl", "--out", tmp_path, "--spans", 20)
    done = run(*call)
    assert done.code == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    before, after = figures["projections_before"], figures["projections"]
    assert before["vectors"] != after["vectors"]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines()]
    for space in ("vectors", "pca", "t-sne"):
        for stage, found in ((" before transforms", before), (" after transforms", after)):
            silhouette = f"{found[space]['types']['silhouette']:.3f}"
            assert [f"{space}{stage}: silhouette of types", silhouette] in rows
    width, height = read_picture(tmp_path / "projections.png", "").size
    # Two rows of planes, where other models have one.
    assert height > 0.7 * width


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
    assert done.error == f"error: {gold}: a file; expected a folder, which is made where there is none"
