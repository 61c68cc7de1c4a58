"""A linear chain by the sum over all paths: the reference of `crf.npz`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import torch
from torch import Tensor

from golden.references.drawing import (
    Arrays,
    Case,
    Draw,
    check_clear,
    gradients,
    padded,
    take_gradients,
    whole,
)

NO_TAG = -1


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    lengths: tuple[int, ...]
    tags: int


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    inputs = drawn_inputs(draw, shape)
    take_gradients(inputs, "emissions", "transitions", "start_transitions", "end_transitions")
    given, partition, paths, best = [], [], [], []
    for sentence, length in enumerate(shape.lengths):
        scores = {
            path: path_score(inputs, sentence, path) for path in product(range(shape.tags), repeat=length)
        }
        ranked = sorted(scores, key=lambda path: -scores[path].item())
        check_clear((scores[ranked[0]] - scores[path]).item() for path in ranked[1:2])
        given.append(scores[tuple(inputs["tags"][sentence, :length].tolist())])
        partition.append(torch.stack(list(scores.values())).logsumexp(0))
        paths.append(list(ranked[0]))
        best.append(scores[ranked[0]])
    outputs = {
        "sequence_score": torch.stack(given),
        "log_partition": torch.stack(partition),
        "viterbi_path": padded(paths, NO_TAG),
        "viterbi_score": torch.stack(best),
    }
    return inputs, {**outputs, **losses(inputs, outputs["sequence_score"] - outputs["log_partition"])}


def drawn_inputs(draw: Draw, shape: Shape) -> Arrays:
    count, words, tags = len(shape.lengths), max(shape.lengths), shape.tags
    own = [[draw.integer(0, tags - 1) for _ in range(length)] for length in shape.lengths]
    return {
        "emissions": draw.normal(count, words, tags),
        "transitions": draw.normal(tags, tags),
        "start_transitions": draw.normal(tags),
        "end_transitions": draw.normal(tags),
        "mask": torch.arange(words) < whole(shape.lengths)[:, None],
        "lengths": whole(shape.lengths),
        "tags": padded(own, 0),
    }


def path_score(inputs: Arrays, sentence: int, path: Sequence[int]) -> Tensor:
    """start[y_1] + sum_t emissions[t, y_t] + sum_t transitions[y_(t-1), y_t] + end[y_n]."""
    score = inputs["start_transitions"][path[0]] + inputs["end_transitions"][path[-1]]
    for word, tag in enumerate(path):
        score = score + inputs["emissions"][sentence, word, tag]
    for before, after in pairwise(path):
        score = score + inputs["transitions"][before, after]
    return score


def losses(inputs: Arrays, likelihood: Tensor) -> Arrays:
    mean = -likelihood.sum() / len(likelihood)
    names = {"emissions": "emissions", "transitions": "transitions"}
    names |= {"start_transitions": "start", "end_transitions": "end"}
    found = gradients(mean, inputs, "", *names)
    return {
        "log_likelihood": likelihood,
        "mean_nll_per_sentence": mean,
        "mean_nll_per_token": -likelihood.sum() / inputs["lengths"].sum(),
        **{f"grad_mean_nll_{names[name]}": gradient for name, gradient in found.items()},
    }
