"""From encoders as packages hold them to ordinary Hugging Face folders, and a check of what was written."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import safetensors
import torch
from safetensors.numpy import save

from spanwright.errors import InputError
from spanwright.parts.encoder.onnx_weights import read_weights

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
