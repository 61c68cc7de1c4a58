"""Training of the bi-encoder of names: names of one concept shall be near, those of others far.

The contrast is that of BINDER within a batch: another name of a name's concept against the names of all other
concepts. Concepts whose names look alike come in the same batch, so they are hard to tell apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from spanwright.errors import InputError
from spanwright.linking.building import EncoderOptions
from spanwright.linking.encoder import NameEncoder
from spanwright.linking.index import NameIndex

_TEMPERATURE = 0.05
_NEIGHBOURS = 3
"""Concepts with similar names that come along with each concept that is drawn."""
_ANNOTATED = 0.5
"""The share of draws among mentions of annotated documents, where there are any."""
_DECAY = 0.01
Pair = tuple[int, int, int]
"""The rows of two names and the number of their concept."""


def train_encoder(
    encoder: NameEncoder,
    sources: Sequence[tuple[NameIndex, Tensor]],
    options: EncoderOptions,
    tell: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Train the map of an encoder on the names of indexes, as it has read them, `(names, size)`, in turn.

    `tell` hears of each step and its loss. Learning rates fall to 0 along a line.
    """
    torch.manual_seed(options.seed)
    optimiser = torch.optim.AdamW(encoder.projection.parameters(), lr=options.rate, weight_decay=_DECAY)
    batches = [(NameBatches(index, options.batch, options.seed), read) for index, read in sources]
    for step in range(options.steps):
        for group in optimiser.param_groups:
            group["lr"] = options.rate * (1 - step / options.steps)
        pairs, read = batches[step % len(batches)]
        left, right, concept = (torch.tensor(column) for column in zip(*next(pairs), strict=True))
        loss = contrast(encoder(read[left]), encoder(read[right]), concept)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        tell(step, float(loss.detach()))


def contrast(left: Tensor, right: Tensor, concept: Tensor) -> Tensor:
    """The mean loss of telling each vector's partner from those of other concepts, in both directions.

    `left` and `right` are `(pairs, size)`, `concept` `(pairs,)`; other pairs of one concept are left out.
    """
    scores = left @ right.T / _TEMPERATURE
    other = ~torch.eye(len(concept), dtype=torch.bool)
    same = (concept[:, None] == concept[None, :]) & other
    scores = scores.masked_fill(same, float("-inf"))
    target = torch.arange(len(concept))
    loss = torch.nn.functional.cross_entropy
    return (loss(scores, target) + loss(scores.T, target)) / 2


class NameBatches(Iterator[list[Pair]]):
    """Pairs of names of concepts that look alike, drawn at random."""

    def __init__(self, index: NameIndex, size: int, seed: int) -> None:
        self._named = named = index.named
        self._random = random.Random(seed)
        self._ngrams = index.ngrams
        self._near: dict[int, list[int]] = {}
        self._rows: dict[int, list[int]] = {}
        for row, concept in enumerate(named.concept.tolist()):
            if len(named.answers[concept]) == 1:
                self._rows.setdefault(concept, []).append(row)
        several = np.array([len(self._rows.get(int(c), ())) > 1 for c in named.concept], dtype=bool)
        self._drawn = np.flatnonzero(several).tolist()
        if not self._drawn:
            raise InputError(
                "no concept of the lexicon has two names, so an encoder of names has nothing to learn from; "
                "expected a lexicon with synonyms, or no training (--encoder-steps 0)"
            )
        self._size = min(size, len(set(named.concept[self._drawn].tolist())))
        self._annotated = np.flatnonzero(several & (named.weight >= 1)).tolist() or self._drawn

    def __next__(self) -> list[Pair]:
        concepts: dict[int, int] = {}
        while len(concepts) < self._size:
            chosen = self._annotated if self._random.random() < _ANNOTATED else self._drawn
            row = self._random.choice(chosen)
            for each in (row, *self._neighbours(row)):
                concepts.setdefault(int(self._named.concept[each]), each)
        return [self._pair(row, concept) for concept, row in list(concepts.items())[: self._size]]

    def _neighbours(self, row: int) -> list[int]:
        """Names of other concepts that are like a name."""
        if row not in self._near:
            own = int(self._named.concept[row])
            found = self._ngrams.search(self._named.keys[row], 16).tolist()
            concepts = {int(self._named.concept[each]): each for each in reversed(found)}
            others = [each for concept, each in concepts.items() if concept != own and concept in self._rows]
            self._near[row] = others[-_NEIGHBOURS:]
        return self._near[row]

    def _pair(self, row: int, concept: int) -> Pair:
        """A name and another one of its concept; the same where it is the only one."""
        others = [each for each in self._rows[concept] if each != row] or [row]
        return row, self._random.choice(others), concept
