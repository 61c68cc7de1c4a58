"""ONNX files of a model directory: what they are called, why one can be trusted, and how it runs.

A file is checked before onnxruntime sees it. It must stand alone (no weights in other files), use standard
operators only and no loops, and belong to the files and weights beside it. A graph like that computes, and
does nothing else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from spanwright.batches.batch import Array
from spanwright.errors import InputError, ModelError, SpanwrightError
from spanwright.model_files import digests
from spanwright.model_files.digests import Digests
from spanwright.predicting.onnx.wire import metadata_of

Runtime = Literal["torch", "onnx", "onnx-int8"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)
ENCODER, HEAD, TYPES, DESCRIPTIONS = "encoder", "head", "types", "descriptions"
"""The parts of a network that are graphs; docs/export.md tells what each reads and gives."""
WEIGHTS = "spanwright.weights"
"""Under this name a file says which weights it was made from."""
LARGEST = 2**31 - 1
"""Bytes of a file: the format has no room for more."""
_HANDLES_LAYER_NORMS_BADLY = ["SkipLayerNormFusion"]
"""On processors, the fused operator took eight times as long as those that it replaces."""


def file_name(part: str, runtime: Runtime) -> str:
    """The file of a part of a network."""
    return f"{part}-int8.onnx" if runtime == "onnx-int8" else f"{part}.onnx"


def graph_file(folder: Path, part: str, runtime: Runtime) -> str:
    """The file of a part that a runtime uses: heads in floats also serve 8 bits where they cost little."""
    name = file_name(part, runtime)
    return name if (folder / name).exists() or part == ENCODER else file_name(part, "onnx")


def check_runtime(name: str) -> Runtime:
    """The runtime of that name; a name that is none is refused."""
    found = next((runtime for runtime in RUNTIMES if runtime == name), None)
    if found is None:
        raise InputError(f"runtime {name!r}: expected {', '.join(RUNTIMES)}")
    return found


def stored_weights_digest(files: Digests) -> str:
    """The digest of the weights beside the graphs, which need not be read where the description tells it."""
    if files.by_name is not None:
        return files.by_name.get(digests.WEIGHTS, "")
    with (files.folder / digests.WEIGHTS).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


class Graph:
    """An ONNX file, ready to run."""

    def __init__(
        self, name: str, files: Digests, *, weights: Collection[str], threads: int | None = None
    ) -> None:
        """One of the files of a model. `weights` are digests of the weights that it may have been made from,
        threads as many as there are cores unless told."""
        self._path = files.folder / name
        self._session = _session(self._path, _checked(name, files, weights), threads or usual_threads())
        self.inputs = tuple(entry.name for entry in self._session.get_inputs())
        self.outputs = tuple(entry.name for entry in self._session.get_outputs())

    def __call__(self, given: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; of what is given, the graph reads its inputs."""
        try:
            found = self._session.run(None, {name: given[name] for name in self.inputs})
        except Exception as error:  # onnxruntime has classes of its own, without a common one
            raise SpanwrightError(f"{self._path}: could not be run: {_first_line(error)}") from error
        return dict(zip(self.outputs, found, strict=True))


def _checked(name: str, files: Digests, weights: Collection[str]) -> bytes:
    """The bytes of a file that is a graph of these weights."""
    path = files.folder / name
    if not path.is_file() or path.is_symlink():
        raise ModelError(
            f"{path}: missing, or not a plain file. Make the files of this runtime with: "
            f"spanwright export {path.parent} --out NEW_FOLDER"
        )
    content = files.content(name, LARGEST)
    if metadata_of(content, path).get(WEIGHTS) not in weights:
        raise ModelError(
            f"{path}: made from other weights than those in model.safetensors. Make it again with: "
            f"spanwright export {path.parent} --out NEW_FOLDER"
        )
    return content


def _session(path: Path, content: bytes, threads: int) -> Any:
    """An onnxruntime session."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    # Batches have ever new shapes: a plan for each of them would only cost memory.
    options.enable_mem_pattern = False
    # Between two runs the processor belongs to whatever comes next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        return onnxruntime.InferenceSession(
            content,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=_HANDLES_LAYER_NORMS_BADLY,
        )
    except Exception as error:  # a stranger's graph can be wrong in any way
        raise ModelError(f"{path}: cannot be run: {_first_line(error)}") from None


def usual_threads() -> int:
    """As many as this process may use, or as its environment says, as torch would have it."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(wished) if wished.isdecimal() and int(wished) > 0 else cores or 1


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
