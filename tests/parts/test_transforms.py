"""Transforms of span vectors: the BiLSTM over spans of one width, and the feed-forward layer."""

from __future__ import annotations

from collections import defaultdict

import pytest
import torch
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from torch import Tensor

from batching import every_span, spans_of
from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.transforms.bilstm import BiLstm
from spanwright.parts.spans.transforms.feed_forward import FeedForward
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.transforms import BiLstmSettings, FeedForwardSettings

SIZE, HIDDEN, LIMIT = 4, 3, 4


def vectors_of(spans: int, windows: int) -> SpanVectors:
    generator = torch.Generator().manual_seed(1)
    rows, null = (
        torch.randn(count, SIZE, generator=generator, dtype=torch.float64, requires_grad=True)
        for count in (spans, windows)
    )
    return SpanVectors(rows, null, None, None)


def bilstm(dropout: float = 0.0) -> BiLstm:
    torch.manual_seed(0)
    settings = BiLstmSettings(kind="bilstm", hidden=HIDDEN, dropout=dropout)
    return BiLstm(settings, vector_size=SIZE, width_limit=4).double()


def naive(part: BiLstm, vectors: SpanVectors, spans: Spans) -> Tensor:
    """(spans, size): each window and width on its own, through an LSTM without packing."""
    sequences: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    columns = (spans.window.tolist(), spans.widths.tolist(), spans.first.tolist())
    for position, (window, width, first) in enumerate(zip(*columns, strict=True)):
        sequences[window, width].append((first, position))
    rows: dict[int, Tensor] = {}
    for (_, width), members in sequences.items():
        order = [position for _, position in sorted(members)]
        states, _ = (part.single if width == 1 else part.wide)(vectors.spans[order][None])
        rows |= dict(zip(order, states[0], strict=True))
    return torch.stack([rows[position] for position in range(len(spans))])


@st.composite
def ragged(draw: st.DrawFn) -> tuple[list[int], Spans]:
    """Word counts of windows, and all of their spans in any order."""
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return counts, spans_of(draw(st.permutations(every_span(counts, LIMIT))))


@profile(max_examples=25)
@given(ragged())
def test_the_bilstm_equals_a_naive_loop_over_windows_and_widths(drawn: tuple[list[int], Spans]) -> None:
    counts, spans = drawn
    part, vectors = bilstm(), vectors_of(len(spans), len(counts))
    found, expected = part(vectors, spans).spans, naive(part, vectors, spans)
    torch.testing.assert_close(found, expected)
    weights = torch.linspace(-1, 1, found.numel(), dtype=torch.float64).view_as(found)
    ours, theirs = (
        torch.autograd.grad(
            (each * weights).sum(), [vectors.spans, *part.wide.parameters()], materialize_grads=True
        )
        for each in (found, expected)
    )
    torch.testing.assert_close(ours, theirs)


def test_spans_of_another_window_or_width_are_not_seen() -> None:
    part, spans = bilstm(), spans_of(every_span((4, 3), LIMIT))
    vectors = vectors_of(len(spans), 2)
    found = part(vectors, spans).spans
    chosen = int(((spans.window == 0) & (spans.widths == 2)).nonzero()[0])
    (gradient,) = torch.autograd.grad(found[chosen].sum(), vectors.spans)
    seen = (gradient != 0).any(dim=1)
    assert torch.equal(seen, (spans.window == 0) & (spans.widths == 2))


def test_an_anchor_is_a_sequence_of_its_own() -> None:
    part, vectors = bilstm(), vectors_of(0, 2)
    made = part(vectors, spans_of([]))
    assert made.spans.shape == (0, 2 * HIDDEN)
    torch.testing.assert_close(made.null[1], part.single(vectors.null[1][None])[0][0])


def test_forget_gates_start_open_and_other_biases_at_zero() -> None:
    for name, parameter in bilstm().named_parameters():
        if "bias" in name:
            assert parameter.tolist() == [0.0] * HIDDEN + [1.0] * HIDDEN + [0.0] * 2 * HIDDEN


def feed_forward(**choices: object) -> FeedForward:
    torch.manual_seed(0)
    values = {"kind": "feed-forward", "size": 6, "width_size": 2, "input_dropout": 0.0, "dropout": 0.0}
    settings = FeedForwardSettings.model_validate({**values, **choices})
    return FeedForward(settings, vector_size=SIZE, width_limit=LIMIT).double()


def test_the_feed_forward_layer_reads_vectors_and_widths() -> None:
    part, spans = feed_forward(), spans_of(every_span((4,), LIMIT))
    vectors = vectors_of(len(spans), 1)
    made = part(vectors, spans)
    for row, vector, width in zip(made.spans, vectors.spans, spans.widths.tolist(), strict=True):
        torch.testing.assert_close(
            row, part.linear(torch.cat([vector, part.widths.weight[width - 1]])).relu()
        )
    single = part.linear(torch.cat([vectors.null[0], part.widths.weight[0]])).relu()
    torch.testing.assert_close(made.null[0], single)


@pytest.mark.parametrize(
    "part",
    [bilstm(dropout=0.5), feed_forward(dropout=0.5), feed_forward(input_dropout=0.5)],
    ids=["bilstm", "feed-forward", "feed-forward input"],
)
def test_dropout_acts_in_training_only(part: BiLstm | FeedForward) -> None:
    spans = spans_of(every_span((4, 3), LIMIT))
    vectors = vectors_of(len(spans), 2)
    assert not torch.equal(part(vectors, spans).spans, part(vectors, spans).spans)
    part.eval()
    assert torch.equal(part(vectors, spans).spans, part(vectors, spans).spans)


def test_evidence_is_what_comes_before_all_transforms() -> None:
    inner = Composed(ComposedSettings(size=SIZE), state_width=5, width_limit=LIMIT).double()
    made = Transformed(inner, [bilstm()])
    states = WordStates(*(torch.randn(rows, 5, dtype=torch.float64) for rows in (6, 6, 1)))
    spans = spans_of([(0, 0, 2), (0, 3, 3)])
    assert made.evidence_size == inner.evidence_size == 5 + 5 + 32 != made.size
    assert torch.equal(made.evidence(states, spans), inner.evidence(states, spans))
