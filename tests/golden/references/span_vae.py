"""Auto-encoders of spans that write word by word: the reference of `span_vae.npz`."""

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
    padded,
    rounded,
    take_gradients,
    whole,
)

PAD, START, END, UNKNOWN = range(4)
PARTS = ("span", "synonym")
SHRINKAGE = 4
"""By how much a cluster of rarer words is smaller than the one before."""


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    spans: tuple[int, ...]
    """Words of each span."""
    synonyms: tuple[tuple[int, int], ...]
    """The span, and the number of words, of each synonym."""
    vector: int
    latent: int
    vocabulary: int
    cutoffs: tuple[int, ...]
    word_size: int
    hidden: int
    kl_weight: float


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    inputs = {**drawn_inputs(draw, shape), **drawn_weights(draw, shape)}
    take_gradients(inputs, "span_vectors")
    vectors = inputs["span_vectors"]
    outputs = {"posterior_mu": linear(inputs, "mu", vectors)}
    for part in PARTS:
        outputs[f"posterior_logvar_{part}"] = linear(inputs, f"logvar_{part}", vectors)
        outputs |= sampled(inputs, outputs, part)
        outputs[f"lstm_{part}_outputs"] = states_of(inputs, outputs[f"z_{part}"], part)
    divergence = outputs["kl_span"] + outputs["kl_synonym"]
    for output in ("softmax", "adaptive"):
        for part in PARTS:
            outputs |= likelihoods(inputs, outputs[f"lstm_{part}_outputs"], output, part)
        written = outputs[f"nll_{output}_span"] + outputs[f"nll_{output}_synonym"]
        outputs[f"total_{output}"] = written + inputs["kl_weight"] * divergence
        outputs |= gradients(outputs[f"total_{output}"], inputs, f"grad_total_{output}_", "span_vectors")
    # What a decoder reads follows from what it shall write.
    return inputs, {**outputs, **{name: inputs.pop(name) for name in map("{}_decoder_input".format, PARTS)}}


def drawn_inputs(draw: Draw, shape: Shape) -> Arrays:
    source, lengths = zip(*shape.synonyms, strict=True)
    found = {
        "span_vectors": draw.normal(len(shape.spans), shape.vector),
        "synonym_of_span": whole(source),
        "kl_weight": rounded(shape.kl_weight),
    }
    for part, counts in (("span", shape.spans), ("synonym", lengths)):
        words = [[draw.integer(UNKNOWN, shape.vocabulary - 1) for _ in range(count)] for count in counts]
        found |= {
            f"{part}_decoder_input": padded([[START, *row] for row in words], PAD),
            f"{part}_decoder_target": padded([[*row, END] for row in words], PAD),
            f"{part}_decoder_length": whole([len(row) + 1 for row in words]),
            f"noise_{part}": draw.normal(len(words), shape.latent),
        }
    return found


def drawn_weights(draw: Draw, shape: Shape) -> Arrays:
    hidden, latent = shape.hidden, shape.latent
    found = {"word_embeddings": draw.normal(shape.vocabulary, shape.word_size)}
    found |= draw.linear("mu", latent, shape.vector)
    for part in PARTS:
        found |= draw.linear(f"logvar_{part}", latent, shape.vector)
        found |= draw.linear(f"latent_to_hidden_{part}", hidden, latent)
        read = {"ih": shape.word_size + latent, "hh": hidden}
        for name, size in read.items():
            gates = draw.linear("gates", 4 * hidden, size)
            found |= {f"lstm_{part}_{kind}_{name}": gates[f"gates_{kind}"] for kind in ("weight", "bias")}
    found |= draw.linear("softmax", shape.vocabulary, hidden)
    found["adaptive_cutoffs"] = whole(shape.cutoffs)
    found["adaptive_head_weight"] = draw.normal(shape.cutoffs[0] + len(shape.cutoffs), hidden)
    borders = (*shape.cutoffs, shape.vocabulary)
    for tail, (first, after) in enumerate(pairwise(borders), start=1):
        inner = hidden // SHRINKAGE**tail
        found[f"adaptive_tail{tail}_down_weight"] = draw.normal(inner, hidden)
        found[f"adaptive_tail{tail}_up_weight"] = draw.normal(after - first, inner)
    return found


def sampled(inputs: Arrays, outputs: Arrays, part: str) -> Arrays:
    """Latent vectors, and divergences from N(0, I)."""
    every = whole(range(len(inputs["span_vectors"])))
    source = inputs["synonym_of_span"] if part == "synonym" else every
    mean, log_variance = outputs["posterior_mu"][source], outputs[f"posterior_logvar_{part}"][source]
    each = ((log_variance.exp() + mean**2 - 1 - log_variance) / 2).sum(1)
    return {
        f"z_{part}": mean + (log_variance / 2).exp() * inputs[f"noise_{part}"],
        f"kl_{part}_each": each,
        f"kl_{part}": each.mean(),
    }


def states_of(inputs: Arrays, latents: Tensor, part: str) -> Tensor:
    """(rows, steps, hidden): an LSTM row by row and step by step; zero beyond the length."""
    read, lengths = inputs[f"{part}_decoder_input"], inputs[f"{part}_decoder_length"].tolist()
    found = []
    for latent, words, length in zip(latents, read, lengths, strict=True):
        hidden = linear(inputs, f"latent_to_hidden_{part}", latent)
        memory, states = torch.zeros_like(hidden), []
        for word in words[:length]:
            seen = torch.cat([inputs["word_embeddings"][word], latent])
            gates = inputs[f"lstm_{part}_weight_ih"] @ seen + inputs[f"lstm_{part}_bias_ih"]
            gates = gates + inputs[f"lstm_{part}_weight_hh"] @ hidden + inputs[f"lstm_{part}_bias_hh"]
            enter, forget, content, leave = gates.reshape(4, -1)
            memory = forget.sigmoid() * memory + enter.sigmoid() * content.tanh()
            hidden = leave.sigmoid() * memory.tanh()
            states.append(hidden)
        states += [torch.zeros_like(hidden)] * (len(words) - length)
        found.append(torch.stack(states))
    return torch.stack(found)


def likelihoods(inputs: Arrays, states: Tensor, output: str, part: str) -> Arrays:
    probabilities = softmax if output == "softmax" else adaptive
    lengths = inputs[f"{part}_decoder_length"]
    each = []
    for row, targets, length in zip(states, inputs[f"{part}_decoder_target"], lengths.tolist(), strict=True):
        each.append(-sum(probabilities(inputs, row[step])[targets[step]] for step in range(length)))
    surprise = torch.stack(each)
    return {
        f"nll_{output}_{part}_each": surprise,
        f"nll_{output}_{part}": surprise.mean(),
        f"nll_per_word_{output}_{part}": (surprise / lengths).mean(),
    }


def softmax(inputs: Arrays, state: Tensor) -> Tensor:
    """(vocabulary,): log probabilities after a state."""
    return linear(inputs, "softmax", state).log_softmax(0)


def adaptive(inputs: Arrays, state: Tensor) -> Tensor:
    """(vocabulary,): log probabilities by way of clusters."""
    cutoffs = inputs["adaptive_cutoffs"].tolist()
    head = (inputs["adaptive_head_weight"] @ state).log_softmax(0)
    parts = [head[: cutoffs[0]]]
    for tail, cluster in enumerate(head[cutoffs[0] :], start=1):
        down, up = (inputs[f"adaptive_tail{tail}_{name}_weight"] for name in ("down", "up"))
        parts.append(cluster + (up @ (down @ state)).log_softmax(0))
    return torch.cat(parts)
