"""Tiny randomly initialised encoders, built in code: quick enough for every test, real in every respect."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, BertConfig, BertModel, PreTrainedConfig

from spanwright import devices
from spanwright.artifact import TrainedModel
from spanwright.batches.pieces import PieceEncoder
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.parts.model import SpanModel
from spanwright.settings import Settings, check

FAMILIES = ("wordpiece", "byte-level", "metaspace")
_LETTERS = string.ascii_lowercase + string.digits + string.punctuation
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tokenizer(family: str = "wordpiece") -> Tokenizer:
    """A tokenizer of one of three families that knows letters and little more."""
    if family == "wordpiece":
        tokens = [*_SPECIAL, *_LETTERS, *(f"##{letter}" for letter in _LETTERS), "cell", "##ase"]
        made = Tokenizer(models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif family == "byte-level":
        tokens = [*_SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
        made = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges=[], unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
    else:
        tokens = [*_SPECIAL, "▁", *string.ascii_letters, *string.digits]
        made = Tokenizer(models.Unigram([(token, -1.0) for token in tokens], unk_id=1))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = [(name, _SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    return made


def backbone(vocabulary: int, seed: int = 0, layers: int = 2) -> BertModel:
    """A BERT of 2 or more layers and width 32."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    return BertModel(config, add_pooling_layer=False)


_SIZES = {
    **dict.fromkeys(("hidden_size", "embedding_size", "dim", "d_model", "n_embd"), 16),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "num_layers"), 3),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads", "num_key_value_heads"), 2),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "n_inner", "d_ff"), 20),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 40),
    **dict.fromkeys(("d_kv", "head_dim"), 8),
    **dict.fromkeys(("bos_token_id", "cls_token_id"), 1),
    **dict.fromkeys(("eos_token_id", "sep_token_id"), 2),
    "local_attention": 4,
    "global_attn_every_n_layers": 2,
    "pad_token_id": 0,
    "vocab_size": 30,
}
"""What configurations call their sizes."""


def backbone_config(kind: str, *, dropout: float | None = None, **changes: object) -> PreTrainedConfig:
    """The configuration of a backbone of any kind, of width 16; `dropout` is that of states and all else."""
    known = AutoConfig.for_model(kind).to_dict()
    values: dict[str, object] = {key: size for key, size in _SIZES.items() if key in known}
    if dropout is not None:
        numbers = [key for key, value in known.items() if "drop" in key and isinstance(value, float | int)]
        values |= dict.fromkeys(numbers, dropout)
    return AutoConfig.for_model(kind, **values, **changes)


def encoder_folder(folder: Path, family: str = "wordpiece", layers: int = 2) -> Path:
    """A folder that `encoder.name` can point to."""
    made = tokenizer(family)
    backbone(made.get_vocab_size(), layers=layers).save_pretrained(folder)
    made.save(str(folder / "tokenizer.json"))
    return folder


def settings(**changes: object) -> Settings:
    """Resolved settings of a small plain model."""
    values: dict[str, object] = {
        "name": "tiny",
        "windows": {"pieces": 48, "overlap": 6},
        "candidates": {"width_limit": 4},
        "representation": {"kind": "composed", "size": 16, "width_size": 4},
        "decoding": "nested",
        "optimiser": {"learning_rates": {"encoder": 1e-3, "head": 1e-2}},
        **changes,
    }
    return check(values, "tiny settings")


def model(
    types: tuple[str, ...] = ("Cell", "Gene"), *, family: str = "wordpiece", seed: int = 0, **changes: object
) -> TrainedModel:
    """An untrained model that predicts plenty of entities: its class weights are large and random."""
    made = tokenizer(family)
    chosen = settings(**changes)
    labels, pieces = LabelSpace(types), PieceEncoder(made)
    network = build(chosen, backbone(made.get_vocab_size(), seed), labels=labels, pieces=pieces)
    return TrainedModel(eager(network, seed).eval(), pieces, labels, chosen)


def eager(network: SpanModel, seed: int = 0) -> SpanModel:
    """The network with large random class weights: untrained, it would find next to nothing."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith(("spans.scorer.layers", "tagger")):
                parameter.normal_(generator=torch.Generator().manual_seed(seed))
    return network


def set_load(monkeypatch: pytest.MonkeyPatch, **changes: int) -> None:
    """Change how much is tagged at once on processors."""
    monkeypatch.setitem(devices._LOADS, "cpu", replace(devices._LOADS["cpu"], **changes))
