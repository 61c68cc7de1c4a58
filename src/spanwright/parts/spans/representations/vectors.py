"""What a representation hands on: a vector for every candidate span and what scorers compare it with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor


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
    """(samples, spans, size): vectors drawn for each span, in training behind a bottleneck."""
    divergence: Tensor | None = None
    """(spans,): how far the distribution of each span is from the prior, in training behind a bottleneck."""

    def sampled(self) -> list[SpanVectors]:
        """These vectors once for each sample, with the drawn vectors in place of the spans'."""
        if self.samples is None:
            return [self]
        return [replace(self, spans=sample, samples=None) for sample in self.samples.unbind()]
