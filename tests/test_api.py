"""The public interface: what the documentation shows is run as it stands, and the import stays light."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import spanwright
from places import ROOT
from spanwright import sample
from spanwright.parts.encoder import pretrained

API = ROOT / "docs" / "api.md"


def examples(page: Path) -> str:
    """The Python of a page; all else is blank, so lines keep their numbers."""
    inside, kept = False, []
    for line in page.read_text(encoding="utf-8").splitlines():
        border = line.startswith("```")
        inside = line == "```python" if border else inside
        kept.append(line if inside and not border else "")
    return "\n".join(kept)


def run(code: str, place: Path) -> None:
    (place / "examples.py").write_text(code, encoding="utf-8")
    runpy.run_path(str(place / "examples.py"))


def names_in(code: str) -> set[str]:
    return set(re.findall(r"\bspanwright\.(\w+)", code))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, tiny_encoder: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files that examples name; a tiny encoder is the default one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pretrained, "default_folder", lambda: tiny_encoder)
    for split, file in sample.files().items():
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        Path(f"{split}.jsonl").write_text("".join(lines[:12]), encoding="utf-8")
    texts = [json.loads(line)["text"] for line in lines[12:16]]
    Path("abstracts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return tmp_path


def test_the_examples_of_the_page_about_the_interface_work(place: Path) -> None:
    run(examples(API), place)
    assert (place / "compared" / "results.md").exists()
    assert (place / "runs" / "student" / "model").is_dir()


def test_the_page_has_an_example_of_every_public_name() -> None:
    shown = names_in(examples(API))
    told = {name for name in spanwright.__all__ if f"`{name}`" in API.read_text(encoding="utf-8")}
    assert shown == told == set(spanwright.__all__)


def test_the_readme_shows_public_names_only() -> None:
    shown = names_in(examples(ROOT / "README.md"))
    assert shown and shown <= set(spanwright.__all__)


def test_public_names_are_listed_before_they_are_loaded() -> None:
    assert set(spanwright.__all__) <= set(dir(spanwright))


def test_the_import_is_quick_and_loads_nothing_else() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import spanwright; "
        "print(time.perf_counter() - start, [name for name in sys.modules if name.startswith('spanwright.') "
        "or name in ('torch', 'numpy', 'pydantic')])"
    )
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds, _, loaded = done.stdout.strip().partition(" ")
    assert loaded == "[]"
    # A tenth of this is more than it takes, but machines may be busy.
    assert float(seconds) < 1
