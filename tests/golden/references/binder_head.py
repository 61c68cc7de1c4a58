"""The bi-encoder, one comparison and one question at a time: the reference of `binder_head.npz`.

What it predicts is in `binder_predictions.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from golden.references.binder_predictions import Scores, predictions
from golden.references.drawing import (
    FILLER,
    Arrays,
    Case,
    Draw,
    gradients,
    linear,
    padded,
    rounded,
    rows,
    take_gradients,
    whole,
)

KINDS = ("start", "end", "span")
WEIGHTS = {"start": 0.2, "end": 0.2, "span": 0.6}
LEAVES = ("h_text", "h_type", "width_table", *(f"{kind}_log_scale" for kind in KINDS))


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    words: tuple[tuple[int, ...], ...]
    """For each window, how many tokens each word has."""
    offsets: tuple[int, ...]
    """The word of the document that each window begins with."""
    golds: tuple[int, ...]
    """How many each window has."""
    types: int
    hidden: int
    size: int
    """Of the vectors that are compared."""
    width_size: int
    padding: int
    """Tokens that no window has."""


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    inputs = {**drawn_windows(draw, shape), **drawn_weights(draw, shape)}
    take_gradients(inputs, *LEAVES)
    scores = scored(inputs)
    outputs = stored(inputs, scores) | losses(inputs, scores)
    outputs |= gradients(outputs["loss_total"], inputs, "grad_", *LEAVES)
    return inputs, {**outputs, **predictions(inputs, scores)}


def drawn_windows(draw: Draw, shape: Shape) -> Arrays:
    words = [[word for word, size in enumerate(sizes) for _ in range(size)] for sizes in shape.words]
    spare = [-1] * shape.padding
    word_of_token = padded([[-1, *row, -1, *spare] for row in words], -1)
    golds = []
    for window, (own, count) in enumerate(zip(words, shape.golds, strict=True)):
        spans = [(i, j) for i in starts(own) for j in ends(own) if j >= i]
        every = [(window, type_, i + 1, j + 1) for type_ in range(shape.types) for i, j in spans]
        golds += draw.chosen(every, count)
    in_words = [
        (window, type_, words[window][i - 1], words[window][j - 1] + 1) for window, type_, i, j in golds
    ]
    begins, finishes = torch.zeros_like(word_of_token).bool(), torch.zeros_like(word_of_token).bool()
    for window, own in enumerate(words):
        begins[window, [1 + token for token in starts(own)]] = True
        finishes[window, [1 + token for token in ends(own)]] = True
    return {
        "h_text": draw.normal(*word_of_token.shape, shape.hidden),
        "window_length": whole([len(own) + 2 for own in words]),
        "word_of_token": word_of_token,
        "start_valid": begins,
        "end_valid": finishes,
        "gold": rows(golds, 4),
        "gold_words": rows(in_words, 4),
        "window_word_offset": whole(shape.offsets),
    }


def starts(words: list[int]) -> list[int]:
    """The tokens that begin words, from the word of each token."""
    return [token for token, word in enumerate(words) if word not in words[:token]]


def ends(words: list[int]) -> list[int]:
    """The tokens that end words."""
    return [token for token, word in enumerate(words) if word not in words[token + 1 :]]


def drawn_weights(draw: Draw, shape: Shape) -> Arrays:
    tokens = max(map(sum, shape.words)) + 2 + shape.padding
    table = draw.normal(tokens + 1, shape.width_size)
    table[0] = 0
    found = {"h_type": draw.normal(shape.types, shape.hidden), "width_table": table}
    for kind in KINDS:
        read = 2 * shape.hidden + shape.width_size if kind == "span" else shape.hidden
        found |= draw.linear(kind, shape.size, read) | draw.linear(f"type_{kind}", shape.size, shape.hidden)
        found[f"{kind}_log_scale"] = rounded(1.5 + draw.normal(scale=0.1).item())
    return found


def scored(inputs: Arrays) -> Scores:
    """The scores (types,) of each candidate and of the special token, by kind, window and place."""
    scores: Scores = {kind: [] for kind in KINDS}
    for window, states in enumerate(inputs["h_text"]):
        begins, finishes = (
            inputs[f"{kind}_valid"][window].nonzero()[:, 0].tolist() for kind in ("start", "end")
        )
        every = [(token,) for token in range(len(states))]
        spans = [(0, 0), *((i, j) for i in begins for j in finishes if j >= i)]
        places = {"start": every, "end": every, "span": spans}
        for kind in KINDS:
            scores[kind].append({place: compared(inputs, kind, states, place) for place in places[kind]})
    return scores


def compared(inputs: Arrays, kind: str, states: Tensor, place: tuple[int, ...]) -> Tensor:
    """(types,): exp(s) times the cosine with each type."""
    vector = torch.cat([states[token] for token in place])
    if kind == "span":
        vector = torch.cat([vector, inputs["width_table"][place[1] - place[0] + 1]])
    vector = linear(inputs, kind, vector)
    types = linear(inputs, f"type_{kind}", inputs["h_type"])
    cosine = types @ vector / (types.norm(dim=1) * vector.norm())
    return inputs[f"{kind}_log_scale"].exp() * cosine


def stored(inputs: Arrays, scores: Scores) -> Arrays:
    """Scores on grids, (windows, types, places), and thresholds (windows, types)."""
    windows, tokens, _ = inputs["h_text"].shape
    found: Arrays = {}
    for kind in KINDS:
        places = (tokens, tokens) if kind == "span" else (tokens,)
        grid = torch.full((windows, len(inputs["h_type"]), *places), FILLER, dtype=torch.float64)
        for window, own in enumerate(scores[kind]):
            for place, values in own.items():
                grid[(window, slice(None), *place)] = values.detach()
        found[f"{kind}_scores"] = grid
        found[f"{kind}_threshold"] = grid[:, :, 0, 0] if kind == "span" else grid[:, :, 0]
    return found


def losses(inputs: Arrays, scores: Scores) -> Arrays:
    """Entity and threshold losses of each kind, and their sums."""
    found: Arrays = {}
    for kind in KINDS:
        found |= losses_of(inputs, scores, kind)
    for part in ("entity", "threshold"):
        found[f"loss_{part}"] = sum(WEIGHTS[kind] * found[f"loss_{kind}_{part}"] for kind in KINDS)
    found["loss_total"] = (found["loss_entity"] + found["loss_threshold"]) / 2
    return found


def losses_of(inputs: Arrays, scores: Scores, kind: str) -> Arrays:
    pick = {"start": slice(2, 3), "end": slice(3, 4), "span": slice(2, 4)}[kind]
    golds = [(row[0], row[1], tuple(row[pick])) for row in inputs["gold"].tolist()]
    special = (0, 0) if kind == "span" else (0,)

    def negatives(window: int, type_: int) -> list[Tensor]:
        own = scores[kind][window]
        return [
            own[place][type_]
            for place in own
            if place != special
            and (kind == "span" or inputs[f"{kind}_valid"][window, place[0]])
            and (window, type_, place) not in golds
        ]

    entity, without, threshold = [], [], []
    for window, type_, place in golds:
        own = scores[kind][window]
        rivals = negatives(window, type_)
        entity.append(surprise(own[place][type_], [own[special][type_], *rivals]))
        without.append(surprise(own[place][type_], rivals))
    for window, own in enumerate(scores[kind]):
        for type_, score in enumerate(own[special]):
            threshold.append(surprise(score, negatives(window, type_)))
    return {
        f"loss_{kind}_entity": torch.stack(entity).mean(),
        f"loss_{kind}_entity_without_cls": torch.stack(without).mean(),
        f"loss_{kind}_threshold": torch.stack(threshold).mean(),
    }


def surprise(answer: Tensor, rivals: list[Tensor]) -> Tensor:
    """-log softmax of an answer among itself and its rivals."""
    return torch.stack([answer, *rivals]).logsumexp(0) - answer
