"""The benchmarks run and say what they promise; their figures are not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from spanwright import sample


def _run(script: str, *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
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
