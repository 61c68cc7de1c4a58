"""Softmax: every span has one type or none."""

from __future__ import annotations

from collections.abc import Sequence, Set

import torch
from torch import Tensor
from torch.nn import functional

from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import RARE, last_layer, last_layer_rows, mlp, start_at
from spanwright.parts.part import Rows
from spanwright.parts.spans.classes import Classes
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.scorer import Scorer, SpanScores, Templates
from spanwright.settings.scorers import SoftmaxSettings


class Softmax(Scorer[Tensor]):
    """An MLP with one class per type and one for no entity.

    Several corpora share all but its last layer, of which each has the rows of its own classes.
    """

    def __init__(self, settings: SoftmaxSettings, *, vector_size: int, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        self.settings = settings
        self.classes = Classes(sizes)
        self.layers = mlp((vector_size, *settings.hidden, len(self.classes)), dropout=settings.dropout)
        start_at(self.layers, self.classes.none, RARE)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {"spans"}

    def named_rows(self) -> Rows:
        """One row of the last layer for each class."""
        return last_layer_rows(self.layers, self.classes.rows)

    def forward(self, vectors: SpanVectors, states: WordStates, batch: Batch) -> Tensor:
        """(spans, classes): logits; those of foreign classes have no probability."""
        return self.classes.masked(self.layers(vectors.spans), batch)

    def losses(self, logits: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy of all candidate spans."""
        total = functional.cross_entropy(logits, self._targets(batch), reduction="sum")
        parts = len(batch.word_counts) if self.settings.reduction == "windows" else max(1, len(logits))
        return {"spans": total / parts}

    def _targets(self, batch: Batch) -> Tensor:
        """(spans,) classes or (spans, classes) probabilities."""
        if self.settings.smoothing:
            return smoothed_targets(batch, self.classes, smoothing=self.settings.smoothing)
        if batch.golds.probability is not None:
            return self.classes.probabilities(batch)
        return self.classes.targets(batch)

    def probabilities(self, logits: Tensor, batch: Batch) -> Tensor:
        """(spans, types): the probability of each type."""
        return logits.softmax(dim=1).index_select(1, self.classes.of_type)

    def predict(self, logits: Tensor, batch: Batch) -> Predictions:
        """The spans whose best class is a type, with its probability."""
        best = logits.argmax(dim=1)
        types = self.classes.type_of[best]
        found = (types >= 0).nonzero().squeeze(1)
        probabilities = logits.index_select(0, found).softmax(dim=1)
        confidence = probabilities.gather(1, best[found, None]).squeeze(1)
        spans = batch.spans.take(found)
        return Predictions.of(spans, type=types[found], confidence=confidence, rank=confidence)

    def span_scores(self, logits: Tensor, batch: Batch) -> SpanScores:
        """The logit of each type above that of no entity."""
        none = logits.gather(1, self.classes.none_of_spans(batch)[:, None])
        return SpanScores((logits - none)[:, self.classes.of_type], None)

    def templates(self) -> Templates:
        """The rows of the last layer, one for each class."""
        return Templates(last_layer(self.layers).weight, self.classes.type_of)


def smoothed_targets(batch: Batch, classes: Classes, *, smoothing: float) -> Tensor:
    """(spans, classes): the probability of each class, by boundary smoothing (Zhu and Li, 2022).

    An entity gives `smoothing / (4 d D)` to each span whose first and last word are, taken together, d words
    away from its own, for d = 1 .. D. A place holds 4 d such spans, unless the text or the order of the two
    words forbids some: what those would get stays with the entity.

    What several entities give to a span adds up; a type has at most 1, and types that sum up to more share 1.
    Entities that are no candidates, such as too wide ones, give to candidates all the same, and what is given
    to spans that are no candidates is in no loss.
    """
    near = batch.neighbours
    assert near is not None  # Settings.near asks for them where smoothing needs them
    # The entity itself stands before its neighbours.
    given = near.inside[:, 1:] * smoothing / (4 * near.distance[1:] * near.distance.max())
    mass = torch.cat([1 - given.sum(1, keepdim=True), given], dim=1)
    class_ = classes.of_type[batch.mentions.type[near.mention], None].expand_as(mass)
    targets = mass.new_zeros(len(batch.spans), len(classes))
    targets.index_put_((near.span, class_[near.candidate]), mass[near.candidate], accumulate=True)
    return classes.completed(targets.clamp_(max=1), batch)
