"""The encoder and the span Transformer reproduce the golden numbers of DSpERT, each token being a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from batching import batch_of
from golden.golden_arrays import Arrays, assert_near, load_arrays
from spanwright.batches.batch import Batch
from spanwright.parts.encoder import Encoder
from spanwright.parts.representations.span_transformer import SpanTransformer, SpanTransformerSettings
from spanwright.parts.states import WordStates

LAYERS, SIZES = 3, (2, 3, 4, 5)


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "dspert_spans.npz")


def under(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


@pytest.fixture(scope="module")
def backbone(arrays: Arrays) -> BertModel:
    words, width = arrays["encoder.embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=LAYERS,
        num_attention_heads=int(arrays["num_heads"]),
        intermediate_size=len(arrays["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(arrays["encoder.embeddings.position_embeddings.weight"]),
        layer_norm_eps=float(arrays["layer_norm_eps"]),
    )
    made = BertModel(config, add_pooling_layer=False).eval()
    made.embeddings.load_state_dict(under(arrays, "encoder.embeddings."), strict=False)
    made.encoder.layer.load_state_dict(under(arrays, "encoder.layer."))
    return made


def batch(arrays: Arrays) -> Batch:
    """The tokens between the special ones, and all spans of one to five of them."""
    lengths, total = arrays["sentence_length"].tolist(), arrays["input_ids"].shape[1]
    spans, pieces, offset = [], [], 0
    for window, length in enumerate(lengths):
        pieces += [window * total + 1 + token for token in range(length)]
        for first in range(length):
            last = range(first, min(first + max(SIZES), length))
            spans += [(window, offset + first, offset + each) for each in last]
        offset += length
    return replace(
        batch_of(lengths, spans),
        piece_ids=arrays["input_ids"],
        piece_mask=arrays["attention_mask"].bool(),
        first_piece=torch.tensor(pieces),
        last_piece=torch.tensor(pieces),
    )


def states_of(arrays: Arrays, backbone: BertModel, depth: int) -> WordStates:
    states: WordStates = Encoder(backbone, "mean", depth=depth)(batch(arrays))
    return states


def test_the_states_that_each_block_reads_and_those_at_the_top(arrays: Arrays, backbone: BertModel) -> None:
    states, given_batch = states_of(arrays, backbone, LAYERS), batch(arrays)
    for layer, found in enumerate((*states.layers, states.start)):
        expected = arrays[f"hidden_state_{layer}"].flatten(0, 1)[given_batch.first_piece]
        assert_near(found, expected)


def span_vectors(arrays: Arrays, backbone: BertModel, depth: int, blocks: str) -> Tensor:
    """(spans, width)."""
    settings = SpanTransformerSettings(kind="span-transformer", blocks=blocks, chunk=7)
    part = SpanTransformer(settings, backbone=backbone, depth=depth, state_width=backbone.config.hidden_size)
    if part.blocks.layers is not None:
        for own, layer in zip(part.blocks.layers, range(LAYERS - depth, LAYERS), strict=True):
            own.load_state_dict(under(arrays, f"span.layer.{layer}."))
    vectors: Tensor = part.eval()(states_of(arrays, backbone, depth), batch(arrays).spans).spans
    return vectors


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "depth", "blocks"),
    [("depth3", 3, "copied"), ("depth2", 2, "copied"), ("shared_depth3", 3, "shared")],
)
def test_deep_vectors_of_spans(
    arrays: Arrays, backbone: BertModel, name: str, depth: int, blocks: str, size: int
) -> None:
    vectors, spans = span_vectors(arrays, backbone, depth, blocks), batch(arrays).spans
    chosen = spans.widths == size
    offsets = torch.tensor([0, int(arrays["sentence_length"][0])])
    window, first = spans.window[chosen], spans.first[chosen]
    expected = arrays[f"span_state_{name}_size{size}"][window, first - offsets[window]]
    assert chosen.any()
    assert_near(vectors[chosen], expected)


def test_spans_of_one_token_are_its_state_at_the_top(arrays: Arrays, backbone: BertModel) -> None:
    given_batch = batch(arrays)
    single = given_batch.spans.widths == 1
    expected = arrays[f"hidden_state_{LAYERS}"].flatten(0, 1)[given_batch.first_piece]
    assert_near(span_vectors(arrays, backbone, 3, "copied")[single], expected)
