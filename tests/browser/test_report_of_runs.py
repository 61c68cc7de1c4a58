"""Reports of real runs: the real encoder, trained for a moment on real corpora, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser.pages import count, opened, undrawn
from cli.running import run
from spanwright.formats.files import read, write

pytestmark = pytest.mark.slow

SPLITS = {"train": 120, "dev": 60, "test": 60}
NCBI = {"train": "train.tsv", "dev": "devel.tsv", "test": "test.tsv"}
QUICK = ("--set", "training.epochs=2", "--set", "training.batch_windows=8")


def trained(recipe: str, files: dict[str, Path], folder: Path) -> str:
    """The folder of a short run on the first sentences of each file."""
    arguments: list[str] = []
    for split, documents in SPLITS.items():
        small = folder.parent / f"{folder.name}-{split}.jsonl"
        write(read(files[split]).documents[:documents], small)
        arguments += [f"--{split}", str(small)]
    outcome = run("train", recipe, *arguments, "--out", folder, *QUICK)
    assert outcome.code == 0, outcome.stderr
    return str(folder)


def report(runs: list[str], gold: Path, out: Path) -> Path:
    small = out.with_suffix(".jsonl")
    write(read(gold).documents[: SPLITS["test"]], small)
    outcome = run("report", *runs, "--gold", small, "--out", out)
    assert outcome.code == 0, outcome.stderr
    return out


def check_page(browser: Any, file: Path, systems: int) -> None:
    for page in opened(browser, file):
        assert page.locator("svg.chart").count() >= 10
        assert undrawn(page) == []
        assert page.locator("#filter-system option").count() == systems + 1
        _, mistakes = count(page)
        page.select_option("#filter-kind", label="missed")
        assert 0 < count(page)[1] < mistakes


def test_two_recipes_on_ncbi_disease(browser: Any, corpora: Path, tmp_path: Path) -> None:
    files = {split: corpora / "ncbi_disease" / "iob" / name for split, name in NCBI.items()}
    runs = [trained(recipe, files, tmp_path / recipe) for recipe in ("plain", "binder")]
    check_page(browser, report(runs, files["test"], tmp_path / "report.html"), systems=2)


def test_one_recipe_on_genia(browser: Any, corpora: Path, tmp_path: Path) -> None:
    files = {split: corpora / "genia" / "jsonl" / f"{split}.jsonl" for split in SPLITS}
    runs = [trained("plain", files, tmp_path / "plain")]
    check_page(browser, report(runs, files["test"], tmp_path / "report.html"), systems=1)
