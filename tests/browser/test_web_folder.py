"""A model in the browser answers as in Python, from words to entities, and no text leaves the page."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import making
import naughty
import tiny
from places import ROOT
from spanwright import artifact
from spanwright.batches.pieces import PieceEncoder
from spanwright.cli.main import app
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.predicting.onnx.small_weights import store_in_8_bits
from spanwright.text import Document, split, split_sentences
from spanwright.web.folder import _described, export_web
from spanwright.web.patterns import patterns_script

TAGGING = ROOT / "src" / "spanwright" / "web" / "tagging"
BIOMED = ROOT / "models" / "biomed" / "spanwright_biomed" / "model"
SPAN_TRANSFORMER = {"encoder": {"pooling": "max"}, "representation": {"kind": "span-transformer"}}
PACKAGE = os.environ.get("SPANWRIGHT_ONNXRUNTIME_WEB")
TEXTS = [
    *naughty.NAUGHTY,
    *(document.text for document in making.documents(4)),
    "Fig. 2 shows p53 of E. coli.\nJAK2V617F and Gly104Cys (2.5 mg).\n\nΔ32, TNFα 漢字かな é e\u0301 😀𝒜",
    "The first line of this paragraph is as wide as those of an abstract usually are\nand goes on here.",
]


@contextmanager
def served(folder: Path, handler: type[http.server.SimpleHTTPRequestHandler]) -> Iterator[str]:
    """The address of a web server with a folder."""
    answering = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        return


class _Isolating(_Quiet):
    """Sends the headers with which browsers allow threads."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@pytest.fixture(scope="module")
def scripts(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page that can import the scripts."""
    folder = tmp_path_factory.mktemp("scripts")
    for file in TAGGING.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "patterns.js").write_text(patterns_script(), encoding="utf-8")
    (folder / "index.html").write_text("<!doctype html><title>scripts</title>", encoding="utf-8")
    with served(folder, _Quiet) as address:
        page = browser.new_page()
        page.goto(address)
        yield page
        page.close()


def points(text: str, ranges: list[list[int]]) -> list[tuple[int, int]]:
    """Ranges of UTF-16 units as ranges of characters."""
    units = text.encode("utf-16-le")
    return [
        (len(units[: 2 * start].decode("utf-16-le")), len(units[: 2 * end].decode("utf-16-le")))
        for start, end in ranges
    ]


def test_words_and_sentences_are_those_of_python(scripts: Any) -> None:
    found = scripts.evaluate(
        "async texts => { const { words, sentences } = await import('./words.js');"
        " return texts.map(text => [words(text), sentences(text)]) }",
        TEXTS,
    )
    for text, (words, sentences) in zip(TEXTS, found, strict=True):
        assert points(text, words) == list(split(text))
        assert points(text, sentences) == list(split_sentences(text))


def test_pieces_are_those_of_the_tokenizer(scripts: Any) -> None:
    pieces = PieceEncoder(tiny.tokenizer())
    words = sorted({text[start:end] for text in TEXTS for start, end in split(text)})
    found = scripts.evaluate(
        "async ([tokenizer, unknown, words]) => { const { Pieces } = await import('./pieces.js');"
        " const pieces = new Pieces(tokenizer, { unknown }); return words.map(word => pieces.encode(word)) }",
        [json.loads(pieces.tokenizer.to_str()), pieces.unknown, words],
    )
    assert found == [pieces.encode(word, [(0, len(word))])[0].tolist() for word in words]


def test_weights_are_stored_in_8_bits_and_computed_with_in_floats() -> None:
    onnx = pytest.importorskip("onnx", reason="the extra `export` is not installed")
    onnxruntime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    weight, given = (random.normal(size=(64, 64)).astype(np.float32) for _ in range(2))
    weight[3] = 0
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["given", "weight"], ["found"])],
        "product",
        [onnx.helper.make_tensor_value_info("given", onnx.TensorProto.FLOAT, (64, 64))],
        [onnx.helper.make_tensor_value_info("found", onnx.TensorProto.FLOAT, (64, 64))],
        [onnx.numpy_helper.from_array(weight, "weight")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    before = model.ByteSize()
    store_in_8_bits(model.graph)
    assert model.ByteSize() < before / 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"given": given})
    scale = np.abs(weight).max(axis=1, keepdims=True) / 127
    stored = np.divide(weight, scale, out=np.zeros_like(weight), where=scale > 0).round() * scale
    assert np.abs(found - given @ stored).max() < 1e-4 < np.abs(found - given @ weight).max()


def test_a_model_that_the_scripts_cannot_follow_is_refused(tmp_path: Path) -> None:
    artifact.save(tiny.model(family="byte-level"), tmp_path / "model")
    with pytest.raises(InputError, match="the tokenizer is BPE, None, ByteLevel; in the browser there is"):
        export_web(tmp_path / "model", tmp_path / "web")
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="exists and is no web folder"):
        export_web(tmp_path / "model", tmp_path / "other")


def test_batches_are_smaller_where_heads_are_span_transformers() -> None:
    plain, deep = tiny.model(), tiny.model(**SPAN_TRANSFORMER)
    sizes = [_described(model, "tiny", [])["plan"]["batch_pieces"] for model in (plain, deep)]
    assert sizes[1] < sizes[0]


@pytest.fixture(scope="module")
def package() -> list[str]:
    """The options that lead to onnxruntime-web; none where npm can fetch it."""
    if PACKAGE is None and shutil.which("npm") is None:
        pytest.skip("no npm, and no onnxruntime-web at SPANWRIGHT_ONNXRUNTIME_WEB")
    return ["--onnxruntime-web", PACKAGE] if PACKAGE else []


@contextmanager
def opened(browser: Any, folder: Path, handler: type[_Quiet] = _Quiet) -> Iterator[tuple[Any, list[str]]]:
    """The page of a web folder once its model is there, and what is requested after that."""
    complaints: list[str] = []
    requests: list[str] = []
    with served(folder, handler) as address:
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#model option, #notice:not([hidden])", state="attached", timeout=120_000)
        page.on("request", lambda request: requests.append(request.url))
        yield page, requests
        assert complaints == []
        page.close()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, package: list[str]) -> Path:
    """The web folder of a tiny model, written by the command."""
    folder = tmp_path_factory.mktemp("web")
    artifact.save(tiny.model(), folder / "model")
    done = CliRunner().invoke(app, ["export", str(folder / "model"), "--web", str(folder / "web"), *package])
    assert done.exit_code == 0, done.output
    size = sum(file.stat().st_size for file in (folder / "web").rglob("*") if file.is_file())
    assert f"{size / 1e6:.1f} MB" in done.stderr
    return folder / "web"


def tag(page: Any) -> str:
    """What the page marks in a text, once it is asked by the button."""
    page.fill("#text", "The xvase cell is here.")
    page.click("#tag")
    page.wait_for_selector('#status:text-matches("entit(y|ies)$")')
    return str(page.inner_text("#status"))


@pytest.mark.slow
def test_the_page_tags_and_asks_nobody(browser: Any, web: Path) -> None:
    with opened(browser, web) as (page, requests):
        assert not tag(page).startswith("0 ")
        assert page.workers == []
    assert requests == []


@pytest.mark.slow
@pytest.mark.skipif(os.cpu_count() == 1, reason="there is one core for all threads")
def test_threads_are_used_where_the_server_allows_them(browser: Any, web: Path) -> None:
    with opened(browser, web) as (page, requests):
        alone = tag(page)
    with opened(browser, web, _Isolating) as (page, requests):
        assert tag(page) == alone
        assert page.workers
    assert requests == []


def figures(model: Path, documents: list[Path], folder: Path, *options: str) -> dict[str, Any]:
    """What the benchmark of web folders measures."""
    script = ROOT / "benchmarks" / "web_folder.py"
    command = [sys.executable, script, model, "--documents", *documents, "--json", folder / "figures.json"]
    done = subprocess.run([*map(str, command), *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "figures.json").read_text())
    return found


def check_figures(found: dict[str, Any]) -> None:
    """With the same graphs Python finds the same entities, and nobody is asked after the page is there."""
    same = found["beside_python"]["same graphs"]
    assert same["only_python"] == same["only_browser"] == []
    assert same["same_documents"] == found["documents"] and found["entities"] > 0
    assert same["largest_difference"] <= 1e-4
    assert found["requests_after_loading"] == []
    assert found["bytes"] <= 30_000_000


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"scorer": {"kind": "bi-encoder"}},
        SPAN_TRANSFORMER,
    ],
    ids=["softmax", "bi-encoder", "span-transformer"],
)
def test_the_browser_finds_what_python_finds(
    browser: Any, tmp_path: Path, package: list[str], changes: dict[str, object]
) -> None:
    artifact.save(tiny.model(**changes), tmp_path / "model")
    write([Document(f"text-{number}", text) for number, text in enumerate(TEXTS)], tmp_path / "texts.jsonl")
    check_figures(figures(tmp_path / "model", [tmp_path / "texts.jsonl"], tmp_path, *package))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_200_abstracts_have_the_same_entities_within_a_second_each(
    browser: Any, tmp_path: Path, package: list[str], corpora: Path
) -> None:
    folder = corpora / "ncbi_disease" / "pubtator"
    documents = [folder / name for name in ("NCBItestset_corpus.txt", "NCBIdevelopset_corpus.txt")]
    found = figures(BIOMED, documents, tmp_path, "--corpus", "NCBIdisease", *package)
    check_figures(found)
    assert found["documents"] == 200
    in_floats = found["beside_python"]["onnx"]
    assert len(in_floats["only_python"]) + len(in_floats["only_browser"]) <= 10
    # Not the time that the clock tells, as other work may be done at once.
    assert found["processor_seconds_mean"] <= 1
