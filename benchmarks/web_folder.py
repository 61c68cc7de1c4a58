"""Whether a web folder answers in a browser as Python does, how large it is, and how long an abstract takes.

    python benchmarks/web_folder.py biomed --documents test.pubtator dev.pubtator --most 200 \
        --corpus NCBIdisease --json result.json

The model is exported with `--web` and opened in headless Chromium, which tags one document after another.
Python tags them with the graphs of the folder themselves, and with each runtime of an export. Needs
playwright, Chromium (SPANWRIGHT_CHROMIUM, unless it is /usr/bin/chromium), and npm or --onnxruntime-web.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from machine import command, machine
from spanwright import artifact
from spanwright.formats.files import read
from spanwright.predicting.onnx.export import export
from spanwright.predicting.onnx.files import ENCODER, HEAD, RUNTIMES, file_name
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document
from spanwright.web.folder import export_web

CHROMIUM = os.environ.get("SPANWRIGHT_CHROMIUM", "/usr/bin/chromium")
READY = "#model option, #notice:not([hidden])"
ASK = """async ([text, corpus]) => {
    const started = performance.now();
    const answer = await fetch("tag", { method: "POST", body: JSON.stringify({ texts: [text], corpus }) });
    return [(await answer.json()).documents[0].entities, (performance.now() - started) / 1000];
}"""
Found = dict[tuple[int, int, str], float]
"""The confidences of a document's entities."""


def main() -> None:
    """Export, tag, compare, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="a trained model directory, or the name of an installed model")
    parser.add_argument("--documents", type=Path, nargs="+", required=True, help="files of documents")
    parser.add_argument("--most", type=int, default=200, help="how many documents, at most")
    parser.add_argument("--corpus", help="of a model of several corpora: answer as this one")
    parser.add_argument("--onnxruntime-web", type=Path, help="the unpacked npm package")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    read_documents = (document for file in arguments.documents for document in read(file))
    documents = list(islice(read_documents, arguments.most))
    result: dict[str, Any] = {"command": command(), "machine": machine()}
    result["documents"] = len(documents)
    with tempfile.TemporaryDirectory() as place:
        web, exported = Path(place) / "web", Path(place) / "exported"
        result["bytes"] = export_web(arguments.model, web, onnxruntime_web=arguments.onnxruntime_web)
        export(arguments.model, exported)
        figures, found = in_browser(web, documents, arguments.corpus)
        result |= {**figures, "entities": sum(map(len, found))}
        result["beside_python"] = dict(beside_python(web, exported, documents, arguments.corpus, found))
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def in_browser(
    web: Path, documents: Sequence[Document], corpus: str | None
) -> tuple[dict[str, Any], list[Found]]:
    """Times and requests of the page of a web folder, and what it finds in each document."""
    requests: list[str] = []
    with served(web) as address, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        started = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(READY, state="attached", timeout=300_000)
        loading = time.perf_counter() - started
        page.on("request", lambda request: requests.append(request.url))
        processor_time = processor_clock(page)
        began = processor_time()
        answers = [page.evaluate(ASK, [document.text, corpus]) for document in documents]
        processor = processor_time() - began
        version = browser.version
        browser.close()
    figures = {
        "chromium": version,
        "seconds_to_load": round(loading, 1),
        "requests_after_loading": requests,
        "seconds": spread([seconds for _, seconds in answers]),
        "processor_seconds_mean": round(processor / len(documents), 3),
    }
    return figures, [
        {(each["start"], each["end"], each["type"]): each["confidence"] for each in entities}
        for entities, _ in answers
    ]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a plain web server with a folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def processor_clock(page: Page) -> Any:
    """A function that tells how many seconds the thread of a page has computed."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")

    return seconds


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and largest."""
    if len(seconds) < 2:
        return {"median": round(seconds[0], 3)}
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {"median": round(cuts[9], 3), "95_percent": round(cuts[18], 3), "largest": round(max(seconds), 3)}


def beside_python(
    web: Path, exported: Path, documents: Sequence[Document], corpus: str | None, found: Sequence[Found]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """How the answers of the page differ from those of Python, by what Python runs."""
    for runtime in RUNTIMES:
        yield runtime, difference(tagged(load(exported, runtime), documents, corpus), found, documents)
    take_graphs(web, exported)
    yield "same graphs", difference(tagged(load(exported, "onnx"), documents, corpus), found, documents)


def take_graphs(web: Path, exported: Path) -> None:
    """Let an exported model have the graphs of a web folder."""
    for part in (ENCODER, HEAD):
        packed = (web / "tagging" / f"{part}.onnx.gz").read_bytes()
        (exported / file_name(part, "onnx")).write_bytes(gzip.decompress(packed))
    artifact.seal(exported)


def tagged(tagger: Tagger, documents: Sequence[Document], corpus: str | None) -> list[Found]:
    """What Python finds in each document by itself, as the page has them."""
    answering = tagger.answering(corpus=corpus)
    return [
        {
            (each.start, each.end, each.type): each.confidence or 0.0
            for each in answering.tag(document.text).entities
        }
        for document in documents
    ]


def difference(
    python: Sequence[Found], browser: Sequence[Found], documents: Sequence[Document]
) -> dict[str, Any]:
    """Documents with the same entities, the largest difference of a confidence, and all that differs."""
    pairs = list(zip(python, browser, strict=True))
    both = [abs(ours[key] - theirs[key]) for ours, theirs in pairs for key in ours.keys() & theirs.keys()]
    return {
        "same_documents": sum(ours.keys() == theirs.keys() for ours, theirs in pairs),
        "largest_difference": round(max(both, default=0.0), 6),
        "only_python": _only(python, browser, documents),
        "only_browser": _only(browser, python, documents),
    }


def _only(ours: Sequence[Found], theirs: Sequence[Found], documents: Sequence[Document]) -> list[str]:
    """The entities that one side alone finds."""
    return [
        f"{document.id}: {start} to {end}, {type_}, {found[start, end, type_]}"
        for document, found, other in zip(documents, ours, theirs, strict=True)
        for start, end, type_ in sorted(found.keys() - other.keys())
    ]


if __name__ == "__main__":
    main()
