"""`spanwright robustness` with the small trained model of the fixtures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run

import making
from spanwright.formats.files import write
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS

MODEL = Path(__file__).resolve().parent.parent / "fixtures" / "model-format-2"
GOLD = making.documents(6, prefix="test")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("robustness")
    write(GOLD, folder / "gold.jsonl")
    write(making.documents(20), folder / "train.jsonl")
    return folder


def test_all_ten_are_measured_on_the_same_entities(files: Path) -> None:
    done = run("robustness", MODEL, files / "gold.jsonl", "--train", files / "train.jsonl", "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["name"] for row in found["perturbations"]] == list(PERTURBATIONS)
    gold = sum(len(document.entities) for document in GOLD)
    assert {row["counts"]["gold"] for row in found["perturbations"]} == {gold}
    assert found["untouched"]["gold"] == gold
    for row in found["perturbations"]:
        assert row["lost"] == pytest.approx(found["untouched"]["f1"] - row["counts"]["f1"])
    by_name = {row["name"]: row for row in found["perturbations"]}
    assert by_name["upper-case"]["mentions_changed"] == gold
    assert by_name["joined-documents"]["texts_changed"] == 3
    assert by_name["joined-documents"]["mentions_changed"] == 0


def test_the_table_has_a_row_for_the_untouched_texts_and_each_perturbation(files: Path) -> None:
    done = run("robustness", MODEL, files / "gold.jsonl")
    assert done.code == 0, done.stderr
    for name in ("untouched", *PERTURBATIONS):
        assert (name in done.stdout) == (name not in NEED_TRAINING)
    assert "left out for want of training files (--train): seen-mentions" in done.stderr


def test_the_seed_decides_and_only_chooses(files: Path) -> None:
    call = ("robustness", MODEL, files / "gold.jsonl", "--only", "white-space", "--only", "typos", "--json")
    first, again, other = (run(*call, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again
    assert [row["name"] for row in json.loads(first)["perturbations"]] == ["typos", "white-space"]
    assert json.loads(first)["perturbations"] != json.loads(other)["perturbations"]


def test_an_unknown_perturbation_is_refused_before_anything_is_read(files: Path) -> None:
    done = run("robustness", MODEL, files / "missing.jsonl", "--only", "noise")
    assert done.code == 2
    assert done.error == f"error: --only 'noise': expected {', '.join(PERTURBATIONS)}"


def test_swaps_of_mentions_without_training_files_are_refused(files: Path) -> None:
    done = run("robustness", MODEL, files / "gold.jsonl", "--only", "seen-mentions")
    assert done.code == 2
    assert done.error.endswith("mentions come from training files; add --train FILE")
