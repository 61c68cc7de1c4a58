"""Texts about types as padded pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanwright.arrays import Integers
from spanwright.batches.batch import Array
from spanwright.batches.pieces import PieceEncoder


def described_pieces(texts: Sequence[str], pieces: PieceEncoder, longest: int) -> tuple[Integers, Array]:
    """(texts, pieces): ids of one description per type, and where they are; only a text longer than the
    encoder can read is cut."""
    room = longest - pieces.special_count
    rows = [[*pieces.prefix, *pieces.encode_text(text)[:room], *pieces.end] for text in texts]
    return padded_rows(rows, pieces.padding)


def padded_rows(rows: Sequence[Sequence[int]], padding: int) -> tuple[Integers, Array]:
    """(rows, longest): the rows with padding after them, and a mask that is True where there is none."""
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), padding, dtype=np.int64)
    mask = np.zeros((len(rows), longest), dtype=bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = True
    return ids, mask
