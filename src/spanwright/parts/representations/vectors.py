"""What a representation hands on: a vector for every candidate span and what scorers compare it with."""

from __future__ import annotations

from dataclasses import dataclass

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
