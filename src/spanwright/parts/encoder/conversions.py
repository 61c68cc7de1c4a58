"""From encoders as packages hold them to ordinary Hugging Face folders, and a check of what was written."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import safetensors
from safetensors.numpy import save

from spanwright.errors import InputError, MissingExtraError

_CONFIG = "config.json"
_WEIGHTS = "model.safetensors"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_E5_CONFIG = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "hidden_size": 384,
    "intermediate_size": 1536,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
}
"""Its package has no configuration, but its graph shows these sizes; the rest is as in BERT."""


def write_gte(files: Sequence[Path], out: Path) -> None:
    """From an ONNX file, in a folder beside all else."""
    (graph,) = files
    for name in (_CONFIG, *_TOKENIZER):
        shutil.copyfile(graph.parent.parent / name, out / name)
    _write_weights(graph, out)


def write_e5(files: Sequence[Path], out: Path) -> None:
    """From an archive of an ONNX file and its data. The vocabulary is BERT's, which MiniLM has as well."""
    archive, tokenizer = files
    for name in _TOKENIZER:
        shutil.copyfile(tokenizer.parent / name, out / name)
    (out / _CONFIG).write_text(json.dumps(_E5_CONFIG, indent=2) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=out.parent) as unpacked, tarfile.open(archive) as members:
        for name in ("e5-small.onnx", "e5-small.onnx.data"):
            _save(members.extractfile(name), Path(unpacked) / name)
        _write_weights(Path(unpacked) / "e5-small.onnx", out)


def write_mpnet(files: Sequence[Path], out: Path) -> None:
    """From the slices of a zip file."""
    with tempfile.TemporaryFile(dir=out.parent) as whole:
        for slice_file in files:
            with slice_file.open("rb") as content:
                shutil.copyfileobj(content, whole)
        with zipfile.ZipFile(whole) as members:
            for name in (_CONFIG, _WEIGHTS, *_TOKENIZER):
                _save(members.open(f"all-mpnet-base-v2/{name}"), out / name)


def check_converted_weights(folder: Path, name: str) -> None:
    """Refuse a folder unless it holds all weights of its encoder, in 32 bits and its shape, and no other."""
    needed, stored = _needed(folder), _stored(folder)
    wrong = sorted(key for key in needed.keys() | stored.keys() if needed.get(key) != stored.get(key))
    if wrong:
        key = wrong[0]
        raise InputError(
            f"encoder {name!r}: weight {key!r} is {stored.get(key, 'missing')}, expected "
            f"{needed.get(key, 'no such weight')} ({len(wrong)} of {len(needed | stored)} weights are wrong)"
        )


def _needed(folder: Path) -> dict[str, str]:
    """Type and shape of each weight of an encoder that is configured so."""
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config, trust_remote_code=False)
    return {key: f"F32 {list(value.shape)}" for key, value in model.state_dict().items() if _is_read(key)}


def _stored(folder: Path) -> dict[str, str]:
    with safetensors.safe_open(folder / _WEIGHTS, "numpy") as file:
        slices = {key: file.get_slice(key) for key in file.keys() if _is_read(key)}  # noqa: SIM118
        return {key: f"{found.get_dtype()} {found.get_shape()}" for key, found in slices.items()}


def _is_read(key: str) -> bool:
    """Span models read states, and so no pooler; position ids were only stored by old versions."""
    return not key.startswith("pooler.") and not key.endswith(".position_ids")


def _save(content: IO[bytes] | None, file: Path) -> None:
    if content is None:
        raise tarfile.ReadError(f"{file.name} is not a file")
    with content, file.open("wb") as written:
        shutil.copyfileobj(content, written)


def _write_weights(graph: Path, out: Path) -> None:
    (out / _WEIGHTS).write_bytes(save(read_weights(graph), metadata={"format": "pt"}))


def read_weights(file: Path) -> dict[str, npt.NDArray[np.generic]]:
    """All weights but a pooler's; the matrices of linear maps have shape (outputs, inputs), as in torch.

    Exporters keep the names of weights that they leave as they are. The matrix of a linear map is transposed
    and loses its name on the way: it gets the name of the bias that is added to its product.
    """
    onnx = _imported_onnx()
    graph = _loaded(file, onnx).graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    named = [name for name in constants if _is_weight(name)]
    weights = {name: onnx.numpy_helper.to_array(constants[name]) for name in named}
    for matrix, bias in _linear_maps(graph.node, named):
        if matrix in constants:
            array = onnx.numpy_helper.to_array(constants[matrix])
            weights[bias.removesuffix("bias") + "weight"] = np.ascontiguousarray(array.T)
    return weights


def _linear_maps(nodes: Sequence[Any], named: Collection[str]) -> Iterator[tuple[str, str]]:
    """What each product is multiplied with, and the bias that is added to it."""
    factors = {node.output[0]: node.input[1] for node in nodes if node.op_type == "MatMul"}
    biases = {name for name in named if name.endswith(".bias")}
    for node in nodes:
        if node.op_type == "Add":
            for product, bias in (tuple(node.input), tuple(reversed(node.input))):
                if product in factors and bias in biases:
                    yield factors[product], bias


def _is_weight(name: str) -> bool:
    return name.endswith((".weight", ".bias")) and not name.startswith("pooler.")


def _loaded(file: Path, onnx: Any) -> Any:
    try:
        return onnx.load(str(file))
    except OSError:
        raise
    except Exception as error:  # a stranger's file can be wrong in any way
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{file}: cannot be read as an ONNX file: {reason}") from None


def _imported_onnx() -> Any:
    try:
        import_module("onnx.numpy_helper")
        return import_module("onnx")
    except ImportError:
        raise MissingExtraError("an encoder that comes as an ONNX file", "onnx", "export") from None
