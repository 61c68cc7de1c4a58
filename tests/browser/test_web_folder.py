"""A model in the browser answers as in Python, from words to entities, and no text leaves the page."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import making
import naughty
import tiny
from spanwright import artifact
from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.predicting.onnx.export import export
from spanwright.predicting.tagger import load
from spanwright.text import Document, split, split_sentences
from spanwright.web.folder import export_web
from spanwright.web.patterns import patterns_script

TAGGING = Path(__file__).parents[2] / "src" / "spanwright" / "web" / "tagging"
PACKAGE = os.environ.get("SPANWRIGHT_ONNXRUNTIME_WEB")
TEXTS = [
    *naughty.NAUGHTY,
    *(document.text for document in making.documents(4)),
    "Fig. 2 shows p53 of E. coli.\nJAK2V617F and Gly104Cys (2.5 mg).\n\nΔ32, TNFα 漢字かな é e\u0301 😀𝒜",
    "The first line of this paragraph is as wide as those of an abstract usually are\nand goes on here.",
]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a plain web server with a folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="module")
def scripts(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page that can import the scripts."""
    folder = tmp_path_factory.mktemp("scripts")
    for file in TAGGING.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "patterns.js").write_text(patterns_script(), encoding="utf-8")
    (folder / "index.html").write_text("<!doctype html><title>scripts</title>", encoding="utf-8")
    with served(folder) as address:
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


def test_a_model_that_the_scripts_cannot_follow_is_refused(tmp_path: Path) -> None:
    artifact.save(tiny.model(family="byte-level"), tmp_path / "model")
    with pytest.raises(InputError, match="the tokenizer is BPE, None, ByteLevel; in the browser there is"):
        export_web(tmp_path / "model", tmp_path / "web")
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="exists and is no web folder"):
        export_web(tmp_path / "model", tmp_path / "other")


@pytest.fixture(scope="module")
def runtime() -> Path | None:
    """The unpacked package of onnxruntime-web, or None where npm can fetch it."""
    if PACKAGE is None and shutil.which("npm") is None:
        pytest.skip("no npm, and no onnxruntime-web at SPANWRIGHT_ONNXRUNTIME_WEB")
    return Path(PACKAGE) if PACKAGE else None


@contextmanager
def opened(browser: Any, folder: Path) -> Iterator[tuple[Any, list[str]]]:
    """The page of a web folder once its model is there, and what is requested after that."""
    complaints: list[str] = []
    requests: list[str] = []
    with served(folder) as address:
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#model option, #notice:not([hidden])", state="attached", timeout=120_000)
        page.on("request", lambda request: requests.append(request.url))
        yield page, requests
        assert complaints == []
        page.close()


ASK = (
    "async text => { const started = performance.now();"
    " const answer = await fetch('tag', { method: 'POST', body: JSON.stringify({ texts: [text] }) });"
    " return [(await answer.json()).documents[0].entities, performance.now() - started] }"
)


def entities(document: Document) -> list[tuple[int, int, str]]:
    return [(each.start, each.end, each.type) for each in document.entities]


@pytest.mark.slow
def test_the_page_finds_what_python_finds_and_asks_nobody(
    browser: Any, tmp_path: Path, runtime: Path | None
) -> None:
    model = tmp_path / "model"
    artifact.save(tiny.model(), model)
    export_web(model, tmp_path / "web", onnxruntime_web=runtime)
    export(model, tmp_path / "exported")
    tagger = load(tmp_path / "exported", "onnx-int8")
    with opened(browser, tmp_path / "web") as (page, requests):
        page.fill("#text", "The xvase cell is here.")
        page.click("#tag")
        page.wait_for_selector('#status:text-matches("entit(y|ies)$")')
        for text in TEXTS:
            found, _ = page.evaluate(ASK, text)
            assert [(each["start"], each["end"], each["type"]) for each in found] == entities(
                tagger.tag(text)
            )
            assert all(each["text"] == text[each["start"] : each["end"]] for each in found)
    assert requests == []


@pytest.mark.slow
def test_200_abstracts_have_the_same_entities_within_a_second_each(
    browser: Any, tmp_path: Path, runtime: Path | None, corpora: Path
) -> None:
    if "SPANWRIGHT_WEB_MODEL" not in os.environ:
        pytest.skip("no model at SPANWRIGHT_WEB_MODEL; set it to that of a run on NCBI disease")
    model = Path(os.environ["SPANWRIGHT_WEB_MODEL"])
    size = export_web(model, tmp_path / "web", onnxruntime_web=runtime)
    export(model, tmp_path / "exported")
    tagger = load(tmp_path / "exported", "onnx-int8")
    folder = corpora / "ncbi_disease" / "pubtator"
    texts = [
        document.text
        for name in ("NCBItestset_corpus.txt", "NCBIdevelopset_corpus.txt")
        for document in read(folder / name)
    ][:200]
    different, seconds = [], []
    with opened(browser, tmp_path / "web") as (page, requests):
        for text in texts:
            found, milliseconds = page.evaluate(ASK, text)
            seconds.append(milliseconds / 1000)
            if [(each["start"], each["end"], each["type"]) for each in found] != entities(tagger.tag(text)):
                different.append(text[:60])
    assert requests == []
    assert size <= 30_000_000
    assert sorted(seconds)[len(seconds) // 2] <= 1
    assert len(different) <= len(texts) // 50, different
