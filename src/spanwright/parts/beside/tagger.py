"""The word tagger of Bundling Learning (Ji et al.): BIO tags beside the span scorer, on the same encoder.

Tags say one layer of entities; see `decoding/tags.py` for what they are, and which path of them is best.
Entities of any width can be tagged.

- `softmax` judges each word alone: cross entropy of the words.
- `crf` judges the path of tags through a window: its negative log likelihood.

Either answers with its likeliest allowed path, in which I follows only B or I of its type.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import log
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.decoding.tags import Chain, tagged_entities
from spanwright.parts.batch import Batch, Mentions, arrays_of, window_of_word
from spanwright.parts.beside.crf import LinearChain
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import pad, word_mask
from spanwright.parts.part import Part, Role, Row, Rows
from spanwright.parts.spans.classes import NEVER, OwnTypes
from spanwright.parts.spans.predictions import Predictions
from spanwright.settings.auxiliaries import TAGS, TaggerSettings

_OUTSIDE = 0.9
"""The probability of O that training starts from: from even odds, the first steps would learn little else."""


class WordTagger(Part):
    """`W dropout(state) + b` for every word, read as tags."""

    role: ClassVar[Role | None] = "auxiliary"

    def __init__(self, settings: TaggerSettings, *, state_width: int, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        tags = 1 + 2 * sum(sizes)
        self.own = OwnTypes(sizes)
        self.dropout = nn.Dropout(settings.dropout)
        self.projection = nn.Linear(state_width, tags)
        with torch.no_grad():
            self.projection.bias[0] = log(_OUTSIDE / (1 - _OUTSIDE) * max(1, tags - 1))
        self.rule: _WordByWord | _Path = _WordByWord() if settings.kind == "softmax" else _Path(tags)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {TAGS}

    def named_rows(self) -> Rows:
        """One row for each tag; with a CRF also its borders, and rows and columns of its moves."""
        tags: list[Row] = [("outside", 0)]
        for type_ in range(self.own.mask.shape[1]):
            tags += [("begin", type_), ("inside", type_)]
        chain = {"start": (tags,), "end": (tags,), "transitions": (tags, tags)}
        of_rule = {f"rule.chain.{name}": axes for name, axes in chain.items()}
        own: Rows = {"projection.weight": (tags,), "projection.bias": (tags,)}
        return own | of_rule if isinstance(self.rule, _Path) else own

    def forward(self, states: WordStates) -> Tensor:
        """(words, tags): emissions of packed words."""
        emissions: Tensor = self.projection(self.dropout(states.start))
        return emissions

    def loss(self, emissions: Tensor, batch: Batch) -> Tensor:
        """Softmax: mean cross entropy of the words. CRF: mean negative log likelihood of the windows."""
        targets = painted(batch.mentions, len(emissions))
        return self.rule.loss(self.masked(emissions, batch), targets, batch.word_counts)

    def predict(self, emissions: Tensor, batch: Batch) -> Predictions:
        """The tagged entities that their window owns; confidence is the mean probability of their tags."""
        scores, word_counts = arrays_of(self.masked(emissions, batch).float(), batch.word_counts)
        found = tagged_entities(scores, word_counts, self.rule.weights)
        columns = (found.window, found.first, found.last, found.type, found.confidence)
        window, first, last, type_, confidence = (
            torch.from_numpy(column).to(emissions.device) for column in columns
        )
        tagged = Predictions(window, first, last, type_, confidence, rank=confidence)
        return tagged.take(batch.owns(window, first, last))

    def masked(self, emissions: Tensor, batch: Batch) -> Tensor:
        """(words, tags): emissions that give the tags of other corpora a probability of exactly 0."""
        own = self.own.of_windows(batch)
        if own is None:
            return emissions
        # O belongs to all corpora, and each type has two tags.
        tags = torch.cat([own.new_ones(own.shape[0], 1), own.repeat_interleave(2, dim=1)], dim=1)
        return emissions.masked_fill(~tags[window_of_word(batch)], NEVER)


class _WordByWord(nn.Module):
    """Each word has its own distribution over tags."""

    weights = None

    def loss(self, emissions: Tensor, targets: Tensor, word_counts: Tensor) -> Tensor:
        total = functional.cross_entropy(emissions, targets, reduction="sum")
        return total / max(1, len(targets))


class _Path(nn.Module):
    """Each window has a distribution over paths of tags."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.chain = LinearChain(tags)

    @property
    def weights(self) -> Chain:
        """What is added to emissions along a path."""
        return self.chain.weights

    def loss(self, emissions: Tensor, targets: Tensor, word_counts: Tensor) -> Tensor:
        mask = word_mask(word_counts)
        likelihood = self.chain.log_likelihood(pad(emissions, mask), pad(targets, mask), mask)
        return -likelihood.sum() / max(1, len(word_counts))


def painted(mentions: Mentions, words: int) -> Tensor:
    """(words,): the gold tag of each packed word, from the outermost mentions.

    A mention whose beginning the window cuts off begins with I, as its first visible word is a further word.
    """
    first, last = mentions.first[mentions.outermost], mentions.last[mentions.outermost]
    further = 2 + 2 * mentions.type[mentions.outermost]
    # Outermost mentions share no word: switch a tag on where one begins, and off after its end.
    switches = further.new_zeros(words + 1).index_add_(0, first, further).index_add_(0, last + 1, -further)
    tags = switches[:-1].cumsum(0)
    tags[first[mentions.starts[mentions.outermost]]] -= 1
    return tags
