"""Packed words to padded windows, for parts that walk through windows word by word.

The way back is a mask: `padded[mask]` is packed.
"""

from __future__ import annotations

import torch
from torch import Tensor


def word_mask(word_counts: Tensor) -> Tensor:
    """(windows, longest): True at real words. There is at least one column, so that a first word exists."""
    longest = max(1, int(word_counts.max())) if len(word_counts) else 1
    return torch.arange(longest, device=word_counts.device) < word_counts[:, None]


def pad(packed: Tensor, mask: Tensor) -> Tensor:
    """(windows, longest, ...): packed rows (words, ...) in their windows, zero beyond each window's words."""
    padded = packed.new_zeros(*mask.shape, *packed.shape[1:])
    padded[mask] = packed
    return padded
