"""Shared fixtures: where real corpora are, a browser, and the profiles of property tests."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from places import shared_folder

# Tiny matrices gain nothing from threads, and threads that wait for a busy core make them ten times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

CHROMIUM = Path(os.environ.get("SPANWRIGHT_CHROMIUM", "/usr/bin/chromium"))

# `make test` tries fewer examples of each property than `make test-all`. CI repeats the same ones, so that a
# change is judged by itself; everywhere else new ones are tried.
settings.register_profile(
    "quick",
    deadline=None,
    max_examples=40,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=100)
settings.load_profile("quick")

# What is imported stays: looking through it for garbage again and again takes longer than many a test.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, and no longer among all modules and tests."""
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder with real corpora; tests that need it are skipped where it is absent."""
    folder = shared_folder("SPANWRIGHT_CORPORA", "corpora")
    if not folder.is_dir():
        pytest.skip(f"no corpora at {folder}; set SPANWRIGHT_CORPORA to run this test")
    return folder


@pytest.fixture(scope="session", params=["shared", "second", "smallest", "wrong"])
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with golden numbers: the shared one, skipped where it is absent, or one made by references."""
    if request.param != "shared":
        from golden.making_sets import make_set

        return make_set(request.param, tmp_path_factory.mktemp("golden"))
    folder = shared_folder("SPANWRIGHT_GOLDEN", "golden")
    if not folder.is_dir():
        pytest.skip(f"no golden numbers at {folder}; set SPANWRIGHT_GOLDEN to run this test")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Every golden test must notice wrong numbers: with the set `wrong` it passes by failing."""
    call = getattr(pyfuncitem, "callspec", None)
    if call is None or call.params.get("golden") != "wrong":
        return (yield)
    with pytest.raises(AssertionError):
        yield
    return True


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a tiny randomly initialised encoder and its tokenizer."""
    import tiny

    return str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="session")
def still_encoder(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tiny encoder without dropout: its loss depends on nothing but weights and data."""
    folder = Path(shutil.copytree(tiny_encoder, tmp_path_factory.mktemp("still") / "encoder"))
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, Chromium by way of playwright; tests are skipped with a reason where one is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; install it or set SPANWRIGHT_CHROMIUM")
    with playwright.sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()
