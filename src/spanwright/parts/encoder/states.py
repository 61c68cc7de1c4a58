"""What the encoder hands on: a state for every word and one for every window."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class WordStates:
    """Encoder states of packed words."""

    start: Tensor
    """(words, width): the state of each word where it begins a span."""
    end: Tensor
    """(words, width): the state of each word where it ends a span."""
    anchor: Tensor
    """(windows, width): the state of the window's first special piece, such as [CLS]."""
    layers: tuple[Tensor, ...] = ()
    """(words, width) each: what the top blocks of the encoder read, lowest first; of as many blocks as the
    representation asks for."""
    piece_mean: Tensor | None = None
    """(words, width): the mean of the states of each word's pieces, where the representation asks for it."""
    piece_count: Tensor | None = None
    """(words, 1): how many pieces each word has; with the means."""
