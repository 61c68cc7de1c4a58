"""Pairs of documents of two corpora that are the same, by text or by article, or that only have one id."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from spanwright.corpora.articles import Article, articles, given_id, same_articles
from spanwright.corpora.near_texts import Likeness, NearTexts, containment
from spanwright.text import Document

Reason = Literal["id", "text", "near", "part"]
"""Why two documents are a pair: they are of the same article; the same text but for case and white space;
nearly the same text; one text is, nearly word for word, a part of the other."""
REASONS: tuple[Reason, ...] = get_args(Reason)

_Places = tuple[int, int]

_WHITE_SPACE = re.compile(r"\s+")
# Near: the smaller text has at least 12 shingles (15 words), and 70 % of them stand in the other.
_CONTAINMENT = 0.7
_FEWEST_SHINGLES = 12
# Near texts with less than this share of all their shingles in common are a part and its whole.
_RESEMBLANCE_OF_A_PART = 0.5


@dataclass(frozen=True, slots=True)
class SharedPair:
    """A document of A and a document of B that are the same in some way."""

    a: Document
    b: Document
    reasons: tuple[Reason, ...]
    similarity: float
    """Share of the shingles of the smaller text that the other one has; 1 for the same text."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The documents that two corpora share, in the order of B, then of A.

    Of several documents with one article or one text, each stands in a pair with the first of the other side.
    """

    shared: tuple[SharedPair, ...]
    namesakes: tuple[SharedPair, ...]
    """Pairs with the same id, and texts that do not show that they are of the same article."""


def without_white_space(text: str) -> str:
    """A text blind to case and white space, so that other tokenisations match."""
    return _WHITE_SPACE.sub("", text).casefold()


def fingerprint(text: str) -> bytes:
    """A digest of a text that is blind to case and white space."""
    return hashlib.blake2b(without_white_space(text).encode(), digest_size=16).digest()


def near_texts(texts: Iterable[str]) -> NearTexts:
    """An index of texts that finds those which are near another text."""
    return NearTexts(texts, containment=_CONTAINMENT, fewest=_FEWEST_SHINGLES)


def shared_pairs(a: Sequence[Document], b: Sequence[Document]) -> Pairs:
    """All pairs of documents of two corpora that are the same, and those that only have the same id."""
    reasons: defaultdict[_Places, list[Reason]] = defaultdict(list)
    similarity: dict[_Places, float] = {}
    known = articles([given_id(document) for side in (a, b) for document in side])
    articles_a, articles_b = known[: len(a)], known[len(a) :]
    for places in _equal(articles_a, articles_b):
        reasons[places].append("id")
    texts_a, texts_b = ([fingerprint(document.text) for document in side] for side in (a, b))
    for places in _equal(texts_a, texts_b):
        reasons[places].append("text")
        similarity[places] = 1.0
    alike: list[set[Article]] = [set() for _ in a]
    for (i, j), like in _near(a, b):
        alike[i].add(articles_b[j])
        if texts_a[i] != texts_b[j]:
            reasons[i, j].append("near" if like.resemblance >= _RESEMBLANCE_OF_A_PART else "part")
            similarity[i, j] = like.containment
    same = same_articles(zip(articles_a, alike, strict=True))
    shared: list[SharedPair] = []
    namesakes: list[SharedPair] = []
    for i, j in sorted(reasons, key=lambda places: (places[1], places[0])):
        likeness = similarity.get((i, j)) or containment(a[i].text, b[j].text)
        only_by_name = reasons[i, j] == ["id"] and articles_a[i] not in same
        side = namesakes if only_by_name else shared
        side.append(SharedPair(a[i], b[j], tuple(reasons[i, j]), likeness))
    return Pairs(tuple(shared), tuple(namesakes))


def _equal(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Iterator[_Places]:
    """Places of equal keys other than None."""
    groups: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate((a, b)):
        for place, key in enumerate(keys):
            if key is not None:
                groups[key][side].append(place)
    for in_a, in_b in groups.values():
        if in_a and in_b:
            # Each with the first: all pairs of a sentence that both corpora repeat would be far too many.
            yield from ((in_a[0], place) for place in in_b)
            yield from ((place, in_b[0]) for place in in_a[1:])


def _near(a: Sequence[Document], b: Sequence[Document]) -> Iterator[tuple[_Places, Likeness]]:
    """Places of documents with nearly the same text; the corpus of fewer documents is held in memory."""
    indexed, other = (a, b) if len(a) <= len(b) else (b, a)
    index = near_texts(document.text for document in indexed)
    for place, document in enumerate(other):
        for found, like in index.find(document.text):
            yield ((found, place) if indexed is a else (place, found)), like
