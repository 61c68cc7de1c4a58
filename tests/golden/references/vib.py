"""The information bottleneck span by span: the reference of `vib.npz`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from golden.references.drawing import (
    FILLER,
    Arrays,
    Case,
    Draw,
    check_clear,
    gradients,
    linear,
    rounded,
    rows,
    take_gradients,
    whole,
)


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    words: tuple[tuple[int, ...], ...]
    """For each sentence, how many tokens each word has."""
    limit: int
    """Tokens of the widest span."""
    hidden: int
    layers: tuple[int, ...]
    """Sizes of the hidden layers."""
    latent: int
    types: int
    samples: int
    beta: float
    epoch: int


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    spans, aligned = spans_of(shape)
    inputs = drawn_inputs(draw, shape, spans, aligned)
    vectors = {"span_vectors": torch.stack([span_vector(inputs["token_states"], span) for span in spans])}
    take_gradients(vectors, "span_vectors")
    take_gradients(inputs, "prior_mu", "prior_std_raw")
    outputs = posteriors(inputs, vectors["span_vectors"], len(shape.layers))
    outputs |= losses(inputs, outputs)
    total = outputs["total_at_mean"]
    outputs |= gradients(total, inputs, "grad_total_", "prior_mu", "prior_std_raw")
    outputs |= gradients(total, vectors, "grad_total_", "span_vectors")
    return inputs, {**outputs, **vectors}


def spans_of(shape: Shape) -> tuple[list[tuple[int, int, int]], list[bool]]:
    """(sentence, start, end) of all spans, and whether they begin and end with words."""
    spans, aligned = [], []
    for sentence, sizes in enumerate(shape.words):
        borders = {sum(sizes[:word]) for word in range(len(sizes) + 1)}
        for start in range(sum(sizes)):
            for end in range(start + 1, min(start + shape.limit, sum(sizes)) + 1):
                spans.append((sentence, start, end))
                aligned.append({start, end} <= borders)
    return spans, aligned


def drawn_inputs(draw: Draw, shape: Shape, spans: list[tuple[int, int, int]], aligned: list[bool]) -> Arrays:
    lengths = whole([sum(sizes) for sizes in shape.words])
    tokens = int(lengths.max()) + 2
    position = torch.arange(tokens)
    inside = (position >= 1) & (position <= lengths[:, None])
    labels = [[draw.integer(0, 2) // 2 * keep for _ in range(shape.types)] for keep in aligned]
    sizes = (3 * shape.hidden, *shape.layers)
    weights: Arrays = {}
    for number, (before, after) in enumerate(pairwise(sizes), start=1):
        weights |= draw.linear(f"mlp{number}", after, before)
    for name in ("mu", "std"):
        weights |= draw.linear(name, shape.latent, sizes[-1])
    return {
        "token_states": draw.normal(len(lengths), tokens, shape.hidden).where(inside[:, :, None], FILLER),
        "token_in_text": inside,
        "spans": rows(spans, 3),
        "span_is_word_aligned": torch.tensor(aligned),
        "max_span_size": whole(shape.limit),
        "labels": whole(labels),
        **weights,
        **draw.linear("classifier", shape.types, shape.latent),
        "prior_mu": draw.normal(shape.latent),
        "prior_std_raw": draw.normal(shape.latent),
        "beta": rounded(shape.beta),
        "epoch": whole(shape.epoch),
        "noise": draw.normal(shape.samples, len(spans), shape.latent),
    }


def span_vector(states: Tensor, span: tuple[int, int, int]) -> Tensor:
    """[first; mean; last]; position 0 is the special token before the text."""
    sentence, start, end = span
    tokens = states[sentence, start + 1 : end + 1]
    return torch.cat([tokens[0], sum(tokens) / len(tokens), tokens[-1]])


def posteriors(inputs: Arrays, vectors: Tensor, layers: int) -> Arrays:
    hidden = vectors
    for number in range(1, layers + 1):
        hidden = linear(inputs, f"mlp{number}", hidden).relu()
    mean, deviation = linear(inputs, "mu", hidden), functional.softplus(linear(inputs, "std", hidden))
    prior, prior_deviation = inputs["prior_mu"], functional.softplus(inputs["prior_std_raw"])
    divergence = (
        prior_deviation.log()
        - deviation.log()
        + (deviation**2 + (mean - prior) ** 2) / (2 * prior_deviation**2)
        - 0.5
    )
    return {
        "hidden": hidden,
        "posterior_mu": mean,
        "posterior_std": deviation,
        "prior_std": prior_deviation,
        "kl_per_span": divergence.sum(1),
        "logits_at_mean": linear(inputs, "classifier", mean),
        "logits_sampled": linear(inputs, "classifier", mean + deviation * inputs["noise"]),
    }


def losses(inputs: Arrays, outputs: Arrays) -> Arrays:
    aligned, beta = inputs["span_is_word_aligned"], min(1.0, int(inputs["epoch"]) * float(inputs["beta"]))
    divergence = outputs["kl_per_span"][aligned].mean()
    found: Arrays = {
        "kl_mean_word_aligned": divergence,
        "kl_mean_all_spans_released": outputs["kl_per_span"].mean(),
        "beta_effective": rounded(beta),
        "predicted_label": predicted(outputs["logits_at_mean"], aligned),
    }
    for name in ("at_mean", "sampled"):
        logits = outputs[f"logits_{name}"][..., aligned, :]
        labels = inputs["labels"][aligned].expand(logits.shape)
        right = torch.where(labels == 1, logits.sigmoid(), 1 - logits.sigmoid())
        found[f"bce_{name}"] = -right.log().mean()
        found[f"total_{name}"] = found[f"bce_{name}"] + beta * divergence
    return found


def predicted(logits: Tensor, aligned: Tensor) -> Tensor:
    """(spans,): the best type plus 1 if it is likelier than not, else 0."""
    found = whole([0] * len(logits))
    for span, row in enumerate(logits.tolist()):
        if aligned[span]:
            best = max(row)
            check_clear([best, *(best - other for other in row if other != best)])
            found[span] = row.index(best) + 1 if best > 0 else 0
    return found
