"""ONNX files of a model directory: what they are called, why one can be trusted, and how it runs.

A file is checked before onnxruntime sees it. It must stand alone (no weights in other files), use standard
operators only and no loops, and belong to the files and weights beside it. A graph like that computes, and
does nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from spanwright.errors import InputError, MissingExtraError, ModelError
from spanwright.model_files.digests import Digests

Runtime = Literal["torch", "onnx", "onnx-int8"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)
WEIGHTS = "spanwright.weights"
"""Under this name a file says which weights it was made from."""
LARGEST = 2**31 - 1
"""Bytes of a file: the format has no room for more."""
_DOMAINS = ("", "ai.onnx", "com.microsoft")
_HANDLES_LAYER_NORMS_BADLY = ["SkipLayerNormFusion"]
"""On processors, the fused operator took eight times as long as those that it replaces."""


def file_name(part: str, runtime: Runtime) -> str:
    """The file of a part of a network."""
    return f"{part}-int8.onnx" if runtime == "onnx-int8" else f"{part}.onnx"


def check_runtime(name: str) -> Runtime:
    """The runtime of that name; a name that is none is refused."""
    found = next((runtime for runtime in RUNTIMES if runtime == name), None)
    if found is None:
        raise InputError(f"runtime {name!r}: expected {', '.join(RUNTIMES)}")
    return found


def weights_digest(network: nn.Module) -> str:
    """What tells the weights of a network from others."""
    found = hashlib.sha256()
    for name, weight in network.state_dict().items():
        found.update(name.encode())
        found.update(weight.numpy().tobytes())
    return found.hexdigest()


class Graph:
    """An ONNX file, ready to run."""

    def __init__(self, name: str, files: Digests, *, weights: str) -> None:
        """One of the files of a model; `weights` is the digest of the network that the graph is a part of."""
        onnx, onnxruntime = _imported("onnx"), _imported("onnxruntime")
        self._session = _session(files.folder / name, _checked(name, files, weights, onnx), onnxruntime)
        self._names = [entry.name for entry in self._session.get_inputs()]

    def __call__(self, *inputs: Tensor) -> list[Tensor]:
        """Run the graph with its inputs in their order."""
        given = {name: value.numpy() for name, value in zip(self._names, inputs, strict=True)}
        return [torch.from_numpy(found) for found in self._session.run(None, given)]


def _checked(name: str, files: Digests, weights: str, onnx: Any) -> bytes:
    """The bytes of a file that is a graph of these weights."""
    path = files.folder / name
    if not path.is_file() or path.is_symlink():
        raise ModelError(
            f"{path}: missing, or not a plain file. Make the files of this runtime with: "
            f"spanwright export {path.parent} --out NEW_FOLDER"
        )
    content = files.content(name, LARGEST)
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf has a class of its own for this, in a place that changes
        raise ModelError(f"{path}: not an ONNX file: {_first_line(error)}") from None
    _check_model(model, path, onnx)
    if {entry.key: entry.value for entry in model.metadata_props}.get(WEIGHTS) != weights:
        raise ModelError(
            f"{path}: made from other weights than those in model.safetensors. Make it anew with: "
            f"spanwright export {path.parent} --out NEW_FOLDER"
        )
    return content


def _check_model(model: Any, path: Path, onnx: Any) -> None:
    """Refuse graphs that reach for other files, run foreign code or may never end."""
    if model.functions or model.graph.sparse_initializer or model.training_info:
        raise ModelError(f"{path}: has functions, sparse weights or training parts; expected a plain graph")
    for node in model.graph.node:
        if node.domain not in _DOMAINS:
            raise ModelError(f"{path}: operator {node.domain}.{node.op_type}; expected standard operators")
        if any(entry.type not in _numbers_and_names(onnx) for entry in node.attribute):
            raise ModelError(
                f"{path}: {node.op_type} with a graph inside or the like; expected a plain graph"
            )
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in _tensors(model)):
        raise ModelError(f"{path}: has weights in another file; expected a file that stands alone")


def _numbers_and_names(onnx: Any) -> set[int]:
    """Kinds of attributes that are no graphs, and no tensors of a special form."""
    kinds = onnx.AttributeProto
    return {kinds.FLOAT, kinds.FLOATS, kinds.INT, kinds.INTS, kinds.STRING, kinds.STRINGS, kinds.TENSOR}


def _tensors(model: Any) -> Iterator[Any]:
    yield from model.graph.initializer
    for node in model.graph.node:
        for entry in node.attribute:
            yield entry.t


def _session(path: Path, content: bytes, runtime: Any) -> Any:
    """An onnxruntime session with as many threads as torch has."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    # Batches have ever new shapes: a plan for each of them would only cost memory.
    options.enable_mem_pattern = False
    # Between two runs the processor belongs to the parts that torch computes.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        return runtime.InferenceSession(
            content,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=_HANDLES_LAYER_NORMS_BADLY,
        )
    except Exception as error:  # a stranger's graph can be wrong in any way
        raise ModelError(f"{path}: cannot be run: {_first_line(error)}") from None


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError("the runtime 'onnx'", package, "export") from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
