"""The composed representation is a Linear, an activation and dropout over the concatenated ingredients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from batching import every_span, spans_of
from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.settings.representations import OF_WORDS, ComposedSettings, Ingredient

WIDTH, LIMIT, SIZE = 5, 4, 7
ALL: tuple[Ingredient, ...] = ("first", "last", "max", "mean", "piece-mean", "anchor", "width")
SUBSETS = [
    subset for size in range(1, 8) for subset in combinations(ALL, size) if set(subset) & set(OF_WORDS)
]


def states(counts: Sequence[int], seed: int = 1) -> WordStates:
    generator = torch.Generator().manual_seed(seed)
    start, end, anchor = (
        torch.randn(rows, WIDTH, generator=generator, dtype=torch.float64, requires_grad=True)
        for rows in (sum(counts), sum(counts), len(counts))
    )
    pieces = torch.randn(sum(counts), WIDTH, generator=generator, dtype=torch.float64, requires_grad=True)
    count = torch.randint(1, 4, (sum(counts), 1), generator=generator).double()
    return WordStates(start, end, anchor, piece_mean=pieces, piece_count=count)


def composed(ingredients: Sequence[Ingredient] = ALL, **choices: object) -> Composed:
    torch.manual_seed(0)
    chosen = {"size": SIZE, "width_size": 3, "dropout": 0.0, **choices}
    settings = ComposedSettings.model_validate({"ingredients": ingredients, **chosen})
    return Composed(settings, state_width=WIDTH, width_limit=LIMIT).double()


def side_by_side(part: Composed, words: dict[str, Tensor], width: int) -> Tensor:
    """(evidence size,): the ingredients of one span."""
    words = words if "width" not in part.ingredients else words | {"width": part.widths.weight[width - 1]}
    return torch.cat([words[name] for name in part.ingredients])


def concatenated(part: Composed, words: dict[str, Tensor], width: int) -> Tensor:
    """(size,): the vector of one span from the states of its ingredients."""
    linear: Tensor = part.projection.linear(side_by_side(part, words, width))
    return linear.clamp(min=0) if part.rectify else linear


def naive_evidence(part: Composed, given_states: WordStates, candidates: Spans) -> Tensor:
    """(spans, evidence size): the ingredients of each span, span by span."""
    rows = [torch.zeros(0, part.evidence_size, dtype=torch.float64)]
    columns = (candidates.window.tolist(), candidates.first.tolist(), candidates.last.tolist())
    for window, first, last in zip(*columns, strict=True):
        words = words_of(given_states, window, first, last)
        rows.append(side_by_side(part, words, last - first + 1)[None])
    return torch.cat(rows)


def words_of(given_states: WordStates, window: int, first: int, last: int) -> dict[str, Tensor]:
    inside = given_states.start[first : last + 1]
    return {
        "first": given_states.start[first],
        "last": given_states.end[last],
        "max": inside.max(dim=0).values,
        "mean": inside.mean(dim=0),
        "piece-mean": mean_of_pieces(given_states, first, last),
        "anchor": given_states.anchor[window],
    }


def mean_of_pieces(given_states: WordStates, first: int, last: int) -> Tensor:
    """(width,): each word's mean as often as it has pieces, and then the mean of them all."""
    assert given_states.piece_mean is not None and given_states.piece_count is not None
    pieces = [
        given_states.piece_mean[word]
        for word in range(first, last + 1)
        for _ in range(int(given_states.piece_count[word]))
    ]
    return torch.stack(pieces).mean(dim=0)


def naive_spans(part: Composed, given_states: WordStates, candidates: Spans) -> Tensor:
    linear: Tensor = part.projection.linear(naive_evidence(part, given_states, candidates))
    return linear.clamp(min=0) if part.rectify else linear


def naive_null(part: Composed, given_states: WordStates) -> Tensor:
    return torch.stack([concatenated(part, dict.fromkeys(ALL, row), 1) for row in given_states.anchor])


def gradients(part: Composed, given_states: WordStates, vectors: Tensor) -> tuple[Tensor, ...]:
    """Of a loss in which every number weighs differently, by the parameters and the states."""
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=torch.float64).reshape(vectors.shape)
    leaves = [*part.parameters(), given_states.start, given_states.end, given_states.anchor]
    return torch.autograd.grad((vectors * weights).sum(), leaves, materialize_grads=True)


def assert_equals_naive(part: Composed, given_states: WordStates, candidates: Spans) -> None:
    """Vectors of spans and anchors, and all gradients."""
    made = part(given_states, candidates)
    naive = naive_spans(part, given_states, candidates), naive_null(part, given_states)
    torch.testing.assert_close((made.spans, made.null), naive)
    ours, theirs = (
        gradients(part, given_states, torch.cat(vectors)) for vectors in ((made.spans, made.null), naive)
    )
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("ingredients", SUBSETS, ids="-".join)
def test_any_ingredients_equal_a_naive_loop_over_spans(ingredients: tuple[Ingredient, ...]) -> None:
    counts = (3, 1, 6)
    assert_equals_naive(composed(ingredients), states(counts), spans_of(every_span(counts, LIMIT)))


@st.composite
def ragged(draw: st.DrawFn) -> tuple[list[int], Spans]:
    """Word counts of windows, and some of their spans in any order."""
    counts = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    chosen = st.lists(st.sampled_from(every_span(counts, LIMIT)), unique=True, max_size=20)
    return counts, spans_of(draw(chosen))


@given(ragged(), st.sampled_from(SUBSETS).flatmap(st.permutations))
def test_any_windows_and_spans_equal_a_naive_loop_over_spans(
    drawn: tuple[list[int], Spans], ingredients: list[Ingredient]
) -> None:
    counts, candidates = drawn
    assert_equals_naive(composed(ingredients), states(counts), candidates)


@given(ragged(), st.sampled_from(SUBSETS).flatmap(st.permutations))
def test_evidence_is_the_ingredients_side_by_side(
    drawn: tuple[list[int], Spans], ingredients: list[Ingredient]
) -> None:
    counts, candidates = drawn
    part, given_states = composed(ingredients, dropout=0.5), states(counts)
    made, naive = part.evidence(given_states, candidates), naive_evidence(part, given_states, candidates)
    assert made.shape == (len(candidates), part.evidence_size)
    torch.testing.assert_close(made, naive)
    if len(candidates):
        torch.testing.assert_close(*(gradients(part, given_states, each) for each in (made, naive)))


@pytest.mark.parametrize("counts", [(1,), (5,)], ids=["one word", "several words"])
def test_one_window_equals_a_naive_loop_over_spans(counts: tuple[int, ...]) -> None:
    assert_equals_naive(composed(), states(counts), spans_of(every_span(counts, LIMIT)))


def test_the_widest_span_may_fill_the_whole_batch() -> None:
    assert_equals_naive(composed(), states((LIMIT,)), spans_of([(0, 0, LIMIT - 1)]))


@pytest.mark.parametrize("ingredients", [("first", "last", "width"), ALL], ids="-".join)
def test_no_spans_have_no_vectors_but_anchors_have(ingredients: tuple[Ingredient, ...]) -> None:
    made = composed(ingredients)(states((2, 3)), spans_of([]))
    assert made.spans.shape == (0, SIZE)
    assert made.null.shape == (2, SIZE)


def test_the_order_of_spans_changes_no_vector() -> None:
    part, given_states = composed(), states((4, 3))
    candidates = every_span((4, 3), LIMIT)
    order = torch.randperm(len(candidates), generator=torch.Generator().manual_seed(0)).tolist()
    shuffled = part(given_states, spans_of([candidates[place] for place in order]))
    torch.testing.assert_close(shuffled.spans, part(given_states, spans_of(candidates)).spans[order])


def test_means_of_single_precision_stay_accurate_after_large_states() -> None:
    part = composed(["mean"], activation="none").float()
    large, small = torch.full((400, WIDTH), 1e6), torch.randn(4, WIDTH)
    start = torch.cat([large, small])
    made = part(WordStates(start, start, start[:2]), spans_of([(1, 400, 403)]))
    torch.testing.assert_close(made.spans[0], part.projection.linear(small.mean(dim=0)))


def test_end_terms_are_what_words_add_to_spans() -> None:
    part, given_states = composed(["width", "last", "first"]), states((4,))
    made = part(given_states, spans_of([(0, 1, 2)]))
    width = part.projection.linear.bias + part.projection.linear.weight[:, :3] @ part.widths.weight[1]
    assert made.first.words.shape == made.last.words.shape == (4, SIZE)
    torch.testing.assert_close(made.spans[0], torch.relu(width + made.first.words[1] + made.last.words[2]))


def test_end_terms_are_absent_where_they_are_no_ingredients() -> None:
    made = composed(["mean"])(states((4,)), spans_of([(0, 1, 2)]))
    assert made.first is None and made.last is None


def test_only_max_is_projected_per_span() -> None:
    part, seen = composed(), []
    part.projection.register_forward_pre_hook(lambda _, given: seen.append([len(each) for each in given[0]]))
    candidates = spans_of(every_span((4, 3), LIMIT))
    part(states((4, 3)), candidates)
    rows = {"first": 7, "last": 7, "max": len(candidates), "mean": 7, "piece-mean": 7, "anchor": 2}
    rows["width"] = LIMIT
    assert seen[0] == [rows[name] for name in ALL]


def test_width_embeddings_start_as_small_as_asked() -> None:
    large, small = (
        composed(("first", "width"), width_size=400, width_deviation=size) for size in (1.0, 0.02)
    )
    assert large.widths.weight.std().item() == pytest.approx(1.0, rel=0.1)
    assert small.widths.weight.std().item() == pytest.approx(0.02, rel=0.1)


def test_the_activation_none_keeps_negative_numbers() -> None:
    given_states, candidates = states((4, 3)), spans_of(every_span((4, 3), LIMIT))
    kept, rectified = (composed(activation=name)(given_states, candidates) for name in ("none", "relu"))
    assert (kept.spans < 0).any() and (kept.null < 0).any()
    torch.testing.assert_close(rectified.spans, kept.spans.clamp(min=0))
    torch.testing.assert_close(rectified.null, kept.null.clamp(min=0))


def test_dropout_acts_in_training_only() -> None:
    part = composed(activation="none", dropout=0.5)
    given_states, candidates = states((4, 3, 2)), spans_of(every_span((4, 3, 2), LIMIT))
    dropped: SpanVectors = part(given_states, candidates)
    kept: SpanVectors = part.eval()(given_states, candidates)
    for some, whole in ((dropped.spans, kept.spans), (dropped.null, kept.null)):
        zeros = some == 0
        assert 0 < zeros.sum() < zeros.numel() and not (whole == 0).any()
        torch.testing.assert_close(some[~zeros], 2 * whole[~zeros])
    assert_equals_naive(part, given_states, candidates)


def test_parameters_of_the_default_ingredients_are_named_as_in_saved_models() -> None:
    part = Composed(ComposedSettings(), state_width=WIDTH, width_limit=LIMIT)
    shapes = {name: tuple(parameter.shape) for name, parameter in part.named_parameters()}
    assert shapes == {
        "widths.weight": (LIMIT, 32),
        "projection.linear.weight": (256, 2 * WIDTH + 32),
        "projection.linear.bias": (256,),
    }


def test_without_width_there_is_no_width_embedding() -> None:
    names = [name for name, _ in composed(["first", "mean"]).named_parameters()]
    assert names == ["projection.linear.weight", "projection.linear.bias"]


@pytest.mark.parametrize("ingredients", [(), ("anchor",), ("width", "anchor")])
def test_ingredients_without_words_are_refused(ingredients: tuple[Ingredient, ...]) -> None:
    with pytest.raises(
        ValidationError,
        match=r"say nothing .* at least one of \['first', 'last', 'max', 'mean', 'piece-mean'\]",
    ):
        ComposedSettings(ingredients=ingredients)


def test_repeated_ingredients_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"repeat \['last'\]; expected each ingredient once"):
        ComposedSettings(ingredients=("last", "first", "last"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"ingredients": ["first", "middle"]},
        {"size": 0},
        {"width_size": 0},
        {"activation": "tanh"},
        {"dropout": 1.0},
        {"unknown": 1},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_illegal_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ComposedSettings.model_validate(wrong)
