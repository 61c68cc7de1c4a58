from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, ModernBertConfig, RobertaConfig, RobertaModel

from spanwright.parts.backbone import longest_input

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
