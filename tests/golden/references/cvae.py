"""The conditional auto-encoder and its classifier: the reference of `cvae.npz`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from golden.references.drawing import (
    Arrays,
    Case,
    Draw,
    gradients,
    linear,
    rounded,
    take_gradients,
    whole,
)


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    tokens: int
    corpora: tuple[int, ...]
    """The corpus of each sentence."""
    spans: tuple[int, ...]
    """Real spans of each sentence."""
    shared: tuple[tuple[int, ...], ...]
    """For each corpus, the shared label of each of its labels; -1 for none."""
    widest: int
    hidden: int
    width_size: int
    vector: int
    classifier: tuple[int, ...]
    """Sizes of the hidden layers."""
    encoded: int
    latent: int
    alpha: float
    beta: float


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    inputs = {**drawn_inputs(draw, shape), **drawn_weights(draw, shape)}
    mask = inputs["span_mask"]
    vectors = {"h_span": torch.stack([span_vector(inputs, *place) for place in mask.nonzero().tolist()])}
    inputs |= {"h_span_label": inputs["label_ids"][mask], "h_span_position": mask.nonzero()}
    inputs["noise"] = draw.normal(int(mask.sum()), shape.latent)
    take_gradients(vectors, "h_span")
    take_gradients(inputs, "condition_table")
    outputs = classified(inputs, vectors["h_span"], shape) | rebuilt(inputs, vectors["h_span"])
    outputs["condition_rows_initial"] = initial_rows(shape)
    outputs["total_loss"] = outputs["cross_entropy"] + inputs["alpha"] * outputs["cvae_loss"]
    outputs |= gradients(outputs["cvae_loss"], vectors, "grad_cvae_", "h_span")
    outputs |= gradients(outputs["cvae_loss"], inputs, "grad_cvae_", "condition_table")
    outputs |= gradients(outputs["total_loss"], vectors, "grad_total_", "h_span")
    outputs |= gradients(outputs["mse"], vectors, "grad_mse_", "h_span")
    apart = squared_error(outputs["reconstruction_at_mean"], vectors["h_span"].detach())
    (detached,) = gradients(apart, vectors, "", "h_span").values()
    return inputs, {**outputs, **vectors, "grad_mse_h_span_target_detached": detached}


def drawn_inputs(draw: Draw, shape: Shape) -> Arrays:
    sizes = [len(labels) for labels in shape.shared]
    ranges = [(sum(sizes[:corpus]), sum(sizes[: corpus + 1])) for corpus in range(len(sizes))]
    most = max(shape.spans)
    spans, labels = [], []
    for corpus, count in zip(shape.corpora, shape.spans, strict=True):
        first, after = ranges[corpus]
        drawn = [sorted(draw.integer(0, shape.tokens - 1) for _ in range(2)) for _ in range(count)]
        own = [[*ends, draw.integer(1, min(shape.widest, ends[1] - ends[0] + 1))] for ends in drawn]
        spans.append(own + [[0, 0, 0]] * (most - count))
        labels.append([draw.integer(first, after - 1) for _ in range(count)] + [0] * (most - count))
    table = initial_rows(shape)
    return {
        "token_states": draw.normal(len(spans), shape.tokens, shape.hidden),
        "spans": whole(spans),
        "span_mask": torch.arange(most) < whole(shape.spans)[:, None],
        "corpus_of_sentence": whole(shape.corpora),
        "label_ranges": whole(ranges),
        "label_ids": whole(labels),
        "shared_label_of_label": whole(sum(shape.shared, ())),
        "condition_table": (table + draw.normal(*table.shape, scale=0.2)).float().double(),
        "alpha": rounded(shape.alpha),
        "beta": rounded(shape.beta),
    }


def drawn_weights(draw: Draw, shape: Shape) -> Arrays:
    labels, width = initial_rows(shape).shape
    found = {"width_table": draw.normal(shape.widest + 1, shape.width_size)}
    found |= draw.linear("span_projection", shape.vector, 2 * shape.hidden + shape.width_size)
    sizes = (shape.vector, *shape.classifier, labels)
    for number, (before, after) in enumerate(pairwise(sizes), start=1):
        found |= draw.linear(f"classifier{number}", after, before)
    found |= draw.linear("encode", shape.encoded, shape.vector + width)
    found |= draw.linear("mu", shape.latent, shape.encoded) | draw.linear(
        "logvar", shape.latent, shape.encoded
    )
    found |= draw.linear("decode1", shape.latent, shape.latent + width)
    return found | draw.linear("decode2", shape.vector, shape.latent)


def initial_rows(shape: Shape) -> Tensor:
    """(labels, labels + shared labels): the label itself, then the shared label that it means."""
    shared = sum(shape.shared, ())
    found = whole([[0] * (len(shared) + max(shared) + 1) for _ in shared])
    for label, meant in enumerate(shared):
        found[label, label] = 1
        if meant >= 0:
            found[label, len(shared) + meant] = 1
    return found


def span_vector(inputs: Arrays, sentence: int, slot: int) -> Tensor:
    first, last, width = inputs["spans"][sentence, slot].tolist()
    states = inputs["token_states"][sentence]
    joined = torch.cat([states[first], states[last], inputs["width_table"][width]])
    return linear(inputs, "span_projection", joined).relu().detach()


def classified(inputs: Arrays, vectors: Tensor, shape: Shape) -> Arrays:
    """Logits, and the cross entropy over the labels of each span's own corpus."""
    logits, last = vectors, len(shape.classifier) + 1
    for number in range(1, last + 1):
        logits = linear(inputs, f"classifier{number}", logits)
        logits = logits if number == last else logits.relu()
    own = torch.zeros(logits.shape, dtype=torch.bool)
    losses = []
    for span, (sentence, _) in enumerate(inputs["h_span_position"].tolist()):
        first, after = inputs["label_ranges"][inputs["corpus_of_sentence"][sentence]].tolist()
        own[span, first:after] = True
        label = int(inputs["h_span_label"][span])
        losses.append(logits[span, first:after].logsumexp(0) - logits[span, label])
    return {
        "logits_all_labels": logits,
        "logits_own_label_mask": own,
        "cross_entropy_each": torch.stack(losses),
        "cross_entropy": sum(losses) / len(losses),
    }


def rebuilt(inputs: Arrays, vectors: Tensor) -> Arrays:
    """Posteriors, rebuilt vectors at the mean and with noise, and their losses."""
    condition = inputs["condition_table"][inputs["h_span_label"]]
    inner = linear(inputs, "encode", torch.cat([vectors, condition], dim=1)).relu()
    mean, log_variance = linear(inputs, "mu", inner), linear(inputs, "logvar", inner)
    each = ((log_variance.exp() + mean**2 - 1 - log_variance) / 2).sum(1)
    found = {"posterior_mu": mean, "posterior_logvar": log_variance, "kl_each": each, "kl": each.mean()}
    drawn = mean + (log_variance / 2).exp() * inputs["noise"]
    for latent, loss, total, vector in (
        (mean, "mse", "cvae_loss", "reconstruction_at_mean"),
        (drawn, "mse_sampled", "cvae_loss_sampled", "reconstruction_sampled"),
    ):
        decoded = linear(inputs, "decode1", torch.cat([latent, condition], dim=1)).relu()
        found[vector] = linear(inputs, "decode2", decoded).relu()
        found[loss] = squared_error(found[vector], vectors)
        found[total] = found[loss] + inputs["beta"] * found["kl"]
    return found


def squared_error(found: Tensor, target: Tensor) -> Tensor:
    return ((found - target) ** 2).sum() / target.numel()
