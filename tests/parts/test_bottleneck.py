"""The information bottleneck: distributions of spans, vectors drawn from them and their divergences."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

from batching import batch_of, every_span, spans_of
from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.transforms.bottleneck import Bottleneck, divergence, draw
from spanwright.settings.scorers import SigmoidSettings
from spanwright.settings.transforms import BottleneckSettings

READ, HIDDEN, SIZE, TYPES = 4, 6, 3, 2
SPANS = spans_of(every_span((4, 3), 3))
NOTHING = torch.zeros(0, READ, dtype=torch.float64)


def part_of(**choices: object) -> Bottleneck:
    torch.manual_seed(0)
    values = {"kind": "bottleneck", "hidden": (HIDDEN,), "size": SIZE, **choices}
    return Bottleneck(BottleneckSettings.model_validate(values), vector_size=READ).double()


def random(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def vectors_of(spans: Spans = SPANS, windows: int = 2) -> SpanVectors:
    return SpanVectors(random(len(spans), READ).requires_grad_(), random(windows, READ, seed=2), None, None)


def distributions(part: Bottleneck, vectors: SpanVectors) -> Normal:
    """(spans, size): the distributions of spans, by the formulas of the paper and the released code."""
    inner = vectors.spans
    for layer in part.layers:
        if isinstance(layer, nn.Linear):
            inner = (inner @ layer.weight.T + layer.bias).clamp(min=0)
    mean, deviation = (inner @ layer.weight.T + layer.bias for layer in (part.mean, part.deviation))
    return Normal(mean, (1 + deviation.exp()).log())


def naive_divergence(part: Bottleneck, vectors: SpanVectors) -> Tensor:
    prior = Normal(part.prior_mean, (1 + part.prior_deviation.exp()).log())
    return kl_divergence(distributions(part, vectors), prior).sum(1)


deviations = st.floats(1e-6, 1e3)
normals = st.tuples(st.floats(-100, 100), deviations)


@given(st.lists(st.tuples(normals, normals), min_size=1, max_size=5))
def test_the_divergence_is_that_of_normal_distributions(
    pairs: list[tuple[tuple[float, float], tuple[float, float]]],
) -> None:
    (mean, deviation), (prior_mean, prior_deviation) = torch.tensor(pairs, dtype=torch.float64).movedim(0, 2)
    found = divergence(mean[None], deviation[None], prior_mean, prior_deviation)
    expected = kl_divergence(Normal(mean, deviation), Normal(prior_mean, prior_deviation)).sum()
    torch.testing.assert_close(found, expected[None], rtol=1e-9, atol=1e-9)


@given(st.lists(normals, min_size=1, max_size=5))
def test_the_divergence_of_the_prior_from_itself_is_zero(pairs: list[tuple[float, float]]) -> None:
    mean, deviation = torch.tensor(pairs).unbind(1)
    assert divergence(mean[None], deviation[None], mean, deviation).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("spans", [0, 1, 5])
def test_gradients_of_the_divergence_are_those_of_finite_differences(spans: int) -> None:
    means = random(spans, SIZE), random(SIZE, seed=3)
    spread = random(spans, SIZE, seed=2).exp(), random(SIZE, seed=4).exp()
    leaves = [each.requires_grad_() for each in (means[0], spread[0], means[1], spread[1])]
    assert torch.autograd.gradcheck(divergence, leaves)


def test_a_deviation_of_zero_learns_to_grow() -> None:
    deviation = torch.zeros(1, SIZE, requires_grad=True)
    found = divergence(torch.zeros(1, SIZE), deviation, torch.zeros(SIZE), torch.ones(SIZE))
    (gradient,) = torch.autograd.grad(found.sum(), deviation)
    assert (gradient < 0).all()


def test_deviations_of_zero_have_finite_divergences_and_gradients() -> None:
    values = [torch.zeros(2, SIZE), torch.zeros(2, SIZE), torch.ones(SIZE), torch.zeros(SIZE)]
    leaves = [value.requires_grad_() for value in values]
    found = divergence(*leaves)
    assert found.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(found.sum(), leaves))


@pytest.mark.parametrize("hidden", [(), (HIDDEN,), (HIDDEN, 5)], ids=str)
def test_means_deviations_and_divergences_of_spans(hidden: tuple[int, ...]) -> None:
    part, vectors = part_of(hidden=hidden, samples=1), vectors_of()
    made, expected = part(vectors, SPANS), distributions(part, vectors)
    torch.testing.assert_close(made.spans, expected.mean)
    torch.testing.assert_close(made.divergence, naive_divergence(part, vectors))


def test_divergences_from_the_standard_prior() -> None:
    part, vectors = part_of(prior="standard"), vectors_of()
    expected = kl_divergence(distributions(part, vectors), Normal(0.0, 1.0)).sum(1)
    torch.testing.assert_close(part(vectors, SPANS).divergence, expected)
    assert not [name for name, _ in part.named_parameters() if "prior" in name]


def test_gradients_of_divergences_reach_the_spans_the_layers_and_the_learned_prior() -> None:
    part, vectors = part_of(), vectors_of()
    leaves = [vectors.spans, *part.parameters()]
    weights = torch.linspace(-1, 1, len(SPANS), dtype=torch.float64)
    ours, theirs = (
        torch.autograd.grad((each * weights).sum(), leaves)
        for each in (part(vectors, SPANS).divergence, naive_divergence(part, vectors))
    )
    assert all(gradient.any() for gradient in ours)
    torch.testing.assert_close(ours, theirs)


def test_vectors_are_drawn_by_moving_the_mean() -> None:
    mean, deviation, noise = random(7, SIZE), random(7, SIZE, seed=2).exp(), random(4, 7, SIZE, seed=3)
    found = draw(mean, deviation, noise)
    for sample, own in zip(found, noise, strict=True):
        torch.testing.assert_close(sample, mean + deviation * own)


def test_drawn_vectors_pass_gradients_to_means_and_deviations() -> None:
    mean, deviation = random(7, SIZE).requires_grad_(), random(7, SIZE, seed=2).exp().requires_grad_()
    noise, weights = random(4, 7, SIZE, seed=3), random(4, 7, SIZE, seed=4)
    of_mean, of_deviation = torch.autograd.grad(
        (draw(mean, deviation, noise) * weights).sum(), [mean, deviation]
    )
    torch.testing.assert_close(of_mean, weights.sum(0))
    torch.testing.assert_close(of_deviation, (weights * noise).sum(0))


def test_many_drawn_vectors_are_distributed_as_they_should_be() -> None:
    count = 20_000
    part, vectors = part_of(samples=count), vectors_of(spans_of(every_span((2,), 2)), 1)
    torch.manual_seed(7)
    with torch.no_grad():
        expected = distributions(part, vectors)
        samples = part(vectors, spans_of(every_span((2,), 2))).samples
    share = expected.cdf(samples)  # uniform from 0 to 1
    for limit in (0.05, 0.25, 0.5, 0.75, 0.95):
        error = 5 * (limit * (1 - limit) / count) ** 0.5
        assert ((share < limit).double().mean(0) - limit).abs().max() < error
    # Neither dimensions nor spans know of each other.
    correlation = torch.corrcoef(samples.reshape(count, -1).T) - torch.eye(3 * SIZE)
    assert correlation.abs().max() < 5 / count**0.5


def test_every_draw_is_another_one() -> None:
    part, vectors = part_of(samples=2), vectors_of()
    one, other = (part(vectors, SPANS).samples for _ in range(2))
    assert one.shape == (2, len(SPANS), SIZE)
    assert not torch.isclose(one, other).any() and not torch.isclose(one[0], one[1]).any()


def plain(part: Bottleneck, scorer: Sigmoid) -> nn.Sequential:
    """An MLP of the same weights, which knows nothing of distributions."""
    return nn.Sequential(part.layers[0], nn.ReLU(), part.mean, scorer.layers[-1])


@pytest.mark.parametrize("samples", [0, 3])
def test_without_deviations_and_compression_it_is_an_mlp(samples: int) -> None:
    part = part_of(samples=samples)
    nn.init.constant_(part.deviation.bias, -1e4)
    scorer = Sigmoid(SigmoidSettings(kind="sigmoid"), vector_size=SIZE, sizes=(TYPES,)).double()
    batch = batch_of((4, 3), every_span((4, 3), 3), [(0, 1), (3, 0), (3, 1)])
    vectors = vectors_of()
    made = part(vectors, batch.spans)
    states = WordStates(NOTHING, NOTHING, NOTHING)
    drawn = made.spans[None] if made.samples is None else made.samples
    assert len(drawn) == max(1, samples)
    expected = plain(part, scorer)(vectors.spans)
    leaves = [vectors.spans, *plain(part, scorer).parameters()]
    target = torch.autograd.grad(scorer.losses(expected, batch)["spans"], leaves)
    for sample in drawn:
        logits = scorer(SpanVectors(sample, made.null, None, None), states, batch)
        torch.testing.assert_close(logits, expected)
        loss = scorer.losses(logits, batch)["spans"]
        torch.testing.assert_close(torch.autograd.grad(loss, leaves, retain_graph=True), target)


def test_with_no_samples_the_mean_has_a_divergence_all_the_same() -> None:
    part, vectors = part_of(samples=0), vectors_of()
    made = part(vectors, SPANS)
    assert made.samples is None
    torch.testing.assert_close(made.divergence, naive_divergence(part, vectors))


def test_outside_training_there_are_means_only_and_no_deviations_are_computed() -> None:
    part, vectors = part_of().eval(), vectors_of()
    calls: list[object] = []
    part.deviation.register_forward_hook(lambda *given_: calls.append(given_))
    one, other = (part(vectors, SPANS) for _ in range(2))
    assert torch.equal(one.spans, other.spans) and calls == []
    assert one.samples is None and one.divergence is None
    part.train()
    assert torch.equal(part(vectors, SPANS).spans, one.spans) and len(calls) == 1


def test_an_anchor_is_its_mean() -> None:
    part, vectors = part_of(), vectors_of()
    expected = distributions(part, SpanVectors(vectors.null, NOTHING, None, None)).mean
    made = part(vectors, SPANS)
    torch.testing.assert_close(made.null, expected)
    assert made.first is None and made.last is None


def test_no_spans_have_no_vectors() -> None:
    part, empty = part_of(), spans_of([])
    made = part(vectors_of(empty), empty)
    assert made.spans.shape == (0, SIZE) and made.null.shape == (2, SIZE)
    assert made.samples.shape == (5, 0, SIZE) and made.divergence.shape == (0,)
    assert part.eval()(vectors_of(empty), empty).spans.shape == (0, SIZE)


def test_divergences_keep_no_large_tensors_for_the_gradient() -> None:
    part, vectors = part_of(samples=2), vectors_of()
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        part(vectors, SPANS)
    large = [tensor.numel() for tensor in kept.values() if tensor.shape[-2:] == (len(SPANS), SIZE)]
    # The means, the deviations, what softplus made them of, and the noise of two samples.
    assert sorted(large) == [len(SPANS) * SIZE] * 3 + [2 * len(SPANS) * SIZE]


@pytest.mark.parametrize(
    "wrong", [{"hidden": (0,)}, {"size": 0}, {"samples": -1}, {"prior": "none"}, {"dropout": 0.1}], ids=str
)
def test_settings_refuse_what_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        BottleneckSettings.model_validate({"kind": "bottleneck", **wrong})
