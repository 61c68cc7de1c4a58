"""Softmax: every span has one type or none."""

from __future__ import annotations

from collections.abc import Sequence, Set

from torch import Tensor
from torch.nn import functional

from spanwright.parts.batch import Batch
from spanwright.parts.encoder.states import WordStates
from spanwright.parts.layers.mlp import RARE, last_layer, mlp, start_at
from spanwright.parts.spans.classes import Classes
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.scorer import Scorer, SpanScores, Templates
from spanwright.parts.spans.scorers.smoothing import smoothed_targets
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
