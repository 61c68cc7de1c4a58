"""The benchmarks run and say what they promise; their figures are not judged here."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from places import ROOT
from spanwright import sample
from spanwright.formats.files import read


def _run(script: str, *arguments: str, folder: Path | None = None) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_speed_gives_both_ratios(tiny_encoder: str, tmp_path: Path) -> None:
    result = tmp_path / "speed.json"
    encoder = ("--set", f"encoder.name={tiny_encoder}", "--set", "windows.pieces=64")
    _run("speed.py", "plain", *encoder, "--documents", "30", "--repeats", "1", "--json", str(result))
    figures = json.loads(result.read_text())
    assert figures["training_ratio"] > 0 and figures["tagging_ratio"] > 0
    assert figures["machine"]["torch"] and figures["settings"]["name"] == "plain"


def test_accuracy_gives_the_scores_of_every_seed(tiny_encoder: str, tmp_path: Path) -> None:
    result = tmp_path / "accuracy.json"
    files = sample.files()
    splits = [part for name in ("train", "dev", "test") for part in (f"--{name}", str(files[name]))]
    encoder = ("--set", f"encoder.name={tiny_encoder}", "--set", "windows.pieces=64")
    budget = ("--documents", "20", "--epochs", "1", "--seeds", "1", "2")
    _run("accuracy.py", "plain", *splits, *encoder, *budget, "--json", str(result))
    figures = json.loads(result.read_text())
    assert [run["seed"] for run in figures["runs"]] == [1, 2]
    assert figures["mean_test_f1"] == sum(run["test"]["micro"]["f1"] for run in figures["runs"]) / 2


def _curve(seed: int, strategy: str, *scores: float) -> list[dict[str, object]]:
    """The lines of a simulated selection on one corpus, as `selection.py` writes them."""
    place = {"corpus": "ncbi_disease", "seed": seed, "strategy": strategy}
    shares = [round(0.05 * number, 2) for number in range(1, len(scores) + 1)]
    return [
        {**place, "share": share, "words_share": share + 0.1, "f1": f1}
        for share, f1 in zip(shares, scores, strict=True)
    ]


def test_selection_is_reported_as_far_as_it_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "docs/images").mkdir(parents=True)
    page = tmp_path / "docs/annotation.md"
    page.write_text("before\n<!-- selection -->\nold\n<!-- /selection -->\nafter\n")
    lines: list[dict[str, object]] = [{"command": "of the first line"}]
    for seed in (1, 2, 3):
        lines += _curve(seed, "full", 0.8)
        lines += _curve(seed, "uncertainty", 0.4, 0.5, 0.78)
        lines += _curve(seed, "mixed", 0.4, 0.6)
        lines += _curve(seed, "random", *([0.4] * (10 if seed == 1 else 5)), *([] if seed == 1 else [0.76]))
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    _run("selection_report.py", "--json", "lines.jsonl", folder=tmp_path)
    rows = {line.split(" | ")[0]: line for line in page.read_text().splitlines() if line.startswith("| ")}
    assert rows["| uncertainty"].startswith(
        "| uncertainty | 15%, 15%, 15% | –, –, – | 15.0% (3 of 6) | 25.0%"
    )
    # Random needs 55 % (or more), 30 % and 30 %; of the eight ways to flip three signs, one is as good.
    assert "| 23.3% (3 of 6) | 0.125 | 30.0% (3 of 6) | 0.125 |" in rows["| uncertainty"]
    assert rows["| random"].startswith("| random | > 50%, 30%, 30% |")
    assert rows["| mixed"].endswith("| –, –, – | –, –, – | – | – | – | – | 25.0% (3 of 6) | 0.125 |")
    assert "old" not in page.read_text() and page.read_text().endswith("<!-- /selection -->\nafter\n")
    assert (tmp_path / "docs/images/selection.png").stat().st_size > 1000


@pytest.fixture
def selection(monkeypatch: pytest.MonkeyPatch, tiny_encoder: str) -> Any:
    """The simulation of selection, with a tiny encoder and rounds of one epoch."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = importlib.import_module("selection")
    smaller = {"encoder.name": tiny_encoder, "windows.pieces": 64}
    changes = {"SETTINGS": found.SETTINGS | smaller, "EPOCHS": 1, "FEWEST_PASSES": 1, "ROUNDS": 3}
    for name, value in changes.items():
        monkeypatch.setattr(found, name, value)
    return found


def test_selection_goes_on_where_it_was_stopped(selection: Any, tmp_path: Path) -> None:
    documents = [read(file).documents for file in sample.files().values()]
    data = selection.Data("some", *(each[:count] for each, count in zip(documents, (40, 5, 5), strict=True)))
    results = tmp_path / "lines.jsonl"
    simulation = selection.Simulation(data, 1, tmp_path / "models", results)
    simulation._round("uncertainty", 1)
    simulation._round("uncertainty", 2)
    first, second = results.read_text().splitlines()
    results.write_text(first + "\n")  # as if it was stopped after the training of the second round
    simulation.run("uncertainty", goal=2.0)
    lines = list(selection.lines(results, "some", 1, "uncertainty"))
    assert [(line["round"], line["sentences"]) for line in lines] == [(1, 2), (2, 4), (3, 6)]
    same = ("sentences", "words_share", "f1")
    assert [lines[1][key] for key in same] == [json.loads(second)[key] for key in same]
    before = results.read_text()
    simulation.run("uncertainty", goal=2.0)
    assert results.read_text() == before
    assert not (tmp_path / "models" / "uncertainty").exists()
