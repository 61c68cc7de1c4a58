"""`SpanModel`: an encoder, span scores, and the auxiliaries that learn with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence, Set
from typing import Any, ClassVar, Generic

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Batch, Spans
from spanwright.parts.beside.conditional import Conditioned
from spanwright.parts.beside.tagger import WordTagger
from spanwright.parts.beside.writer.auto_encoders import SpanVae
from spanwright.parts.encoder.encoder import Encoder, WordStates
from spanwright.parts.part import Part, Role, Roles, roles_of
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.pruning import PRUNING, Pruner
from spanwright.parts.spans.representations.vectors import Representation
from spanwright.parts.spans.scorers.scorer import Scorer, Scores
from spanwright.settings.auxiliaries import TAGS
from spanwright.settings.settings import Output
from spanwright.settings.transforms import COMPRESSION


class Auxiliary(Part, ABC):
    """A part of another package that learns beside the spans, and is not asked when entities are found."""

    role: ClassVar[Role | None] = "auxiliary"

    @abstractmethod
    def losses(self, states: WordStates, batch: Batch) -> dict[str, Tensor]:
        """The loss terms by name, each of its `terms`."""


class SpanHead(Part, Generic[Scores]):
    """Span vectors and their scores; of a part of the candidates, if there is a pruner."""

    def __init__(
        self,
        *,
        representation: Representation,
        scorer: Scorer[Scores],
        pruner: Pruner | None = None,
        conditioned: Conditioned | None = None,
    ) -> None:
        super().__init__()
        self.representation = representation
        self.scorer = scorer
        self.pruner = pruner
        self.conditioned = conditioned

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return _terms(self.representation, self.scorer, self.pruner, self.conditioned)

    def forward(self, states: WordStates, batch: Batch) -> Scores:
        """Scores of the candidate spans, in the form of the scorer."""
        scores: Scores = self.scorer(self.representation(states, batch.spans), states, batch)
        return scores

    def losses(self, states: WordStates, batch: Batch, terms: Collection[str]) -> dict[str, Tensor]:
        """The loss terms by name; those of auxiliaries only where asked for."""
        losses: dict[str, Tensor] = {}
        if self.pruner is not None:
            logits = self.pruner(states, batch.spans)
            losses[PRUNING] = self.pruner.loss(logits, batch)
            batch = self.pruner.pruned(logits, batch)
        vectors = self.representation(states, batch.spans)
        if vectors.divergence is not None:
            losses[COMPRESSION] = vectors.divergence.sum() / max(1, len(vectors.divergence))
        if self.conditioned is not None and self.conditioned.terms & set(terms):
            losses |= self.conditioned.losses(vectors.spans, batch)
        scored = [
            self.scorer.losses(self.scorer(sample, states, batch), batch) for sample in vectors.sampled()
        ]
        return losses | {name: _mean([sample[name] for sample in scored]) for name in scored[0]}

    def unconditioned(self) -> SpanHead[Scores]:
        """This head, with the same weights, without a conditional auto-encoder."""
        return SpanHead(representation=self.representation, scorer=self.scorer, pruner=self.pruner)

    def predict(self, states: WordStates, batch: Batch) -> Predictions:
        """The candidate spans taken for entities."""
        batch = self.pruned(states, batch)
        return self.scorer.predict(self(states, batch), batch)

    def likely(self, states: WordStates, batch: Batch, lowest: float) -> Predictions:
        """Every candidate span with every type of at least the lowest probability."""
        batch = self.pruned(states, batch)
        probabilities = self.scorer.probabilities(self(states, batch), batch)
        span, type_ = (probabilities >= lowest).nonzero().unbind(1)
        found = probabilities[span, type_]
        return Predictions.of(batch.spans.take(span), type=type_, confidence=found, rank=found)

    def pruned(self, states: WordStates, batch: Batch) -> Batch:
        """The batch with the candidates that are left to the representation."""
        if self.pruner is None:
            return batch
        return self.pruner.pruned(self.pruner(states, batch.spans), batch)


class SpanModel(Part):
    """Finds entities as spans, as tags of words, or learns both and answers with one of them."""

    def __init__(
        self,
        *,
        encoder: Encoder,
        spans: SpanHead[Any] | None,
        tagger: WordTagger | None,
        output: Output,
        writer: SpanVae | None = None,
        others: Sequence[Auxiliary] = (),
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.spans = spans
        self.tagger = tagger
        self.writer = writer
        self.others = nn.ModuleList(others)
        self.output = output

    @property
    def device(self) -> torch.device:
        """Where the weights are, and batches have to be."""
        return next(self.parameters()).device

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return _terms(self.spans, self.tagger, self.writer, *self._others)

    @property
    def _others(self) -> Iterator[Auxiliary]:
        """The auxiliaries of other packages."""
        return (other for other in self.others if isinstance(other, Auxiliary))

    def losses(self, batch: Batch, terms: Collection[str]) -> dict[str, Tensor]:
        """The terms of the training objective by name; a head none of whose terms is asked for stays idle."""
        states = self.encoder(batch)
        losses: dict[str, Tensor] = {}
        if self.tagger is not None and TAGS in terms:
            losses[TAGS] = self.tagger.loss(self.tagger(states), batch)
        if self.spans is not None and self.spans.terms & set(terms):
            losses |= self.spans.losses(states, batch, terms)
        if self.writer is not None and self.writer.terms & set(terms):
            assert batch.rewrites is not None  # training/writer/writing.py makes them
            losses |= self.writer.losses(self.evidence(states, batch.rewrites.spans), batch.rewrites)
        for other in self._others:
            if other.terms & set(terms):
                losses |= other.losses(states, batch)
        return losses

    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): what the representation sees of some spans, as the writer reads it."""
        assert self.spans is not None  # settings allow no writer without spans
        return self.spans.representation.evidence(states, spans)

    def predict(self, batch: Batch) -> Predictions:
        """The spans taken for entities."""
        states = self.encoder(batch)
        if self.output == "tags":
            assert self.tagger is not None  # build() sees to it
            return self.tagger.predict(self.tagger(states), batch)
        assert self.spans is not None
        return self.spans.predict(states, batch)

    def likely(self, batch: Batch, lowest: float) -> Predictions:
        """All that is an entity with at least the lowest probability, whatever excludes each other.

        A tagger has no probabilities of spans: those of its answers stand for them.
        """
        if self.output == "tags":
            found = self.predict(batch)
            return found.take((found.confidence >= lowest).nonzero().squeeze(1))
        assert self.spans is not None
        return self.spans.likely(self.encoder(batch), batch, lowest)

    def roles(self) -> Roles:
        """Parameters that learn, by role; each role has its own learning rate."""
        return roles_of(self)


def _terms(*parts: Part | None) -> Set[str]:
    """The loss terms of those parts that there are."""
    return {term for part in parts if part is not None for term in part.terms}


def _mean(values: list[Tensor]) -> Tensor:
    return torch.stack(values).mean() if len(values) > 1 else values[0]
