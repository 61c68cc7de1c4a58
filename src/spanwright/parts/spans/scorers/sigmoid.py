"""Sigmoid: every span has any number of types, each judged on its own (the classifier of Joint-IB)."""

from __future__ import annotations

from collections.abc import Sequence, Set

import torch
from torch import Tensor
from torch.nn import functional

from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import RARE, last_layer, last_layer_rows, mlp, start_at
from spanwright.parts.part import Rows, type_rows
from spanwright.parts.spans.classes import OwnTypes
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.scorer import Scorer, SpanScores, Templates
from spanwright.settings.scorers import SigmoidSettings

_CERTAIN = 1e-7
"""A threshold this near to 0 or 1 counts as this far from it, as its logit would be infinite."""
_LOGIT_LIMIT = 18.0
"""Where the probability of a logit, in single precision, is 1: no span exceeds it."""


class Sigmoid(Scorer[Tensor]):
    """An MLP with one probability per type."""

    tuned: Tensor | None
    """(types,): the probability that entities of each type exceed; None where it is one half."""

    def __init__(self, settings: SigmoidSettings, *, vector_size: int, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        self.settings = settings
        self.own = OwnTypes(sizes)
        types = sum(sizes)
        self.layers = mlp((vector_size, *settings.hidden, types), dropout=settings.dropout)
        start_at(self.layers, slice(None), -RARE)
        self.register_buffer("tuned", torch.full((types,), 0.5) if settings.threshold == "tuned" else None)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {"spans"}

    def named_rows(self) -> Rows:
        """One row of the last layer, and a threshold if it is tuned, for each type."""
        types = type_rows(last_layer(self.layers).out_features)
        return last_layer_rows(self.layers, types) | ({} if self.tuned is None else {"tuned": (types,)})

    def forward(self, vectors: SpanVectors, states: WordStates, batch: Batch) -> Tensor:
        """(spans, types): logits."""
        logits: Tensor = self.layers(vectors.spans)
        return logits

    def losses(self, logits: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Binary cross entropy of all pairs of candidate span and type."""
        golds, targets = batch.golds, torch.zeros_like(logits)
        likely = targets.new_ones(()) if golds.probability is None else golds.probability
        targets.index_put_((golds.span, golds.type), likely)
        own = self._own_of_spans(batch)
        weight = None if own is None else own.to(logits.dtype)
        total = functional.binary_cross_entropy_with_logits(logits, targets, weight, reduction="sum")
        pairs = logits.numel() if own is None else int(own.sum())
        return {"spans": total / (len(batch.word_counts) if self._by_windows else max(1, pairs))}

    @property
    def _by_windows(self) -> bool:
        return self.settings.reduction == "windows"

    def _own_of_spans(self, batch: Batch) -> Tensor | None:
        """(spans, types): True at the types of each candidate's corpus; None where all have the same."""
        own = self.own.of_windows(batch)
        return None if own is None else own[batch.spans.window]

    def probabilities(self, logits: Tensor, batch: Batch) -> Tensor:
        """(spans, types): the probability of each type; exactly 0 for those of other corpora."""
        own, found = self._own_of_spans(batch), logits.sigmoid()
        return found if own is None else found * own

    def predict(self, logits: Tensor, batch: Batch) -> Predictions:
        """All pairs of span and type whose probability exceeds the threshold of the type."""
        # Compared as logits: only those of the few pairs that are found become probabilities.
        threshold = 0.0 if self.tuned is None else self.tuned.logit()
        found, own = logits > threshold, self._own_of_spans(batch)
        span, type_ = (found if own is None else found & own).nonzero().unbind(1)
        confidence = logits[span, type_].sigmoid()
        return Predictions.of(batch.spans.take(span), type=type_, confidence=confidence, rank=confidence)

    def span_scores(self, logits: Tensor, batch: Batch) -> SpanScores:
        """The logit of each type above that of its threshold."""
        threshold = 0.0 if self.tuned is None else self.tuned.logit(eps=_CERTAIN)
        return SpanScores(logits - threshold, None)

    def templates(self) -> Templates:
        """The rows of the last layer, one for each type."""
        weight = last_layer(self.layers).weight
        return Templates(weight, torch.arange(len(weight)))

    @property
    def limit_range(self) -> float | None:
        """Limits are logits: most probabilities crowd near 0, where steps of them could not part them."""
        return None if self.tuned is None else _LOGIT_LIMIT

    def limited(self, logits: Tensor) -> Tensor:
        """(spans, types): the logits."""
        return logits

    def set_limits(self, limits: Tensor) -> None:
        """Set the thresholds (types,), given as logits."""
        assert self.tuned is not None  # else there is no range to set them in
        self.tuned.copy_(limits.sigmoid())
