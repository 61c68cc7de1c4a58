"""What our own changes to graphs, and our own dropout and attention, are worth: in turns with and without.

    python benchmarks/own_machinery.py runs/plain/model --gold test.tsv --json result.json

Tagging is the whole call, from text to entities, in 8 bits; each variant leaves out one change of the graph,
and `onnxruntime` has onnxruntime's own quantisation instead of ours. Training is a step of the encoder with
stock dropout and attention. Ratios are medians over all rounds; above 1, the change makes things faster.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import nn

from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.parts.encoder import backbone as backbones
from spanwright.predicting.onnx import export as exporting
from spanwright.predicting.onnx.runtimes import tag_in_turns
from spanwright.predicting.tagger import Tagger, load

CHANGES = {
    "heads stay in place": "leave_heads_in_place",
    "first pieces apart": "take_first_pieces_apart",
    "8-bit embeddings": "quantise_tables",
    "8-bit products": "quantise_products",
    "Gelu by tanh": "approximate_activations",
}


def main() -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, help="a trained model directory")
    parser.add_argument("--gold", type=Path, required=True, help="annotated documents")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    documents = list(read(arguments.gold).documents)
    with tempfile.TemporaryDirectory() as folder:
        taggers: dict[Any, Tagger] = {
            name: exported(arguments.model, Path(folder) / name, name) for name in variants()
        }
        found: Any
    times: Any
    found, times = tag_in_turns(taggers, documents, arguments.rounds)
    graphs = {
        name: {
            "times_as_fast_with_it": ratio([each[name] / each["all"] for each in times]),
            "f1": round(100 * evaluate(documents, found[name]).micro.f1, 2),
        }
        for name in taggers
    }
    steps = training_steps(arguments.model, arguments.rounds)
    result = {"command": command(), "machine": machine(), "tagging": graphs, "training": steps}
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def ratio(values: list[float]) -> dict[str, Any]:
    """Median and spread."""
    return {
        "median": round(statistics.median(values), 3),
        "spread": [round(min(values), 3), round(max(values), 3)],
    }


def variants() -> list[str]:
    """All changes; each of them left out; onnxruntime's quantisation of the graph."""
    return ["all", *CHANGES, "onnxruntime"]


def exported(model: Path, out: Path, name: str) -> Tagger:
    """The model in 8 bits, exported without one change."""
    with contextlib.ExitStack() as patches:
        if name in CHANGES:
            patches.enter_context(mock.patch.object(exporting, CHANGES[name], lambda *_: None))
        elif name == "onnxruntime":
            for function in CHANGES.values():
                change = _by_onnxruntime if function == "quantise_products" else lambda *_: None
                patches.enter_context(mock.patch.object(exporting, function, change))
        exporting.export(model, out)
    return load(out, "onnx-int8")


def _by_onnxruntime(model: Any) -> None:
    """Let onnxruntime quantise a graph, as it would by itself."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.onnx", Path(folder) / "after.onnx"
        onnx.save_model(model, before)
        quantize_dynamic(before, after, weight_type=QuantType.QInt8, per_channel=True)
        model.CopyFrom(onnx.load_model(after))


def training_steps(model: Path, rounds: int) -> dict[str, Any]:
    """Steps of the encoder on windows of 32 pieces, with our dropout and attention and with stock ones."""
    encoder: Any = load(model).model.network.encoder.backbone
    config: dict[str, Any] = encoder.config.to_dict() | {
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
    }
    ours = backbones.from_config(config)
    with mock.patch.object(backbones, "_prepared", lambda backbone: backbone):
        stock = backbones.from_config(config)
    no_attention: Any = backbones.from_config(config)
    no_attention.set_attn_implementation("sdpa")
    encoders: dict[str, nn.Module] = {
        "ours": ours,
        "stock attention": no_attention,
        "stock attention and dropout": stock,
    }
    pieces = torch.randint(5, 1000, (16, 32))
    times: list[dict[str, float]] = []
    for _ in range(10 * rounds):
        times.append({name: _timed_step(each, pieces) for name, each in encoders.items()})
    return {name: ratio([each[name] / each["ours"] for each in times[rounds:]]) for name in encoders}


def _timed_step(encoder: nn.Module, pieces: torch.Tensor) -> float:
    encoder.train()
    started = time.perf_counter()
    loss = encoder(input_ids=pieces, attention_mask=torch.ones_like(pieces)).last_hidden_state.square().mean()
    torch.autograd.backward(loss)
    encoder.zero_grad(set_to_none=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
