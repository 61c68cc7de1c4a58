"""The bi-encoder of BINDER (Zhang et al., 2023): types and spans meet in one vector space.

Spans, and the words that begin and end them, are compared with types by a scaled cosine:
`exp(s) * cos(item, type)`, with a learnt `s` for each of the three. A span is an entity of a type if it is
more similar to the type than the threshold is. See `contrast` for the losses.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.batch import Batch, window_of_word
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.part import Rows, type_rows
from spanwright.parts.spans.classes import NEVER, OwnTypes
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import EndTerm, SpanVectors
from spanwright.parts.spans.scorers.contrast import Items, contrast
from spanwright.parts.spans.scorers.scorer import Scorer, SpanScores, Templates
from spanwright.parts.spans.scorers.type_vectors import AtomicTypes, DescribedTypes, PrototypeTypes
from spanwright.settings.scorers import BiEncoderSettings

TypeSource = DescribedTypes | PrototypeTypes | AtomicTypes


@dataclass(frozen=True, slots=True)
class Compared:
    """Items of one kind compared with all types."""

    similarity: Tensor
    """(items, types)."""
    threshold: Tensor
    """(windows, types): items above it belong to the type."""


@dataclass(frozen=True, slots=True)
class TypeSide:
    """What items are compared with, by the kind of comparison."""

    vectors: dict[str, Tensor]
    """(types, size) unit vectors."""
    thresholds: dict[str, Tensor | None]
    """(types,); None where they are the similarities of anchors."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All that the bi-encoder knows about a batch."""

    spans: Compared
    starts: Compared | None
    ends: Compared | None


class Comparison(nn.Module):
    """Compares one kind of items (spans, first words or last words) with types."""

    tuned: Tensor | None

    def __init__(self, settings: BiEncoderSettings, *, types: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / settings.temperature)))
        learned, tuned = settings.threshold == "learned", settings.threshold == "tuned"
        self.thresholds = nn.Parameter(torch.zeros(types)) if learned else None
        self.register_buffer("tuned", torch.zeros(types) if tuned else None)

    def forward(self, items: Tensor, anchors: Tensor, types: Tensor, given: Tensor | None) -> Compared:
        """Compare items (items, size) and anchors (windows, size) with types (types, size), unit vectors.

        Given are the thresholds (types,), where they are numbers.
        """
        similarity = self._similarity(items, types)
        if given is None:
            return Compared(similarity, self._similarity(anchors, types))
        return Compared(similarity, given.expand(anchors.shape[0], -1))

    @property
    def given(self) -> Tensor | None:
        """(types,): the thresholds, where they are numbers."""
        return self.tuned if self.thresholds is None else self.thresholds

    def with_types(self, types: int) -> Comparison:
        """This comparison with the same weights for more types.

        A type that was not trained has no number of its own for a threshold: it gets the mean of the others.
        """
        other = copy.copy(self)
        # A shallow copy shares its tables of weights with the original, which keeps its own thresholds.
        other._parameters, other._buffers = dict(self._parameters), dict(self._buffers)
        if self.thresholds is not None:
            other.thresholds = nn.Parameter(_extended(self.thresholds.detach(), types))
        if self.tuned is not None:
            other.tuned = _extended(self.tuned, types)
        return other

    def _similarity(self, items: Tensor, types: Tensor) -> Tensor:
        """(items, types): the scaled cosine; dividing the products by the norm saves a copy of the items."""
        norms: Tensor = torch.linalg.vector_norm(items, dim=1, keepdim=True)
        return (items @ types.T) * (self.log_scale.exp() / norms.clamp_min(1e-12))


class BiEncoder(Scorer[Comparisons]):
    """Compares span vectors, and the words at their ends, with type vectors."""

    def __init__(
        self,
        settings: BiEncoderSettings,
        *,
        source: TypeSource,
        sizes: Sequence[int],
        state_width: int,
        vector_size: int,
    ) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        self.settings = settings
        self.source = source
        self.own = OwnTypes(sizes)
        types = sum(sizes)
        kinds = ("spans", "starts", "ends") if settings.positions else ("spans",)
        own = not settings.share_projections
        self.compare = nn.ModuleDict({kind: Comparison(settings, types=types) for kind in kinds})
        self.type_projections = nn.ModuleDict(
            {kind: nn.Linear(state_width, vector_size) for kind in (kinds if own else kinds[:1])}
        )
        self.word_projections = nn.ModuleDict(
            {kind: nn.Linear(state_width, vector_size) for kind in (kinds[1:] if own else ())}
        )
        self.dropout = nn.Dropout(settings.dropout)
        self._remembered: dict[str, Tensor] | None = None

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return set(self.compare)

    def named_rows(self) -> Rows:
        """One threshold, if there are any, and one state without text for each type."""
        types = type_rows(self.own.mask.shape[1])
        names = [f"compare.{kind}.{name}" for kind in self.compare for name in ("thresholds", "tuned")]
        return {name: (types,) for name in (*names, "source.states") if name in self.state_dict()}

    def train(self, mode: bool = True) -> BiEncoder:
        """Switch between training and inference; type vectors are computed again after a switch."""
        self._remembered = None
        return super().train(mode)

    def with_source(self, source: TypeSource, *, types: int) -> BiEncoder:
        """This scorer with the same weights for more types, which follow those it knows."""
        other = copy.copy(self)
        compare = nn.ModuleDict(
            {kind: comparison.with_types(types) for kind, comparison in self.comparisons.items()}
        )
        # A shallow copy shares its table of parts with the original, which keeps its own types.
        other._modules = {**self._modules, "source": source, "compare": compare, "own": OwnTypes((types,))}
        other._remembered = None
        return other.train(self.training)

    @property
    def comparisons(self) -> dict[str, Comparison]:
        """The comparisons by kind."""
        return {kind: part for kind, part in self.compare.items() if isinstance(part, Comparison)}

    def forward(
        self, vectors: SpanVectors, states: WordStates, batch: Batch, types: TypeSide | None = None
    ) -> Comparisons:
        """Compare everything in a batch with all types: its own, unless others are given."""
        types = self.type_side() if types is None else types
        spans: Compared = self.compare["spans"](
            vectors.spans, vectors.null, types.vectors["spans"], types.thresholds["spans"]
        )
        if not self.settings.positions:
            return Comparisons(spans, None, None)
        return Comparisons(
            spans,
            self._compare_words("starts", vectors.first, states.start, states.anchor, types),
            self._compare_words("ends", vectors.last, states.end, states.anchor, types),
        )

    def _compare_words(
        self, kind: str, projected: EndTerm | None, states: Tensor, anchors: Tensor, types: TypeSide
    ) -> Compared:
        if self.settings.share_projections:
            assert projected is not None  # build() lets no other representation through
            words, null = projected.words, projected.anchors
        else:
            words, null = self.word_projections[kind](states), self.word_projections[kind](anchors)
        compared: Compared = self.compare[kind](
            self.dropout(words), self.dropout(null), types.vectors[kind], types.thresholds[kind]
        )
        return compared

    def type_side(self) -> TypeSide:
        """What this scorer compares with."""
        thresholds = {kind: comparison.given for kind, comparison in self.comparisons.items()}
        return TypeSide(self._type_vectors(), thresholds)

    def _type_vectors(self) -> dict[str, Tensor]:
        """(types, size) unit vectors for each kind of comparison; remembered outside training."""
        if self._remembered is not None and not torch.is_grad_enabled():
            return self._remembered
        vectors = self.projected(self.source())
        if not self.training and not torch.is_grad_enabled():
            self._remembered = vectors
        return vectors

    def projected(self, states: Tensor) -> dict[str, Tensor]:
        """(types, size) unit vectors for each kind of comparison, from the states of types (types, width)."""
        single = "spans" if self.settings.share_projections else None
        return {
            kind: functional.normalize(self.dropout(self.type_projections[single or kind](states)), dim=1)
            for kind in self.compare
        }

    def losses(self, scores: Comparisons, batch: Batch) -> dict[str, Tensor]:
        """The terms of the objective: spans, and with positions starts and ends."""
        losses = {"spans": self._loss(scores.spans, _span_items(batch), batch)}
        if scores.starts is not None and scores.ends is not None:
            mentions, spans, words = batch.mentions, batch.spans, window_of_word(batch)
            for kind, compared, ends_of_spans, positions, visible in (
                ("starts", scores.starts, spans.first, mentions.first, mentions.starts),
                ("ends", scores.ends, spans.last, mentions.last, mentions.ends),
            ):
                gold = ends_of_spans[batch.golds.span]
                # An entity that a window cuts is no answer here, and its visible end is no wrong answer.
                items = Items(words, gold, batch.golds.type, positions[visible], mentions.type[visible])
                losses[kind] = self._loss(compared, items, batch)
        return losses

    def _loss(self, compared: Compared, items: Items, batch: Batch) -> Tensor:
        tuned = self.settings.threshold == "tuned"
        anchor = None if tuned else compared.threshold
        entity, threshold = contrast(compared.similarity, anchor, items, len(batch.word_counts))
        entity_mean = entity.sum() / max(1, len(entity))
        if tuned:
            return entity_mean
        own, share = self.own.of_windows(batch), self.settings.entity_share
        judged = threshold if own is None else threshold[own]
        return share * entity_mean + (1 - share) * judged.sum() / max(1, judged.numel())

    def probabilities(self, scores: Comparisons, batch: Batch) -> Tensor:
        """(spans, types): one half at the threshold; exactly 0 for the types of other corpora."""
        return self._margins(scores, batch).sigmoid()

    def _margins(self, scores: Comparisons, batch: Batch) -> Tensor:
        """(spans, types): how far spans are above their threshold, below 0 what is no entity.

        With `joint`, a span with an end below its threshold is no better than that end.
        """
        spans, own = batch.spans, self.own.of_windows(batch)
        margin = scores.spans.similarity - scores.spans.threshold[spans.window]
        if self.settings.joint and scores.starts is not None and scores.ends is not None:
            words = window_of_word(batch)
            for compared, position in ((scores.starts, spans.first), (scores.ends, spans.last)):
                end = (compared.similarity - compared.threshold[words])[position]
                margin = torch.where(end < 0, torch.minimum(margin, end), margin)
        return margin if own is None else margin.masked_fill(~own[spans.window], NEVER)

    def predict(self, scores: Comparisons, batch: Batch) -> Predictions:
        """The spans above their threshold; with `joint`, whose ends are above theirs as well."""
        margin = self._margins(scores, batch)
        span, type_ = (margin > 0).nonzero().unbind(1)
        return Predictions.of(
            batch.spans.take(span),
            type=type_,
            confidence=margin[span, type_].sigmoid(),
            # BINDER ranks by raw similarity (algorithm 1), which is comparable across windows.
            rank=scores.spans.similarity[span, type_],
        )

    def span_scores(self, scores: Comparisons, batch: Batch) -> SpanScores:
        """The similarity of each span to each type, and the thresholds of windows."""
        return SpanScores(scores.spans.similarity, scores.spans.threshold)

    def templates(self) -> Templates:
        """The vectors of the types that spans are compared with."""
        vectors: Tensor = self.type_projections["spans"](self.source())
        return Templates(vectors, torch.arange(len(vectors)))

    @property
    def limit_range(self) -> float | None:
        """No similarity is larger than its scale."""
        spans = self.comparisons["spans"]
        return None if spans.tuned is None else float(spans.log_scale.detach().exp())

    def limited(self, scores: Comparisons) -> Tensor:
        """(spans, types): the similarities of spans."""
        return scores.spans.similarity

    def set_limits(self, limits: Tensor) -> None:
        """Set the thresholds of spans, (types,)."""
        tuned = self.comparisons["spans"].tuned
        assert tuned is not None  # else there is no range to set them in
        tuned.copy_(limits)


def _extended(thresholds: Tensor, types: int) -> Tensor:
    return torch.cat([thresholds, thresholds.mean().expand(types - len(thresholds))])


def _span_items(batch: Batch) -> Items:
    golds = batch.golds
    return Items(batch.spans.window, golds.span, golds.type, golds.span, golds.type)
