"""The site: it builds without a warning, asks nobody for anything, and tells every setting and command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import spanwright
from places import ROOT

sys.path.insert(0, str(ROOT / "tools" / "site"))
SOURCE = ROOT / "src" / "spanwright"
PAPERS = ("binder", "dspert", "bundling", "joint-ib", "cvae")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed; install the extra docs")
    out = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join([str(ROOT / "tools" / "site"), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return out


def test_pages_name_nothing_that_a_browser_would_fetch_from_elsewhere(site: Path) -> None:
    fetched = re.compile(
        r'<(?:script|img|iframe|source)[^>]+src="(https?:[^"]+)|<link[^>]+href="(https?:[^"]+)'
    )
    found = {
        f"{page.name}: {match.group(0)}"
        for page in site.rglob("*.html")
        for match in fetched.finditer(page.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_a_browser_asks_nobody_and_finds_what_it_searches(site: Path, browser: Any) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.focus("input[name=query]")
    # What is typed before the search has its index is not looked for.
    ready = "!document.querySelector('.md-search-result__meta').textContent.includes('Initializing')"
    page.wait_for_function(ready, timeout=60_000)
    page.keyboard.type("boundary smoothing")
    page.wait_for_selector(".md-search-result__link", timeout=60_000)
    page.goto((site / "binder.html").as_uri())
    assert page.locator("math").count() >= 3
    assert {url.partition(":")[0] for url in asked} <= {"file", "data", "blob"}
    page.close()


def test_every_setting_is_told_of() -> None:
    pytest.importorskip("griffe", reason="griffe is not installed; install the extra docs")
    import settings_page

    text = settings_page.text()
    for key in ("training.epochs", "encoder.lora.rank", "scorer.smoothing", "auxiliaries.span_vae.latent"):
        assert f"| `{key}` |" in text
    told = [
        line.split(" | ") for line in text.splitlines() if line.startswith("| `") and ".kind`" not in line
    ]
    assert len(told) > 100
    # `name` and the like speak for themselves; nearly all else has a docstring.
    assert sum(len(cells) == 4 and cells[3].strip(" |") == "" for cells in told) < 15


def test_every_command_is_told_of() -> None:
    import commands_page

    text = commands_page.text()
    for heading in ("tag", "train", "corpus convert", "inspect spans", "doctor"):
        assert f"\n## spanwright {heading}\n" in text
    assert "| `--minimum-confidence` NUMBER | Drop entities below this confidence." in text


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_about_a_paper_shows_its_idea_its_equations_and_the_code(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert f"](images/papers/{name}.svg)" in text and "```math" in text and "](claims.md#" in text
    named = re.findall(r"`([\w/]+\.py)(?:: ([\w.]+))?`", text)
    assert len(named) >= 4
    for place, function in named:
        file = next((file for file in (*SOURCE.rglob(place), ROOT / place) if file.is_file()), None)
        assert file is not None, place
        last = function.rpartition(".")[2]
        assert not last or re.search(rf"^\s*(def|class) {last}\b", file.read_text(encoding="utf-8"), re.M), (
            function
        )


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert spanwright.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
