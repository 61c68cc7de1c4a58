"""The span Transformer equals the encoder's own blocks run on one span at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import BertConfig, ElectraConfig, MPNetConfig, PreTrainedConfig, RobertaConfig

import tiny
from batching import batch_of, every_span, spans_of
from spanwright import artifact
from spanwright.errors import SettingsError
from spanwright.parts.batch import Spans
from spanwright.parts.encoder.backbone import from_config
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.blocks import checked_depth
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.predicting.tagger import Tagger
from spanwright.settings.representations import SpanTransformerSettings

WIDTH, LIMIT, LAYERS = 8, 4, 3
SIZES = {
    "vocab_size": 12,
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 16,
}
FAMILIES = {"bert": BertConfig, "roberta": RobertaConfig, "electra": ElectraConfig, "mpnet": MPNetConfig}
AGGREGATIONS = ("max", "mean", "multiplicative", "additive")
DSPERT = {
    "encoder": {"pooling": "mean"},
    "representation": {"kind": "span-transformer"},
    "transforms": [{"kind": "bilstm", "hidden": 6}, {"kind": "feed-forward", "size": 10}],
    "scorer": {"kind": "softmax", "smoothing": 0.1},
}


def backbone(family: str = "bert") -> nn.Module:
    torch.manual_seed(0)
    config: PreTrainedConfig = FAMILIES[family](**SIZES)
    made = from_config(config.to_dict()).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.5)
    return made


def part_of(base: nn.Module, depth: int = LAYERS, **choices: object) -> SpanTransformer:
    torch.manual_seed(1)
    chosen = SpanTransformerSettings.model_validate({"kind": "span-transformer", **choices})
    return (
        SpanTransformer(chosen, backbone=base, depth=depth, state_width=WIDTH, width_limit=12).double().eval()
    )


def states_of(counts: Sequence[int], depth: int = LAYERS) -> WordStates:
    generator = torch.Generator().manual_seed(2)
    top, anchor, *layers = (
        torch.randn(rows, WIDTH, generator=generator, dtype=torch.float64, requires_grad=True)
        for rows in (sum(counts), len(counts), *[sum(counts)] * depth)
    )
    return WordStates(top, top, anchor, tuple(layers))


def aggregated(part: SpanTransformer, words: Tensor) -> Tensor:
    """(width,): the words of one span, (words, width), put together as appendix A says."""
    match part.aggregation.kind:
        case "max":
            return words.amax(dim=0)
        case "mean":
            return words.mean(dim=0)
        case _:
            mixed, last = part.aggregation.weigh[0], part.aggregation.weigh[2]
            inner = words @ mixed.weight.T
            inner = inner if mixed.bias is None else inner + mixed.bias
            return (torch.tanh(inner) @ last.weight[0]).softmax(0) @ words


def through(layer: nn.Module, query: Tensor, words: Tensor) -> Tensor:
    """(width,): what the block itself gives for a query that stands before the words but is no key."""
    row = torch.cat([query[None], words])[None]
    mask = torch.zeros(1, 1, row.shape[1], row.shape[1], dtype=row.dtype)
    mask[..., 0] = -torch.inf
    output = layer(row, mask)
    hidden: Tensor = output[0] if isinstance(output, tuple) else output
    return hidden[0, 0]


def naive(part: SpanTransformer, layers: Sequence[nn.Module], states: WordStates, spans: Spans) -> Tensor:
    """(spans, width): span by span, block by block."""
    rows = [torch.zeros(0, WIDTH, dtype=torch.float64)]
    for first, last in zip(spans.first.tolist(), spans.last.tolist(), strict=True):
        if first == last:
            rows.append(states.start[first][None])
            continue
        inside = slice(first, last + 1)
        query = aggregated(part, (states.layers[0] if states.layers else states.start)[inside])
        for layer, words in zip(layers, states.layers, strict=True):
            query = through(layer, query, words[inside])
        rows.append(query[None])
    return torch.cat(rows)


def gradients(part: SpanTransformer, states: WordStates, vectors: Tensor) -> tuple[Tensor, ...]:
    """Of a loss in which every number weighs differently, by the parameters and the states."""
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=torch.float64).reshape(vectors.shape)
    leaves = [*part.parameters(), states.start, *states.layers]
    return torch.autograd.grad((vectors * weights).sum(), leaves, materialize_grads=True)


def assert_equals_naive(part: SpanTransformer, states: WordStates, spans: Spans) -> None:
    """Vectors and all gradients, those of the copied blocks included."""
    made = part(states, spans).spans
    expected = naive(part, part.blocks.layers, states, spans)
    torch.testing.assert_close(made, expected, rtol=1e-9, atol=1e-9)
    ours, theirs = (gradients(part, states, vectors) for vectors in (made, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_ragged_windows_equal_the_blocks_of_each_encoder_run_span_by_span(family: str) -> None:
    counts = (3, 1, 6)
    part = part_of(backbone(family), chunk=5)
    assert_equals_naive(part, states_of(counts), spans_of(every_span(counts, LIMIT)))


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_any_aggregation_and_depth_equals_a_naive_loop(aggregation: str, depth: int) -> None:
    counts = (4, 2)
    part = part_of(backbone(), depth, aggregation=aggregation, chunk=4)
    assert_equals_naive(part, states_of(counts, depth), spans_of(every_span(counts, LIMIT)))


@st.composite
def ragged(draw: st.DrawFn) -> tuple[list[int], Spans]:
    """Word counts of windows, and some of their spans in any order."""
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    chosen = st.lists(st.sampled_from(every_span(counts, LIMIT)), unique=True, min_size=1, max_size=12)
    return counts, spans_of(draw(chosen))


@pytest.mark.parametrize("depth", [0, 2])
def test_evidence_of_some_spans_is_what_they_have_among_all_spans(depth: int) -> None:
    counts, part, every = (4, 1, 5), part_of(backbone(), depth, chunk=4), every_span((4, 1, 5), LIMIT)
    given_states, chosen = states_of(counts, depth), [len(every) - 1, 0, 7, 2, 12]
    found = part.evidence(given_states, spans_of([every[position] for position in chosen]))
    assert found.shape == (5, part.evidence_size)
    torch.testing.assert_close(found, part(given_states, spans_of(every)).spans[chosen])


@pytest.mark.parametrize("chosen", [[], [(0, 2, 2)]], ids=["no span", "one word"])
@pytest.mark.parametrize("depth", [0, 2])
def test_evidence_of_no_span_and_of_single_words_is_theirs(
    depth: int, chosen: list[tuple[int, int, int]]
) -> None:
    given_states = states_of((4,), depth)
    found = part_of(backbone(), depth).evidence(given_states, spans_of(chosen))
    assert torch.equal(found, given_states.start[[first for _, first, _ in chosen]])


@profile(max_examples=15)
@given(ragged(), st.integers(1, 6))
def test_any_spans_in_any_chunks_equal_a_naive_loop(drawn: tuple[list[int], Spans], chunk: int) -> None:
    counts, spans = drawn
    assert_equals_naive(part_of(backbone(), 2, chunk=chunk), states_of(counts, 2), spans)


def test_depth_zero_is_the_maximum_of_the_top_states() -> None:
    states, spans = states_of((5,), 0), spans_of(every_span((5,), LIMIT))
    expected = [states.start[first : last + 1].amax(0) for _, first, last in every_span((5,), LIMIT)]
    torch.testing.assert_close(part_of(backbone(), 0)(states, spans).spans, torch.stack(expected))


@pytest.mark.parametrize("depth", [1, LAYERS])
def test_shared_and_copied_blocks_agree_before_training(depth: int) -> None:
    base, states, spans = backbone(), states_of((5, 3), depth), spans_of(every_span((5, 3), LIMIT))
    copied, shared = (
        part_of(base, depth, blocks=blocks)(states, spans).spans for blocks in ("copied", "shared")
    )
    assert torch.equal(copied, shared)


def test_copied_blocks_learn_apart_from_the_encoder_and_shared_ones_are_its_own() -> None:
    base, states, spans = backbone(), states_of((4,)), spans_of(every_span((4,), LIMIT))
    weight = base.encoder.layer[0].attention.self.value.weight
    for blocks, touched in (("copied", False), ("shared", True)):
        weight.grad = None
        part = part_of(base, blocks=blocks)
        part(states, spans).spans.square().sum().backward()
        assert (weight.grad is not None) == touched
        assert bool(list(part.parameters())) != touched


def test_keys_and_values_are_projected_once_per_word_and_layer() -> None:
    part, rows = part_of(backbone(), chunk=3), []
    for layer in part.blocks.layers:
        for projection in (layer.attention.self.key, layer.attention.self.value):
            projection.register_forward_hook(lambda _, given_, found: rows.append(len(found)))
    part(states_of((6, 2)), spans_of(every_span((6, 2), LIMIT)))
    assert rows == [8] * (2 * LAYERS)


def test_a_window_stands_for_itself_by_the_state_of_its_anchor() -> None:
    states = states_of((3, 2))
    made = part_of(backbone())(states, spans_of([]))
    assert made.spans.shape == (0, WIDTH)
    assert torch.equal(made.null, states.anchor)
    assert made.first is None and made.last is None


def test_dropout_acts_in_training_only() -> None:
    base, states, spans = backbone(), states_of((5,)), spans_of(every_span((5,), LIMIT))
    for layer in base.modules():
        if hasattr(layer, "p"):
            layer.p = 0.0
    base.config = base.config.model_copy(update={"attention_probs_dropout_prob": 0.0})
    still = part_of(base, initial_dropout=0.0).train()
    assert torch.equal(still(states, spans).spans, still(states, spans).spans)
    initial = part_of(base, initial_dropout=0.5).train()
    base.config = base.config.model_copy(update={"attention_probs_dropout_prob": 0.5})
    attending = part_of(base, initial_dropout=0.0).train()
    for part in (initial, attending):
        assert not torch.equal(part(states, spans).spans, part(states, spans).spans)
        assert torch.equal(part.eval()(states, spans).spans, part(states, spans).spans)


def stub(kind: str, layers: int = 6) -> SimpleNamespace:
    return SimpleNamespace(config=SimpleNamespace(model_type=kind, num_hidden_layers=layers))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("deberta-v2", "a span has no single one"),
        ("modernbert", "rotates queries by their position"),
        ("t5", "normalise what they read"),
        ("fnet", "its blocks are not known here"),
    ],
)
def test_encoders_whose_blocks_cannot_take_spans_are_refused(kind: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=rf"'{kind}': .*{reason}.*expected bert, .*roberta"):
        checked_depth("all", stub(kind))
    assert checked_depth(0, stub(kind)) == 0


def test_a_depth_is_at_most_that_of_the_encoder() -> None:
    assert checked_depth("all", stub("bert")) == checked_depth(6, stub("bert")) == 6
    with pytest.raises(SettingsError, match="depth is 7, but the encoder has 6 blocks; expected 0 to 6"):
        checked_depth(7, stub("bert"))


@pytest.mark.parametrize("blocks", ["copied", "shared"])
def test_a_saved_model_finds_the_same_entities(blocks: str, tmp_path: Path) -> None:
    model = tiny.model(**{**DSPERT, "representation": {"kind": "span-transformer", "blocks": blocks}})
    with torch.no_grad():
        model.network.spans.scorer.layers[-1].bias[0] = -1.0
    texts = ["cell ase of a cell", "gene abc in cells , too"]
    artifact.save(model, tmp_path / "model")
    before, after = (list(Tagger(each).tag(texts)) for each in (model, artifact.load(tmp_path / "model")))
    assert sum(len(document.entities) for document in before) > 3
    assert before == after
    stored = model.network.state_dict()
    assert any(".blocks." in name for name in stored) == (blocks == "copied")


def test_copied_blocks_learn_at_the_rate_of_the_encoder() -> None:
    roles = tiny.model(**DSPERT).network.roles()
    of_blocks = {role for role, named in roles.items() for name, _ in named if ".blocks." in name}
    of_transforms = {role for role, named in roles.items() for name, _ in named if ".transforms." in name}
    assert (of_blocks, of_transforms) == ({"encoder"}, {"head"})


def test_the_lowest_states_of_words_are_the_means_of_their_embedded_pieces() -> None:
    encoder = tiny.model(**DSPERT).network.encoder
    batch = replace(
        batch_of([2]),
        piece_ids=torch.tensor([[2, 7, 9, 11, 3]]),
        piece_mask=torch.ones(1, 5, dtype=torch.bool),
        first_piece=torch.tensor([1, 2]),
        last_piece=torch.tensor([1, 3]),
    )
    embedded = encoder.backbone.embeddings(batch.piece_ids)[0]
    expected = torch.stack([embedded[1], embedded[2:4].mean(0)])
    torch.testing.assert_close(encoder(batch).layers[0], expected)
