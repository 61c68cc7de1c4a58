"""The bottleneck and the sigmoid scorer reproduce the golden numbers of Joint-IB, each token being a word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from batching import batch_of, every_span
from golden.golden_arrays import Arrays, assert_near, load_arrays, load_layers, load_linear, numbered
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.transforms import bottleneck
from spanwright.parts.spans.transforms.bottleneck import Bottleneck
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.settings.learning import LinearSchedule, ObjectiveSettings
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import SigmoidSettings
from spanwright.settings.transforms import BottleneckSettings
from spanwright.training.objective import total, weights_at


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "vib.npz")


def composed(weight: Tensor, bias: Tensor, activation: str, *, limit: int) -> Composed:
    """The first layer of the MLP, over the first, the mean and the last state of a span."""
    values = {"ingredients": ("first", "mean", "last"), "size": len(bias), "activation": activation}
    settings = ComposedSettings.model_validate({**values, "dropout": 0.0})
    made = Composed(settings, state_width=weight.shape[1] // 3, width_limit=limit)
    made.projection.linear.load_state_dict({"weight": weight, "bias": bias})
    return made


def bottleneck_of(arrays: Arrays, samples: int) -> Bottleneck:
    _, *deeper = numbered(arrays, "mlp")
    settings = BottleneckSettings(
        kind="bottleneck",
        hidden=tuple(len(arrays[f"{name}_bias"]) for name in deeper),
        size=len(arrays["mu_bias"]),
        samples=samples,
    )
    made = Bottleneck(settings, vector_size=len(arrays["mlp1_bias"]))
    load_layers(made.layers, arrays, deeper)
    load_linear(made.mean, arrays, "mu")
    load_linear(made.deviation, arrays, "std")
    with torch.no_grad():
        made.prior_mean.copy_(arrays["prior_mu"])
        made.prior_deviation.copy_(arrays["prior_std_raw"])
    return made


def sigmoid_of(arrays: Arrays) -> Sigmoid:
    types, size = arrays["classifier_weight"].shape
    made = Sigmoid(SigmoidSettings(kind="sigmoid", reduction="spans"), vector_size=size, sizes=(types,))
    load_layers(made.layers, arrays, ["classifier"])
    return made


@dataclass(frozen=True)
class Head:
    """The golden weights in our modules, the golden spans in a batch, and their vectors."""

    words: Tensor
    """(words, width): a leaf, for gradients."""
    representation: Transformed
    scorer: Sigmoid
    batch: Batch
    vectors: SpanVectors

    def scored(self, vectors: SpanVectors) -> Tensor:
        nothing = self.words[:0]
        scores: Tensor = self.scorer(vectors, WordStates(nothing, nothing, nothing), self.batch)
        return scores

    @property
    def prior(self) -> tuple[Tensor, Tensor]:
        """Mean and deviation before softplus."""
        part = self.representation.transforms[0]
        return part.prior_mean, part.prior_deviation


def batch(arrays: Arrays, *, aligned: bool) -> Batch:
    """The text tokens as words, and the spans that begin and end with words, or all."""
    counts = arrays["token_in_text"].sum(1).tolist()
    spans = every_span(counts, int(arrays["max_span_size"]))
    offsets = [sum(counts[:window]) for window in range(len(counts))]
    rows = [[window, first - offsets[window], last - offsets[window] + 1] for window, first, last in spans]
    assert rows == arrays["spans"].tolist()
    chosen = arrays["span_is_word_aligned"] if aligned else torch.ones(len(spans), dtype=torch.bool)
    kept = [span for span, keep in zip(spans, chosen.tolist(), strict=True) if keep]
    return batch_of(counts, kept, arrays["labels"][chosen].nonzero().tolist())


def head(arrays: Arrays, *, aligned: bool = False, samples: int = 0, training: bool = True) -> Head:
    first = composed(arrays["mlp1_weight"], arrays["mlp1_bias"], "relu", limit=int(arrays["max_span_size"]))
    representation = Transformed(first, [bottleneck_of(arrays, samples)])
    representation.train(training)
    words = arrays["token_states"][arrays["token_in_text"]].requires_grad_()
    states = WordStates(start=words, end=words, anchor=arrays["token_states"][:, 0])
    given = batch(arrays, aligned=aligned)
    return Head(words, representation, sigmoid_of(arrays), given, representation(states, given.spans))


def objective(arrays: Arrays, losses: dict[str, Tensor]) -> Tensor:
    return total(losses, weights_of(arrays, set(losses)))


def weights_of(arrays: Arrays, terms: set[str]) -> dict[str, float]:
    """The weight of the compression rises by beta in each epoch, up to 1."""
    epoch, risen = int(arrays["epoch"]), 1 / float(arrays["beta"])
    epochs = max(epoch, risen)
    rise = LinearSchedule(kind="linear", start=0.0, end=1.0, finish=risen / epochs)
    return weights_at(ObjectiveSettings(weights={"compression": rise}), terms, progress=epoch / epochs)


def loss_at_mean(arrays: Arrays, given: Head) -> Tensor:
    losses = given.scorer.losses(given.scored(given.vectors), given.batch)
    return objective(arrays, {**losses, "compression": given.vectors.divergence.mean()})


def test_span_vectors_are_the_first_the_mean_and_the_last_state(arrays: Arrays) -> None:
    size = arrays["span_vectors"].shape[1]
    part = composed(torch.eye(size), torch.zeros(size), "none", limit=int(arrays["max_span_size"]))
    words = arrays["token_states"][arrays["token_in_text"]]
    states = WordStates(words, words, arrays["token_states"][:, 0])
    assert_near(part(states, batch(arrays, aligned=False).spans).spans, arrays["span_vectors"])


def test_the_hidden_layers(arrays: Arrays) -> None:
    part = bottleneck_of(arrays, 0)
    inputs = (arrays["span_vectors"] @ arrays["mlp1_weight"].T + arrays["mlp1_bias"]).relu()
    assert_near(part.layers(inputs), arrays["hidden"])


@pytest.mark.parametrize("training", [True, False], ids=["training", "inference"])
def test_means_of_spans_and_their_logits(arrays: Arrays, training: bool) -> None:
    given = head(arrays, training=training)
    assert_near(given.vectors.spans, arrays["posterior_mu"])
    assert_near(given.scored(given.vectors), arrays["logits_at_mean"])


def test_deviations_of_spans_and_of_the_prior(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bottleneck, "standard_noise", lambda samples, like: torch.ones(samples, *like.shape))
    vectors = head(arrays, samples=1).vectors
    assert_near(vectors.samples[0] - vectors.spans, arrays["posterior_std"])
    assert_near(bottleneck_of(arrays, 0).prior()[1], arrays["prior_std"])


def test_divergences_from_the_prior(arrays: Arrays) -> None:
    assert_near(head(arrays).vectors.divergence, arrays["kl_per_span"])
    assert_near(head(arrays, aligned=True).vectors.divergence.mean(), arrays["kl_mean_word_aligned"])


def test_the_weight_of_the_compression(arrays: Arrays) -> None:
    weights = weights_of(arrays, {"spans", "compression"})
    assert_near(torch.tensor(weights["compression"]), arrays["beta_effective"])


def test_the_loss_and_the_objective_at_the_mean(arrays: Arrays) -> None:
    given = head(arrays, aligned=True)
    losses = given.scorer.losses(given.scored(given.vectors), given.batch)
    assert_near(losses["spans"], arrays["bce_at_mean"])
    assert_near(loss_at_mean(arrays, given), arrays["total_at_mean"])


def sampled(arrays: Arrays, patch: pytest.MonkeyPatch, *, aligned: bool) -> tuple[Head, list[Tensor]]:
    """A head that draws with the golden noise, and the logits of each sample."""
    noise = arrays["noise"][:, arrays["span_is_word_aligned"]] if aligned else arrays["noise"]
    patch.setattr(bottleneck, "standard_noise", lambda samples, like: noise)
    given = head(arrays, aligned=aligned, samples=len(noise))
    return given, [given.scored(replace(given.vectors, spans=sample)) for sample in given.vectors.samples]


def test_logits_of_drawn_vectors(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    _, logits = sampled(arrays, monkeypatch, aligned=False)
    assert_near(torch.stack(logits), arrays["logits_sampled"])


def test_the_loss_and_the_objective_of_drawn_vectors(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    given, logits = sampled(arrays, monkeypatch, aligned=True)
    losses = torch.stack([given.scorer.losses(each, given.batch)["spans"] for each in logits]).mean()
    assert_near(losses, arrays["bce_sampled"])
    compression = given.vectors.divergence.mean()
    assert_near(objective(arrays, {"spans": losses, "compression": compression}), arrays["total_sampled"])


def test_the_likeliest_of_the_predicted_types_of_a_span(arrays: Arrays) -> None:
    given = head(arrays, aligned=True, training=False)
    found = given.scorer.predict(given.scored(given.vectors), given.batch)
    aligned, spans = arrays["span_is_word_aligned"].nonzero().squeeze(1).tolist(), given.batch.spans
    position = dict(zip(zip(spans.first.tolist(), spans.last.tolist(), strict=True), aligned, strict=True))
    best = torch.zeros_like(arrays["predicted_label"])
    order = found.confidence.argsort()
    columns = (each[order].tolist() for each in (found.first, found.last, found.type))
    for first, last, type_ in zip(*columns, strict=True):
        best[position[first, last]] = type_ + 1
    assert torch.equal(best, arrays["predicted_label"])


def test_gradients_of_the_prior(arrays: Arrays) -> None:
    given = head(arrays, aligned=True)
    mean, deviation = torch.autograd.grad(loss_at_mean(arrays, given), given.prior)
    assert_near(mean, arrays["grad_total_prior_mu"])
    assert_near(deviation, arrays["grad_total_prior_std_raw"])


def test_gradients_of_span_vectors(arrays: Arrays) -> None:
    aligned = arrays["span_is_word_aligned"]
    span_vectors = arrays["span_vectors"].clone().requires_grad_()
    first = (span_vectors @ arrays["mlp1_weight"].T + arrays["mlp1_bias"]).relu()
    given = head(arrays, aligned=True)
    part = given.representation.transforms[0]
    vectors = part(SpanVectors(first[aligned], first[:0], None, None), given.batch.spans)
    (gradient,) = torch.autograd.grad(loss_at_mean(arrays, replace(given, vectors=vectors)), span_vectors)
    assert_near(gradient, arrays["grad_total_span_vectors"])


def test_gradients_of_words_are_those_of_the_spans_that_hold_them(arrays: Arrays) -> None:
    given, spans = head(arrays, aligned=True), batch(arrays, aligned=False).spans
    (gradient,) = torch.autograd.grad(loss_at_mean(arrays, given), given.words)
    expected = torch.zeros_like(gradient)
    for (of_first, of_mean, of_last), first, last in zip(
        arrays["grad_total_span_vectors"].unflatten(1, (3, -1)), spans.first, spans.last, strict=True
    ):
        expected[first] += of_first
        expected[last] += of_last
        expected[first : last + 1] += of_mean / (last - first + 1)
    assert_near(gradient, expected)
