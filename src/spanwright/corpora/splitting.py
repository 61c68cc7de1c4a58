"""Splitting a corpus by document, with each type in every part in proportion."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from spanwright.errors import InputError
from spanwright.text import Document


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], *, seed: int = 1
) -> list[list[Document]]:
    """Split documents into parts whose sizes have the ratio of `shares`.

    Types are stratified from the rarest to the commonest, and documents without an entity last: a document
    goes to the part that lacks most, relative to its share, of the type at hand. Deterministic in the seed;
    each part keeps the order of the documents.
    """
    if len(shares) < 2 or any(share <= 0 for share in shares):
        raise InputError(f"shares {list(shares)}: legal are two or more numbers above 0, such as 80 10 10")
    if len(documents) < len(shares):
        raise InputError(f"{len(documents)} documents cannot be split into {len(shares)} parts")
    weights = [share / sum(shares) for share in shares]
    order = list(range(len(documents)))
    random.Random(seed).shuffle(order)
    part_of: dict[int, int] = {}
    filled: list[Counter[str]] = [Counter() for _ in shares]
    sizes = [0] * len(shares)
    counts = [Counter(entity.type for entity in document.entities) for document in documents]
    for type_, positions in _by_rarest_type(order, counts):
        for position in positions:
            part = _neediest(weights, filled, sizes, type_)
            part_of[position] = part
            filled[part].update(counts[position])
            sizes[part] += 1
    return [[documents[p] for p in sorted(part_of) if part_of[p] == part] for part in range(len(shares))]


def _by_rarest_type(order: list[int], counts: list[Counter[str]]) -> list[tuple[str | None, list[int]]]:
    """Documents under the rarest type that they hold, the rarest type first."""
    totals = sum(counts, Counter[str]())
    groups: dict[str | None, list[int]] = {
        type_: [] for type_ in sorted(totals, key=lambda t: (totals[t], t))
    }
    groups[None] = []
    for position in order:
        rarest = min(counts[position], key=lambda type_: (totals[type_], type_), default=None)
        groups[rarest].append(position)
    return list(groups.items())


def _neediest(weights: list[float], filled: list[Counter[str]], sizes: list[int], type_: str | None) -> int:
    """The part that has least of a type for its share; among equals, the one with fewest documents."""

    def fullness(part: int) -> tuple[float, float, int]:
        entities = filled[part][type_] / weights[part] if type_ is not None else 0.0
        return entities, sizes[part] / weights[part], part

    return min(range(len(weights)), key=fullness)
