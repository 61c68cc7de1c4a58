"""Span vectors, and the contracts of the parts that make them and of those that change them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from torch import Tensor

from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.part import Part


@dataclass(frozen=True, slots=True)
class EndTerm:
    """What a word at one end of a span adds to the span's vector."""

    words: Tensor
    """(words, size): the term of each word."""
    anchors: Tensor
    """(windows, size): the term of each window's anchor."""


@dataclass(frozen=True, slots=True)
class SpanVectors:
    """Vectors of the candidate spans of a batch."""

    spans: Tensor
    """(spans, size): the vector of each candidate span."""
    null: Tensor
    """(windows, size): the vector of a window's anchor, as if it were a span of one word: scorers with a
    threshold compare spans with it."""
    first: EndTerm | None
    """The terms of first words; None where a representation has none."""
    last: EndTerm | None
    """The terms of last words; None where a representation has none."""
    samples: Tensor | None = None
    """(samples, spans, size): vectors drawn for each span, in training after a bottleneck."""
    divergence: Tensor | None = None
    """(spans,): how far the distribution of each span is from the prior, in training after a bottleneck."""

    def sampled(self) -> list[SpanVectors]:
        """These vectors once for each sample, with the drawn vectors in place of the spans'."""
        if self.samples is None:
            return [self]
        return [replace(self, spans=sample, samples=None) for sample in self.samples.unbind()]


class Representation(Part, ABC):
    """Makes the vectors of candidate spans from the states of their words."""

    size: int
    """Of a span vector."""
    evidence_size: int

    @abstractmethod
    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans, and of the windows' anchors as if they were spans."""

    @abstractmethod
    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): what the vectors of some spans are made of, before any projection."""


class Transform(Part, ABC):
    """Changes span vectors on their way to the scorer."""

    size: int
    """Of the vectors that leave it."""

    @abstractmethod
    def forward(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The changed vectors of candidate spans and of the windows' anchors."""
