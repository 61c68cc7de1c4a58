"""Splitting a corpus by article, with each type in every part in proportion."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import frexp, isfinite

from spanwright.corpora.articles import articles, given_id
from spanwright.errors import InputError, counted
from spanwright.text import Document

_Amounts = dict[str | None, float]
"""Of entities of each type, and of documents (None), as shares of the whole corpus."""


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], *, seed: int = 1
) -> list[list[Document]]:
    """Split documents into parts whose sizes have the ratio of `shares`.

    Passages of one article go to the same part. One by one, the largest first, articles go to the part that
    lacks most, for its share, of what they hold: entities of each type, and documents. No part stays empty.
    Deterministic in the seed; each part keeps the order of the documents.
    """
    if len(shares) < 2 or not all(isfinite(share) and share > 0 for share in shares):
        raise InputError(f"shares {list(shares)}: expected two or more numbers above 0, such as 80 10 10")
    together = _by_article(documents)
    if len(together) < len(shares):
        passages = f" of {counted(len(together), 'article')}" if len(together) < len(documents) else ""
        raise InputError(
            f"{counted(len(documents), 'document')}{passages} cannot be split into {len(shares)} parts"
        )
    weights = [share / sum(shares) for share in shares]
    held = _held([[documents[position] for position in own] for own in together])
    parts: list[list[int]] = [[] for _ in shares]
    for own, part in zip(together, _dealt(held, weights, seed), strict=True):
        parts[part] += own
    return [[documents[position] for position in sorted(positions)] for positions in parts]


def _by_article(documents: Sequence[Document]) -> list[list[int]]:
    """The positions of the documents of each article; a document of none stands alone."""
    together: dict[str | int, list[int]] = {}
    for position, article in enumerate(articles([given_id(document) for document in documents])):
        together.setdefault(position if article is None else article, []).append(position)
    return list(together.values())


def _held(grouped: Sequence[Sequence[Document]]) -> list[_Amounts]:
    """What each article holds."""
    counts = [
        Counter[str | None](entity.type for document in own for entity in document.entities)
        + Counter({None: len(own)})
        for own in grouped
    ]
    totals = sum(counts, Counter[str | None]())
    return [{kind: count / totals[kind] for kind, count in own.items()} for own in counts]


def _dealt(held: Sequence[_Amounts], weights: Sequence[float], seed: int) -> list[int]:
    """The part that each article goes to."""
    order = list(range(len(held)))
    random.Random(seed).shuffle(order)
    # The largest first, as the others can then fill what is lacking. Only powers of two are compared, so that
    # the seed decides among articles of about one size.
    order.sort(key=lambda number: frexp(sum(held[number].values()))[1], reverse=True)
    filled: list[_Amounts] = [{} for _ in weights]
    part_of = [0] * len(held)
    for placed, number in enumerate(order):
        empty = [part for part, own in enumerate(filled) if not own]
        open_parts = empty if len(empty) == len(order) - placed else range(len(weights))
        unevenness = {part: _added(filled[part], held[number]) / weights[part] for part in open_parts}
        chosen = part_of[number] = min(unevenness, key=unevenness.__getitem__)
        for kind, amount in held[number].items():
            filled[chosen][kind] = filled[chosen].get(kind, 0.0) + amount
    return part_of


def _added(filled: _Amounts, own: _Amounts) -> float:
    """What an article adds to the squares of all that a part holds.

    Divided by the weights of the parts, these squares are least in sum where each part has its share of all.
    """
    return sum((2 * filled.get(kind, 0.0) + amount) * amount for kind, amount in own.items())
