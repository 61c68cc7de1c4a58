"""Names by their character n-grams: the cosine of tf-idf vectors, searched through posting lists of numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Booleans, Floats32, Integers

_BUCKETS = 1 << 20
"""N-grams are hashed; so many buckets that two of a name hardly ever share one."""
_LENGTHS = (2, 3)
_BUDGET = 100_000
"""Postings that a search reads: the rarest n-grams first, and the others only weigh what these have found."""


class NgramIndex:
    """Posting lists of names, and the search for the most similar ones."""

    def __init__(self, keys: Sequence[str], stored: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        """Keys are names as `normal_key` gives them; `stored` are the `arrays` of an index of these keys."""
        self._keys = keys
        made = stored or _posting_lists(keys)
        self._rows: npt.NDArray[np.int32] = made["rows"]
        """Of all n-grams, one after the other."""
        self._starts: Integers = made["starts"]
        """Where the rows of each bucket begin, `(buckets + 1,)`."""
        self._weight: Floats32 = made["bucket_weight"]
        """How rare each bucket is, `(buckets,)`."""
        self._norm: Floats32 = made["norm"]
        """The length of each name's vector, `(names,)`."""

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What the index is made of."""
        return {
            "rows": self._rows,
            "starts": self._starts,
            "bucket_weight": self._weight,
            "norm": self._norm,
        }

    def search(self, key: str, most: int) -> Integers:
        """The positions of the most similar names, the best first.

        The rarest n-grams are read first, and no more of them once there are enough postings: of a million
        names, those that share only frequent n-grams with the key are not looked at.
        """
        grams = _grams([key])[1]
        lists = [self._rows[self._starts[gram] : self._starts[gram + 1]] for gram in grams]
        order = sorted(range(len(grams)), key=lambda place: len(lists[place]))
        lengths = np.cumsum([len(lists[place]) for place in order])
        read = order[: max(1, int(np.searchsorted(lengths, _BUDGET, side="right")))]
        if not read:
            return np.zeros(0, dtype=np.int64)
        rows = np.concatenate([lists[place] for place in read])
        weights = np.repeat(self._weight[grams[read]] ** 2, [len(lists[place]) for place in read])
        return self._highest(rows, weights, most)

    def _highest(self, rows: npt.NDArray[np.int32], weights: Floats32, most: int) -> Integers:
        """The rows with the greatest sums of weights for their length, the greatest first."""
        sums = np.bincount(rows, weights=weights)
        found = np.flatnonzero(sums > 0)  # several times as fast as without the comparison
        scores = sums[found] / self._norm[found]
        if len(found) > most:
            kept = np.sort(np.argpartition(scores, -most)[-most:])
            found, scores = found[kept], scores[kept]
        return found[np.argsort(-scores, kind="stable")]

    def similarities(self, key: str, rows: Integers) -> Floats32:
        """The cosines of a key with some of the names."""
        own = _grams([key])[1]
        norm = float(np.sqrt((self._weight[own] ** 2).sum()))
        owner, grams = _grams([self._keys[row] for row in rows.tolist()])
        shared = np.isin(grams, own)
        sums = np.bincount(owner[shared], weights=self._weight[grams[shared]] ** 2, minlength=len(rows))
        cosines: Floats32 = (sums / np.maximum(self._norm[rows] * norm, 1e-9)).astype(np.float32)
        return cosines


def _posting_lists(keys: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    owner, grams = _grams(keys)
    order = np.argsort(grams, kind="stable")
    starts = np.searchsorted(grams[order], np.arange(_BUCKETS + 1))
    weight = np.log((1 + len(keys)) / (1 + np.diff(starts))).astype(np.float32) + 1
    squares = np.bincount(owner, weights=weight[grams] ** 2, minlength=len(keys))
    return {
        "rows": owner[order].astype(np.int32),
        "starts": starts,
        "bucket_weight": weight,
        "norm": np.sqrt(np.maximum(squares, 1e-9)).astype(np.float32),
    }


def _grams(keys: Sequence[str]) -> tuple[Integers, Integers]:
    """The distinct pairs of a key's position and the bucket of one of its n-grams."""
    text = "".join(f" {key} \n" for key in keys)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    ends = codes == 10
    owner = np.cumsum(ends) - ends
    pairs = [_windows(codes, owner, length) for length in _LENGTHS]
    joined = _distinct(np.concatenate(pairs))
    return joined // _BUCKETS, joined % _BUCKETS


def _distinct(values: Integers) -> Integers:
    """The distinct values, sorted; `numpy.unique` hashes them, which takes several times as long."""
    ordered = np.sort(values)
    rising: Booleans = np.diff(ordered, prepend=ordered[:1] - 1) > 0
    return ordered[rising]


def _windows(codes: Integers, owner: Integers, length: int) -> Integers:
    """Position and bucket of all n-grams of a length, as one number each."""
    count = max(0, len(codes) - length)
    hashed = np.full(count, length, dtype=np.int64)
    inside = np.ones(count, dtype=bool)
    for offset in range(length):
        part = codes[offset : offset + count]
        hashed = (hashed * 1_000_003 + part) & 0x7FFFFFFFFFF
        inside &= part != 10
    return owner[:count][inside] * _BUCKETS + (hashed[inside] ^ hashed[inside] >> 21) % _BUCKETS
