"""Models of other packages: their names are as good as folders, and what is wrong with them is told."""

from __future__ import annotations

import importlib
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import spanwright
import tiny
from cli.running import run
from spanwright import artifact
from spanwright.cli.quickstart import _try_installed
from spanwright.cli.tables.tagging import installed_models_table
from spanwright.errors import ModelError, SpanwrightError
from spanwright.model_files.folders import MODELS, installed_models, model_folder
from spanwright.predicting.jobs.running import Job
from spanwright.predicting.jobs.shards import Reading
from spanwright.predicting.tagging_options import TaggingOptions, load_tagger
from spanwright.service.models import named_paths

TEXT = "The xase cell of ab."
FACTS = {"license": "CC-BY-4.0", "summary": "Finds cells and genes [of] made-up texts"}
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package with a model under a name, and returns the folder of the model."""
    site = tmp_path / "site"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])

    def made(name: str, source: str = "from pathlib import Path\nFOLDER = Path(__file__).parent") -> Path:
        package, info = site / f"{name}_model", site / f"{name}_model-1.0.dist-info"
        artifact.save(replace(tiny.model(), facts=FACTS), package)
        info.mkdir()
        (package / "__init__.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-model\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[spanwright.models]\n{name} = {name}_model:FOLDER\n")
        vars(MODELS).pop("_outside", None)
        vars(MODELS)["_outside"] = {entry: MODELS._outside[entry] for entry in MODELS if entry != "biomed"}
        sys.modules.pop(package.name, None)
        importlib.invalidate_caches()
        return package

    yield made
    vars(MODELS).pop("_outside", None)


def test_a_name_is_taken_wherever_a_folder_is(install: Install, tmp_path: Path) -> None:
    folder = install("cells")
    expected = spanwright.load(folder).tag(TEXT)
    assert expected.entities and spanwright.load("cells").tag(TEXT) == expected
    assert load_tagger(TaggingOptions(model="cells", threads=None)).tag(TEXT) == expected
    assert named_paths(["cells"]) == {"cells": Path("cells")}
    (tmp_path / "one.txt").write_text(TEXT)
    done = run("tag", "cells", "one.txt", "--out", "tag.jsonl")
    assert done.code == 0, done.stderr
    by_name, by_folder = (
        Job(inputs=(), reading=Reading(), tagging=TaggingOptions(model=str(model)))
        for model in ("cells", folder)
    )
    assert by_name.identity() == by_folder.identity()
    done = run("report", "cells", "--gold", "tag.jsonl", "--out", "report.html")
    assert done.code == 0, done.stderr


def test_the_spacy_component_takes_a_name(install: Install) -> None:
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    install("cells")
    nlp = spacy.blank("en")
    nlp.add_pipe("spanwright", config={"model": "cells"})
    assert len(nlp(TEXT).spans["spanwright"]) == len(spanwright.load("cells").tag(TEXT).entities) > 0


def test_quickstart_first_tries_an_installed_model(install: Install) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    folder = install("cells")
    _try_installed(console)
    told = console.export_text()
    assert "What the installed model cells finds" in told and "cystic fibrosis" in told
    shutil.rmtree(folder)
    _try_installed(console)
    assert not console.export_text()


def test_what_is_there_goes_before_a_name(install: Install, tmp_path: Path) -> None:
    installed = install("cells")
    assert model_folder("cells") == installed
    artifact.save(tiny.model(("Drug",)), tmp_path / "cells")
    assert model_folder("cells") == Path("cells")
    assert artifact.load("cells").labels.types == ("Drug",)


def test_a_file_of_that_name_does_not_hide_a_model(install: Install, tmp_path: Path) -> None:
    installed = install("cells")
    (tmp_path / "cells").touch()
    assert model_folder("cells") == installed


def test_installed_models_are_listed_beside_a_folder_of_their_name(install: Install, tmp_path: Path) -> None:
    folder = install("cells")
    (tmp_path / "cells").mkdir()
    assert [each.folder for each in installed_models()] == [folder]
    assert "cells finds" in run("doctor").stdout


def test_an_unknown_name_tells_which_are_installed(install: Install) -> None:
    folder = install("cells")
    with pytest.raises(ModelError, match=r"bioned: .*; installed: cells$"):
        spanwright.load("bioned")
    shutil.rmtree(folder)
    with pytest.raises(ModelError, match=r"bioned: .*; installed: none; `make model` "):
        spanwright.load("bioned")
    with pytest.raises(ModelError, match=r"cells: the package of this model has no weights; `make model` "):
        spanwright.load("cells")
    with pytest.raises(ModelError, match=r"^runs/x/model: no such model directory$"):
        spanwright.load("runs/x/model")


def test_a_misspelt_name_is_told_with_the_right_one_where_a_file_would_do(install: Install) -> None:
    install("cells")
    error = run("report", "cels", "--gold", "gold.jsonl").error
    assert (
        "cels: no such file or folder, and no installed model has this name (did you mean 'cells'?)" in error
    )
    assert run("report", "runs/x", "--gold", "gold.jsonl").error == "error: runs/x: no such file or folder"


def test_a_package_without_its_model_or_without_a_path_is_told(install: Install) -> None:
    (install("empty") / "labels.json").unlink()
    with pytest.raises(ModelError, match=r"empty_model: not a model directory: labels.json is missing"):
        model_folder("empty")
    install("wrong", "FOLDER = 'text'")
    with pytest.raises(SpanwrightError, match=r"'wrong', which the package 'wrong-model' .* expected Path"):
        model_folder("wrong")


def test_installed_models_tell_of_themselves(install: Install) -> None:
    folder = install("cells")
    (found,) = installed_models()
    assert (found.name, found.folder, found.types) == ("cells", folder, ("Cell", "Gene"))
    assert (found.licence, found.about) == (FACTS["license"], FACTS["summary"])
    assert found.size == sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    shown = run("models").stdout
    assert all(text in shown for text in ("cells", "Cell, Gene", FACTS["summary"], "CC-BY-4.0", str(folder)))


def test_the_table_of_models_is_readable_in_fifty_columns(install: Install) -> None:
    install("cells")
    console = Console(width=50, record=True, file=io.StringIO())
    console.print(installed_models_table(list(installed_models())))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 50
    assert "Cell, Gene" in "".join(lines) and "…" not in "".join(lines)


def test_without_a_model_the_list_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(MODELS), "_outside", {})
    assert "`make model`" in run("models").stdout


def test_a_name_is_resolved_without_torch() -> None:
    code = "import sys, spanwright.cli.models as m; m.models_command(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
