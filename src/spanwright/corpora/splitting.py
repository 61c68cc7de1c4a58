"""Splitting a corpus by article, with each type in every part in proportion."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from spanwright.corpora.articles import articles, given_id
from spanwright.errors import InputError
from spanwright.text import Document


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], *, seed: int = 1
) -> list[list[Document]]:
    """Split documents into parts whose sizes have the ratio of `shares`.

    Passages of one article go to the same part. Types are stratified from the rarest to the commonest, and
    articles without an entity last: an article goes to the part that lacks most, relative to its share, of
    the type at hand. Deterministic in the seed; each part keeps the order of the documents.
    """
    if len(shares) < 2 or any(share <= 0 for share in shares):
        raise InputError(f"shares {list(shares)}: expected two or more numbers above 0, such as 80 10 10")
    together = _by_article(documents)
    if len(together) < len(shares):
        passages = f" of {len(together)} articles" if len(together) < len(documents) else ""
        raise InputError(f"{len(documents)} documents{passages} cannot be split into {len(shares)} parts")
    weights = [share / sum(shares) for share in shares]
    order = list(range(len(together)))
    random.Random(seed).shuffle(order)
    # The largest first, as the others can then fill what is lacking.
    order.sort(key=lambda number: len(together[number]), reverse=True)
    part_of: dict[int, int] = {}
    filled: list[Counter[str]] = [Counter() for _ in shares]
    sizes = [0] * len(shares)
    counts = [Counter(entity.type for p in own for entity in documents[p].entities) for own in together]
    for type_, chosen in _by_rarest_type(order, counts):
        for number in chosen:
            part = _neediest(weights, filled, sizes, type_)
            part_of |= dict.fromkeys(together[number], part)
            filled[part].update(counts[number])
            sizes[part] += len(together[number])
    return [[documents[p] for p in sorted(part_of) if part_of[p] == part] for part in range(len(shares))]


def _by_article(documents: Sequence[Document]) -> list[list[int]]:
    """The positions of the documents of each article; a document of none stands alone."""
    together: dict[str | int, list[int]] = {}
    for position, article in enumerate(articles([given_id(document) for document in documents])):
        together.setdefault(position if article is None else article, []).append(position)
    return list(together.values())


def _by_rarest_type(order: list[int], counts: list[Counter[str]]) -> list[tuple[str | None, list[int]]]:
    """Articles under the rarest type that they hold, the rarest type first."""
    totals = sum(counts, Counter[str]())
    groups: dict[str | None, list[int]] = {
        type_: [] for type_ in sorted(totals, key=lambda t: (totals[t], t))
    }
    groups[None] = []
    for number in order:
        rarest = min(counts[number], key=lambda type_: (totals[type_], type_), default=None)
        groups[rarest].append(number)
    return list(groups.items())


def _neediest(weights: list[float], filled: list[Counter[str]], sizes: list[int], type_: str | None) -> int:
    """The part that has least of a type for its share; among equals, the one with fewest documents."""

    def fullness(part: int) -> tuple[float, float, int]:
        entities = filled[part][type_] / weights[part] if type_ is not None else 0.0
        return entities, sizes[part] / weights[part], part

    return min(range(len(weights)), key=fullness)
