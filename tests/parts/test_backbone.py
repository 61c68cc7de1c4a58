from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, ModernBertConfig, RobertaConfig, RobertaModel

import tiny
from spanwright.errors import InputError
from spanwright.parts.encoder.backbone import load_pretrained, longest_input

SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}


def test_bert_takes_as_many_pieces_as_it_has_positions() -> None:
    assert longest_input(BertConfig(max_position_embeddings=128)) == 128


def test_roberta_takes_two_pieces_less_than_it_has_positions() -> None:
    config = RobertaConfig(vocab_size=9, max_position_embeddings=34, pad_token_id=1, **SMALL)
    model = RobertaModel(config, add_pooling_layer=False).eval()
    limit = longest_input(config)
    assert limit == 32
    model(input_ids=torch.full((1, limit), 5))
    with pytest.raises((IndexError, RuntimeError)):
        model(input_ids=torch.full((1, limit + 1), 5))


def test_an_encoder_with_relative_positions_keeps_its_own_limit() -> None:
    assert longest_input(ModernBertConfig(max_position_embeddings=8192)) == 8192


def test_an_encoder_without_some_of_its_weights_is_refused(tmp_path: Path) -> None:
    folder = tiny.encoder_folder(tmp_path)
    weights = load_file(folder / "model.safetensors")
    left_out = {key: weights.pop(key) for key in list(weights) if ".layer.1." in key}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert len(left_out) == 16
    with pytest.raises(InputError, match=r"has no weights for 'encoder\.layer\.1\..*' \(16 missing in all\)"):
        load_pretrained(str(folder))


def test_dropout_of_attention_is_set_apart_from_that_of_states(tiny_encoder: str) -> None:
    own, _ = load_pretrained(tiny_encoder)
    backbone, _ = load_pretrained(tiny_encoder, attention_dropout=0.35)
    assert backbone.config.attention_probs_dropout_prob == 0.35
    assert backbone.config.hidden_dropout_prob == own.config.hidden_dropout_prob != 0.35
    assert {layer.attention.self.dropout.p for layer in backbone.encoder.layer} == {0.35}
