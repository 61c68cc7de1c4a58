"""The folder of a model that tags in the browser: `spanwright export --web`. See docs/web.md.

index.html     the page of the service, with one script more
page/          its other files, as they are
tagging/       what stands in place of the service: scripts, patterns.js, model.json, tokenizer.json, and
               packed with gzip the graphs and onnxruntime-web
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from spanwright.artifact import TrainedModel
from spanwright.errors import InputError, SpanwrightError
from spanwright.formats.io.whole_folders import whole_folder
from spanwright.model_files.folders import model_folder
from spanwright.model_files.stored import digests_of
from spanwright.predicting.onnx.export import (
    check_export_installed,
    exportable_model,
    network_graphs,
    types_graph,
)
from spanwright.predicting.onnx.files import ENCODER, HEAD, TYPES, stored_weights_digest
from spanwright.predicting.onnx.loading import graph_load
from spanwright.predicting.onnx.small_weights import store_in_8_bits
from spanwright.service.models import about_model, served_name
from spanwright.service.page_files import page_files
from spanwright.web.patterns import patterns_script
from spanwright.web.runtime_files import SCRIPT, WASM, runtime_files

_TAGGING = "tagging"
_MODEL = "model.json"
_SCRIPT_LINE = '<script type="module" src="page/page.js"></script>'
_OUR_LINE = '<script type="module" src="tagging/answers.js"></script>'


def export_web(model: str | Path, out: str | Path, *, onnxruntime_web: Path | None = None) -> int:
    """Write a static folder that tags with a model in the browser; how many bytes it has.

    `onnxruntime_web` is the folder of the unpacked npm package; npm fetches it unless given. An older folder
    of that kind is replaced when the new one is complete.
    """
    folder, out = model_folder(model), Path(out)
    if out.exists() and not (out / _TAGGING / _MODEL).is_file():
        raise InputError(f"{out}: exists and is no web folder; expected a new folder, or one to replace")
    check_export_installed()
    loaded = exportable_model(folder)
    _check(loaded)
    runtime = runtime_files(onnxruntime_web)
    graphs = _graphs(loaded, stored_weights_digest(digests_of(folder)))
    contents = dict(_contents(loaded, served_name(folder), graphs, runtime))
    try:
        with whole_folder(out) as partial:
            for name, content in contents.items():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / name).write_bytes(content)
    except OSError as error:
        raise SpanwrightError(f"{out}: the web folder could not be written: {error}") from error
    return sum(map(len, contents.values()))


def _check(model: TrainedModel) -> None:
    """Refuse a model that the scripts cannot follow."""
    if model.settings.output == "tags":
        raise InputError("this model answers with tags of words; in the browser, models answer with spans")
    parts = json.loads(model.pieces.tokenizer.to_str())
    found = [(parts[name] or {}).get("type") for name in ("model", "normalizer", "pre_tokenizer")]
    if found != ["WordPiece", "BertNormalizer", "BertPreTokenizer"]:
        named = ", ".join(str(each) for each in found)
        raise InputError(
            f"the tokenizer is {named}; in the browser there is that of BERT alone: WordPiece, "
            f"BertNormalizer, BertPreTokenizer"
        )


def _graphs(model: TrainedModel, weights: str) -> dict[str, bytes]:
    """The files of all graphs by name, which name the digest of the weights that they were made from."""
    made = {part.name: graph for part, graph in network_graphs(model, weights)}
    found = {name: made[name] for name in (ENCODER, HEAD)}
    for graph in found.values():
        store_in_8_bits(graph.graph)
    if (types := types_graph(model.network, weights)) is not None:
        found[TYPES] = types
    return {name: graph.SerializeToString() for name, graph in found.items()}


def _contents(
    model: TrainedModel, name: str, graphs: dict[str, bytes], runtime: dict[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """All files by their path in the folder."""
    for path, (content, _) in page_files().items():
        yield (path.strip("/"), content) if path != "/" else ("index.html", _with_our_script(content))
    for file in (files("spanwright.web") / "tagging").iterdir():
        if file.name.endswith(".js"):
            yield f"{_TAGGING}/{file.name}", file.read_bytes()
    yield f"{_TAGGING}/patterns.js", patterns_script().encode()
    yield f"{_TAGGING}/{_MODEL}", _json(_described(model, name, list(graphs)))
    tokenizer = json.loads(model.pieces.tokenizer.to_str())
    yield f"{_TAGGING}/tokenizer.json", _json({key: tokenizer[key] for key in ("model", "normalizer")})
    for graph, content in graphs.items():
        yield f"{_TAGGING}/{graph}.onnx.gz", gzip.compress(content, mtime=0)
    yield f"{_TAGGING}/{SCRIPT}", runtime[SCRIPT]
    yield f"{_TAGGING}/ort.wasm.gz", gzip.compress(runtime[WASM], mtime=0)


def _with_our_script(page: bytes) -> bytes:
    """The page with our script before its own, and without the link to the description of the service."""
    text = page.decode()
    if _SCRIPT_LINE not in text:
        raise SpanwrightError(f"the page of the service has no line {_SCRIPT_LINE}")
    text = text.replace(_SCRIPT_LINE, f"{_OUR_LINE}\n{_SCRIPT_LINE}")
    return re.sub(r'\s*<a href="docs">[^<]*</a>', "", text).encode()


def _described(model: TrainedModel, name: str, graphs: list[str]) -> dict[str, Any]:
    """What the scripts have to know of a model."""
    labels, pieces, plan = model.labels, model.pieces, model.plan
    about = about_model(name, model, links=False, default=True).model_dump()
    calibrations: dict[str | None, Any] = {None: model.calibration}
    calibrations |= {corpus: scale.calibration for corpus, scale in model.scales.items()}
    of_corpus = list(calibrations)
    own = [labels.corpora[corpus] if labels.corpora else None for _, corpus in labels.keys]
    load = graph_load(deep_head=model.network.encoder.depth > 0)
    return {
        "about": {**about, "reads_descriptions": False},
        "graphs": graphs,
        "types": labels.types,
        "decoding": model.decoding,
        "unknown": pieces.unknown,
        "calibrations": [each.to_dict() if each else None for each in calibrations.values()],
        "calibration_of_type": [of_corpus.index(name) if name in calibrations else 0 for name in own],
        "plan": {
            "context": plan.context,
            "pieces": plan.pieces,
            "overlap": plan.overlap,
            "width_limit": plan.width_limit,
            "prefix": pieces.prefix,
            "suffix": pieces.suffix,
            "padding": pieces.padding,
            "batch_windows": load.windows,
            "batch_pieces": load.pieces,
            "batch_overhead": load.overhead,
        },
    }


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
