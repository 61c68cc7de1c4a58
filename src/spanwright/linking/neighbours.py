"""The nearest of many vectors: all are compared, or, above 100,000, those that an index leads to.

The index is that of `usearch` (extra `linking`), a graph of neighbours: a small wheel without OpenMP, kept
up, with 16-bit numbers and a file of its own. Below the limit numpy is enough, and nothing is missed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Floats32, Integers
from spanwright.errors import MissingExtraError, ModelError

StoredVectors = Floats32 | npt.NDArray[np.float16]
"""Many vectors are kept in 16 bits, as there are gigabytes of them."""
MOST_COMPARED = 100_000
"""Vectors up to which all are compared."""
_CONNECTIVITY, _WIDTH_OF_BUILDING, _WIDTH_OF_SEARCH = 32, 128, 128
"""Neighbours of each vector in the graph, and how many vectors are kept in view."""


class Neighbours:
    """Unit vectors, `(vectors, size)`, and the search for those with the greatest cosine."""

    def __init__(self, vectors: StoredVectors, index: Any = None) -> None:
        """`index` is one of `usearch` that has the same vectors under their numbers."""
        self._vectors = vectors
        self._index = index

    @classmethod
    def of(cls, vectors: Floats32) -> Neighbours:
        """With an index where there are so many vectors that one is needed."""
        return cls(vectors, _built(vectors) if len(vectors) > MOST_COMPARED else None)

    @classmethod
    def stored(cls, vectors: StoredVectors, file: Path) -> Neighbours:
        """With the index that `write` has written, if there is one."""
        if not file.exists():
            return cls(vectors)
        index = _usearch().restore(str(file))
        if index is None or (len(index), index.ndim) != vectors.shape:
            raise ModelError(f"{file}: not the index of {len(vectors):,} vectors of size {vectors.shape[1]}")
        return cls(vectors, index)

    def write(self, file: Path) -> None:
        """Write the index, if there is one."""
        if self._index is not None:
            self._index.save(str(file))

    def search(self, wanted: Floats32, most: int) -> list[Integers]:
        """The numbers of the nearest vectors of each wanted one, in no order."""
        most = min(most, len(self._vectors))
        if self._index is None:
            cosines = wanted @ self._vectors.T
            return list(np.argpartition(-cosines, most - 1, axis=1)[:, :most])
        # One at a time, because several are answered in the form of a table, with holes.
        return [self._index.search(each, most, threads=1).keys.astype(np.int64) for each in wanted]


def _built(vectors: Floats32) -> Any:
    index = _usearch()(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="bf16",
        connectivity=_CONNECTIVITY,
        expansion_add=_WIDTH_OF_BUILDING,
        expansion_search=_WIDTH_OF_SEARCH,
    )
    index.add(np.arange(len(vectors)), vectors.astype(np.float32, copy=False))
    return index


def _usearch() -> Any:
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtraError(
            f"searching more than {MOST_COMPARED:,} vectors of names", "usearch", "linking"
        ) from None
    return Index
