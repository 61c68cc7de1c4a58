"""The encoder and the span Transformer reproduce the golden numbers of DSpERT, each token being a word."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from batching import batch_of, every_span
from golden.golden_arrays import Arrays, assert_near, load_arrays
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import Encoder, WordStates
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.settings.representations import SpanTransformerSettings


@dataclass(frozen=True)
class Stored:
    """What the name of an array of span vectors says."""

    name: str
    blocks: str
    depth: int
    size: int
    """Words of each of its spans."""


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "dspert_spans.npz")


def stored(arrays: Arrays) -> list[Stored]:
    """All arrays of span vectors."""
    pattern = re.compile(r"span_state_(shared_)?depth(\d+)_size(\d+)")
    matches = filter(None, map(pattern.fullmatch, arrays))
    return [
        Stored(match[0], "shared" if match[1] else "copied", int(match[2]), int(match[3]))
        for match in matches
    ]


def under(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def layers_of(arrays: Arrays) -> int:
    """How many layers the encoder has; its embeddings are a hidden state as well."""
    return len(under(arrays, "hidden_state_")) - 1


@pytest.fixture(scope="module")
def backbone(arrays: Arrays) -> BertModel:
    words, width = arrays["encoder.embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=layers_of(arrays),
        num_attention_heads=int(arrays["num_heads"]),
        intermediate_size=len(arrays["encoder.layer.0.intermediate.dense.bias"]),
        type_vocab_size=len(arrays["encoder.embeddings.token_type_embeddings.weight"]),
        max_position_embeddings=len(arrays["encoder.embeddings.position_embeddings.weight"]),
        layer_norm_eps=float(arrays["layer_norm_eps"]),
    )
    made = BertModel(config, add_pooling_layer=False).eval()
    made.embeddings.load_state_dict(under(arrays, "encoder.embeddings."))
    made.encoder.layer.load_state_dict(under(arrays, "encoder.layer."))
    return made


def batch(arrays: Arrays) -> Batch:
    """The tokens between the special ones, and all spans of them up to the widest that is stored."""
    lengths, total = arrays["sentence_length"].tolist(), arrays["input_ids"].shape[1]
    pieces = [window * total + 1 + token for window, length in enumerate(lengths) for token in range(length)]
    return replace(
        batch_of(lengths, every_span(lengths, max(each.size for each in stored(arrays)))),
        piece_ids=arrays["input_ids"],
        piece_mask=arrays["attention_mask"].bool(),
        first_piece=torch.tensor(pieces),
        last_piece=torch.tensor(pieces),
    )


def states_of(backbone: BertModel, given: Batch, depth: int) -> WordStates:
    states: WordStates = Encoder(backbone, "mean", depth=depth)(given)
    return states


def test_the_states_that_each_block_reads_and_those_at_the_top(arrays: Arrays, backbone: BertModel) -> None:
    """Special tokens are words here, too."""
    real = arrays["attention_mask"].flatten().nonzero().squeeze(1)
    tokens = replace(batch(arrays), first_piece=real, last_piece=real)
    states = states_of(backbone, tokens, layers_of(arrays))
    assert len(states.layers) == layers_of(arrays)
    for layer, found in enumerate((*states.layers, states.start)):
        assert_near(found, arrays[f"hidden_state_{layer}"].flatten(0, 1)[real])


def span_vectors(arrays: Arrays, backbone: BertModel, depth: int, blocks: str) -> Tensor:
    """(spans, width)."""
    settings = SpanTransformerSettings(kind="span-transformer", blocks=blocks, chunk=7)
    width = backbone.config.hidden_size
    part = SpanTransformer(settings, backbone=backbone, depth=depth, state_width=width, width_limit=12)
    if part.blocks.layers is not None:
        layers = layers_of(arrays)
        for own, layer in zip(part.blocks.layers, range(layers - depth, layers), strict=True):
            own.load_state_dict(under(arrays, f"span.layer.{layer}."))
    given = batch(arrays)
    vectors: Tensor = part.eval()(states_of(backbone, given, depth), given.spans).spans
    return vectors


@pytest.mark.parametrize("blocks", ["copied", "shared"])
def test_deep_vectors_of_spans(arrays: Arrays, backbone: BertModel, blocks: str) -> None:
    given_batch = batch(arrays)
    spans, lengths = given_batch.spans, given_batch.word_counts
    start = spans.first - (lengths.cumsum(0) - lengths)[spans.window]
    own = [each for each in stored(arrays) if each.blocks == blocks]
    assert own
    vectors = {depth: span_vectors(arrays, backbone, depth, blocks) for depth in {each.depth for each in own}}
    for each in own:
        chosen = spans.widths == each.size
        assert int(chosen.sum()) == int((lengths - each.size + 1).clamp(min=0).sum())
        expected = arrays[each.name][spans.window[chosen], start[chosen]]
        assert_near(vectors[each.depth][chosen], expected)


def test_spans_of_one_token_are_its_state_at_the_top(arrays: Arrays, backbone: BertModel) -> None:
    given_batch, layers = batch(arrays), layers_of(arrays)
    single = given_batch.spans.widths == 1
    expected = arrays[f"hidden_state_{layers}"].flatten(0, 1)[given_batch.first_piece]
    assert_near(span_vectors(arrays, backbone, layers, "copied")[single], expected)
