"""The conditional auto-encoder, and spans and classes beside it, reproduce the golden numbers of CVAE-NER.

Each span has words of its own here, since its width in words is not that in tokens.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from batching import batch_of
from golden.golden_arrays import Arrays, assert_near, load_arrays, load_layers, load_linear, numbered
from spanwright.parts.batch import Batch
from spanwright.parts.beside.conditional import Cvae
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.settings.auxiliaries import CvaeSettings
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import SoftmaxSettings


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "cvae.npz")


def cvae(arrays: Arrays, *, detach_target: bool = False) -> Cvae:
    """The auto-encoder with conditions as they begin."""
    labels, width = arrays["condition_rows_initial"].shape
    hidden, latent = len(arrays["encode_bias"]), len(arrays["mu_bias"])
    return Cvae(
        CvaeSettings(hidden=hidden, latent=latent, detach_target=detach_target),
        vector_size=arrays["h_span"].shape[1],
        shared=[None if label < 0 else label for label in arrays["shared_label_of_label"].tolist()],
        shared_size=width - labels,
    )


def golden_cvae(arrays: Arrays, *, detach_target: bool = False) -> Cvae:
    """The golden weights, with the table as after some training."""
    made = cvae(arrays, detach_target=detach_target)
    names = {
        "encode.linear": "encode",
        "mean": "mu",
        "log_variance": "logvar",
        "decode.linear": "decode1",
        "output": "decode2",
    }
    weights = {
        f"{ours}.{kind}": arrays[f"{theirs}_{kind}"]
        for ours, theirs in names.items()
        for kind in ("weight", "bias")
    }
    # Strict: no golden weight is left over and none of ours is at its random start.
    made.load_state_dict({"condition.weight": arrays["condition_table"], **weights}, strict=True)
    return made.eval()


def leaf(arrays: Arrays) -> Tensor:
    """(spans, size): the golden span vectors, for gradients; only real spans are among them."""
    return arrays["h_span"].clone().requires_grad_()


def total(arrays: Arrays, losses: dict[str, Tensor]) -> Tensor:
    return losses["conditional"] + arrays["beta"] * losses["conditional-divergence"]


def test_conditions_as_they_begin(arrays: Arrays) -> None:
    assert torch.equal(cvae(arrays).condition.weight, arrays["condition_rows_initial"].float())


def test_posteriors_and_rebuilt_vectors(arrays: Arrays) -> None:
    part, rows = golden_cvae(arrays), arrays["h_span_label"]
    mean, log_variance = part.posterior(arrays["h_span"], rows)
    assert_near(mean, arrays["posterior_mu"])
    assert_near(log_variance, arrays["posterior_logvar"])
    assert_near(part.rebuild(mean, rows), arrays["reconstruction_at_mean"])
    drawn = mean + (log_variance / 2).exp() * arrays["noise"]
    assert_near(part.rebuild(drawn, rows), arrays["reconstruction_sampled"])


def test_divergences_of_each_span(arrays: Arrays) -> None:
    part = golden_cvae(arrays)
    for vector, row, expected in zip(
        arrays["h_span"], arrays["h_span_label"], arrays["kl_each"], strict=True
    ):
        assert_near(part.losses(vector[None], row[None])["conditional-divergence"], expected)


def test_losses_at_the_mean(arrays: Arrays) -> None:
    losses = golden_cvae(arrays).losses(arrays["h_span"], arrays["h_span_label"])
    assert_near(losses["conditional"], arrays["mse"])
    assert_near(losses["conditional-divergence"], arrays["kl"])
    assert_near(total(arrays, losses), arrays["cvae_loss"])


def test_losses_of_a_sample(arrays: Arrays) -> None:
    losses = golden_cvae(arrays).losses(arrays["h_span"], arrays["h_span_label"], arrays["noise"])
    assert_near(losses["conditional"], arrays["mse_sampled"])
    assert_near(total(arrays, losses), arrays["cvae_loss_sampled"])


def test_gradients_of_the_vectors_and_the_conditions(arrays: Arrays) -> None:
    part, given = golden_cvae(arrays), leaf(arrays)
    total(arrays, part.losses(given, arrays["h_span_label"])).backward()
    assert given.grad is not None and part.condition.weight.grad is not None
    assert_near(given.grad, arrays["grad_cvae_h_span"])
    assert_near(part.condition.weight.grad, arrays["grad_cvae_condition_table"])


@pytest.mark.parametrize(("detach", "suffix"), [(False, ""), (True, "_target_detached")])
def test_gradients_with_and_without_the_target(arrays: Arrays, detach: bool, suffix: str) -> None:
    part, given = golden_cvae(arrays, detach_target=detach), leaf(arrays)
    part.losses(given, arrays["h_span_label"])["conditional"].backward()
    assert given.grad is not None
    assert_near(given.grad, arrays[f"grad_mse_h_span{suffix}"])


# Spans and classes.


def scorer(arrays: Arrays) -> Softmax:
    names = numbered(arrays, "classifier")
    hidden = tuple(len(arrays[f"{name}_bias"]) for name in names[:-1])
    sizes = [after - first - 1 for first, after in arrays["label_ranges"].tolist()]
    settings = SoftmaxSettings(hidden=hidden, dropout=0.0, reduction="spans")
    made = Softmax(settings, vector_size=arrays["h_span"].shape[1], sizes=sizes)
    load_layers(made.layers, arrays, names)
    return made


def batch(arrays: Arrays) -> Batch:
    """The real spans, one after another, with their labels."""
    windows = arrays["h_span_position"][:, 0].tolist()
    widths = arrays["spans"][arrays["span_mask"]][:, 2].tolist()
    counts, spans = [0] * len(arrays["spans"]), []
    for window, width in zip(windows, widths, strict=True):
        spans.append((window, sum(counts), sum(counts) + width - 1))
        counts[window] += width
    types = scorer(arrays).classes.type_of[arrays["h_span_label"]].tolist()
    golds = [(span, type_) for span, type_ in enumerate(types) if type_ >= 0]
    return batch_of(counts, spans, golds, corpus=arrays["corpus_of_sentence"].tolist())


def scores_of(arrays: Arrays, vectors: Tensor) -> Tensor:
    """(spans, classes): what the scorer makes of span vectors."""
    nothing = vectors[:0]
    states = WordStates(nothing, nothing, nothing)
    scores: Tensor = scorer(arrays)(SpanVectors(vectors, nothing, None, None), states, batch(arrays))
    return scores


def test_span_vectors(arrays: Arrays) -> None:
    table, given, tokens = arrays["width_table"], batch(arrays), arrays["token_states"]
    settings = ComposedSettings(size=arrays["h_span"].shape[1], width_size=table.shape[1], dropout=0.0)
    part = Composed(settings, state_width=tokens.shape[2], width_limit=len(table) - 1)
    load_linear(part.projection.linear, arrays, "span_projection")
    part.widths.load_state_dict({"weight": table[1:]})  # its first row serves padding
    window = arrays["h_span_position"][:, 0]
    first, last, _ = arrays["spans"][arrays["span_mask"]].unbind(1)
    start, end = (torch.zeros(int(given.word_counts.sum()), tokens.shape[2]) for _ in range(2))
    start[given.spans.first], end[given.spans.last] = tokens[window, first], tokens[window, last]
    assert_near(part(WordStates(start, end, tokens[:, 0]), given.spans).spans, arrays["h_span"])


def test_logits_of_all_labels_and_which_are_a_corpus_s_own(arrays: Arrays) -> None:
    assert_near(scorer(arrays).layers(arrays["h_span"]), arrays["logits_all_labels"])
    own = scores_of(arrays, arrays["h_span"]).softmax(1) > 0
    assert torch.equal(own, arrays["logits_own_label_mask"])


def test_cross_entropy_of_each_span_and_of_all(arrays: Arrays) -> None:
    scores = scores_of(arrays, arrays["h_span"])
    each = functional.cross_entropy(scores, arrays["h_span_label"], reduction="none")
    assert_near(each, arrays["cross_entropy_each"])
    assert_near(scorer(arrays).losses(scores, batch(arrays))["spans"], arrays["cross_entropy"])


def test_the_whole_loss_and_its_gradient(arrays: Arrays) -> None:
    given = leaf(arrays)
    rebuilding = total(arrays, golden_cvae(arrays).losses(given, arrays["h_span_label"]))
    spans = scorer(arrays).losses(scores_of(arrays, given), batch(arrays))["spans"]
    whole = spans + arrays["alpha"] * rebuilding
    assert_near(whole, arrays["total_loss"])
    (gradient,) = torch.autograd.grad(whole, given)
    assert_near(gradient, arrays["grad_total_h_span"])
