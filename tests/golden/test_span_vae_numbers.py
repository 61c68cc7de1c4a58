"""The auto-encoders of spans reproduce the golden numbers, with either output layer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from golden.golden_arrays import Arrays, assert_near, load_arrays
from spanwright.batches.writer import PAD
from spanwright.parts.batch import Rewrites, Spans
from spanwright.parts.beside.writer.auto_encoders import SpanVae, divergence, sample
from spanwright.parts.beside.writer.word_decoder import WordDecoder, shifted
from spanwright.settings.auxiliaries import OutputKind, SpanVaeSettings

PARTS = ("span", "synonym")

both_outputs = pytest.mark.parametrize("output", ["softmax", "adaptive"])
both_parts = pytest.mark.parametrize("part", PARTS)


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "span_vae.npz")


def weights(arrays: Arrays, output: OutputKind) -> Arrays:
    """The golden weights under the names that they have here."""
    found = {"table.embedding.weight": arrays["word_embeddings"]}
    for kind in ("weight", "bias"):
        found[f"means.0.{kind}"] = arrays[f"mu_{kind}"]
    for number, part in enumerate(PARTS):
        for kind in ("weight", "bias"):
            found[f"log_variances.{number}.{kind}"] = arrays[f"logvar_{part}_{kind}"]
            found[f"decoders.{number}.start.{kind}"] = arrays[f"latent_to_hidden_{part}_{kind}"]
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            found[f"decoders.{number}.cell.{kind}"] = arrays[f"lstm_{part}_{kind}"]
    if output == "softmax":
        return found | {
            f"table.output.projection.{kind}": arrays[f"softmax_{kind}"] for kind in ("weight", "bias")
        }
    found["table.output.clusters.head.weight"] = arrays["adaptive_head_weight"]
    for number in range(len(arrays["adaptive_cutoffs"])):
        for layer, name in enumerate(("down", "up")):
            weight = arrays[f"adaptive_tail{number + 1}_{name}_weight"]
            found[f"table.output.clusters.tail.{number}.{layer}.weight"] = weight
    return found


def golden_vae(arrays: Arrays, output: OutputKind) -> SpanVae:
    latent, vector_size = arrays["mu_weight"].shape
    words, word_size = arrays["word_embeddings"].shape
    settings = SpanVaeSettings(
        latent=latent,
        hidden=arrays["lstm_span_weight_hh"].shape[1],
        word_size=word_size,
        word_dropout=0,
        output=output,
        synonyms=("corpus",),
    )
    made = SpanVae(settings, vector_size=vector_size, vocabulary=words)
    if output == "adaptive":
        made.table.output.clusters = with_borders(made.table.output.clusters, arrays["adaptive_cutoffs"])
    # Strict: no golden weight is left over and none of ours is at its random start.
    made.load_state_dict(weights(arrays, output), strict=True)
    return made


def with_borders(ours: nn.AdaptiveLogSoftmaxWithLoss, cutoffs: Tensor) -> nn.AdaptiveLogSoftmaxWithLoss:
    """Our adaptive layer with the clusters of the file: ours follow from the size of the vocabulary."""
    return nn.AdaptiveLogSoftmaxWithLoss(
        ours.in_features, ours.n_classes, cutoffs.tolist(), div_value=ours.div_value
    )


def golden_rewrites(arrays: Arrays) -> Rewrites:
    """Reconstructions and synonyms, mixed: the order of rewrites must not matter."""
    spans = torch.arange(len(arrays["span_vectors"]))
    source = torch.cat([arrays["synonym_of_span"], spans])
    synonym = torch.arange(len(source)) < len(arrays["synonym_of_span"])
    targets = [*arrays["synonym_decoder_target"], *arrays["span_decoder_target"]]
    words = pad_sequence(targets, batch_first=True, padding_value=PAD)
    return Rewrites(Spans(torch.zeros_like(spans), spans, spans), source, synonym, words)


def golden_losses(arrays: Arrays, output: OutputKind, vectors: Tensor) -> dict[str, Tensor]:
    noise = torch.cat([arrays["noise_synonym"], arrays["noise_span"]])
    return golden_vae(arrays, output).losses(vectors, golden_rewrites(arrays), noise)


@both_outputs
def test_loss_terms(arrays: Arrays, output: OutputKind) -> None:
    losses = golden_losses(arrays, output, arrays["span_vectors"])
    assert_near(losses["reconstruction"], arrays[f"nll_{output}_span"])
    assert_near(losses["synonyms"], arrays[f"nll_{output}_synonym"])
    assert_near(losses["reconstruction-divergence"], arrays["kl_span"])
    assert_near(losses["synonyms-divergence"], arrays["kl_synonym"])


@both_outputs
def test_total_and_its_gradient(arrays: Arrays, output: OutputKind) -> None:
    vectors = arrays["span_vectors"].clone().requires_grad_()
    losses = golden_losses(arrays, output, vectors)
    weight = arrays["kl_weight"]
    total = losses["reconstruction"] + losses["synonyms"]
    total = total + weight * (losses["reconstruction-divergence"] + losses["synonyms-divergence"])
    assert_near(total.detach(), arrays[f"total_{output}"])
    (gradient,) = torch.autograd.grad(total, vectors)
    assert_near(gradient, arrays[f"grad_total_{output}_span_vectors"])


def test_posteriors(arrays: Arrays) -> None:
    vae, vectors = golden_vae(arrays, "softmax"), arrays["span_vectors"]
    for synonym in (False, True):
        assert_near(vae.posterior(vectors, synonym=synonym), arrays["posterior_mu"])
    for head, part in zip(vae.log_variances, PARTS, strict=True):
        assert_near(head(vectors), arrays[f"posterior_logvar_{part}"])


@both_parts
def test_samples_and_divergences_of_each_row(arrays: Arrays, part: str) -> None:
    source = arrays["synonym_of_span"] if part == "synonym" else torch.arange(len(arrays["span_vectors"]))
    mean, log_variance = arrays["posterior_mu"][source], arrays[f"posterior_logvar_{part}"][source]
    assert_near(sample(mean, log_variance, arrays[f"noise_{part}"]), arrays[f"z_{part}"])
    assert_near(divergence(mean, log_variance), arrays[f"kl_{part}_each"])


@both_parts
@both_outputs
def test_likelihoods_of_each_row(arrays: Arrays, output: OutputKind, part: str) -> None:
    vae = golden_vae(arrays, output)
    words, lengths = arrays[f"{part}_decoder_target"], arrays[f"{part}_decoder_length"]
    surprise = decoder(vae, part).surprise(arrays[f"z_{part}"], words, vae.table)
    assert_near(surprise, arrays[f"nll_{output}_{part}_each"])
    assert_near((surprise / lengths).mean(), arrays[f"nll_per_word_{output}_{part}"])


@both_parts
def test_what_is_read_is_what_was_to_be_written_one_step_before(arrays: Arrays, part: str) -> None:
    targets = arrays[f"{part}_decoder_target"]
    real = targets != PAD
    assert torch.equal(shifted(targets)[real], arrays[f"{part}_decoder_input"][real])


@both_parts
def test_states_of_the_decoder(arrays: Arrays, part: str) -> None:
    vae = golden_vae(arrays, "softmax")
    targets, latent = arrays[f"{part}_decoder_target"], arrays[f"z_{part}"]
    rows, steps = targets.shape
    read = table_rows(vae, shifted(targets))
    # Every row runs to the last column, so that rows need not be sorted; what padding gives is cut off.
    states = decoder(vae, part)(latent, read, [rows] * steps).view(steps, rows, -1).transpose(0, 1)
    assert_near(states * (targets != PAD)[:, :, None], arrays[f"lstm_{part}_outputs"])


def decoder(vae: SpanVae, part: str) -> WordDecoder:
    found = vae.decoders[PARTS.index(part)]
    assert isinstance(found, WordDecoder)
    return found


def table_rows(vae: SpanVae, read: Tensor) -> Tensor:
    """(steps * rows, word size): embeddings of words (rows, steps), step by step."""
    return vae.table.embed(read.t().reshape(-1))
