"""What two corpora share, and what a training must not see because it will be scored on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.corpora.articles import Article, articles, given_id, same_articles
from spanwright.corpora.near_texts import Likeness
from spanwright.corpora.shared_documents import (
    REASONS,
    Reason,
    SharedPair,
    fingerprint,
    near_texts,
    shared_pairs,
    without_white_space,
)
from spanwright.text import Document

# What a training leaves out must be beyond doubt, so this is stricter than the rule of `overlap`.
_CONTAINMENT = 0.9
_FEWEST_SHINGLES = 30


@dataclass(frozen=True, slots=True)
class Seen:
    """How many mentions of one corpus are mentions in another too, blind to case, white space and type."""

    strings: int
    """Distinct mention strings."""
    strings_seen: int
    mentions: int
    mentions_seen: int

    @property
    def mention_share(self) -> float:
        """Share of the mentions whose string the other corpus has too."""
        return self.mentions_seen / self.mentions if self.mentions else 0.0


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two corpora share."""

    pairs: tuple[SharedPair, ...]
    """Of several documents with one article or text, each is in a pair with the first of the other side."""
    namesakes: tuple[SharedPair, ...]
    """Pairs with the same id but other texts, which are not shared."""
    documents_a: int
    documents_b: int
    a_in_b: Seen
    """Mentions of A that B has too."""
    b_in_a: Seen
    """Mentions of B that A has too."""

    @property
    def shared_a(self) -> list[Document]:
        """The documents of A that B has too, for whatever reason."""
        return _distinct(pair.a for pair in self.pairs)

    @property
    def shared_b(self) -> list[Document]:
        """The documents of B that A has too, for whatever reason."""
        return _distinct(pair.b for pair in self.pairs)

    @property
    def namesakes_a(self) -> list[Document]:
        """The documents of A that B lacks, though it has another one with the same id."""
        shared = {id(document) for document in self.shared_a}
        return [each for each in _distinct(pair.a for pair in self.namesakes) if id(each) not in shared]

    def reasons(self) -> dict[Reason, int]:
        """How many documents of A each reason applies to."""
        return {
            reason: len({id(pair.a) for pair in self.pairs if reason in pair.reasons}) for reason in REASONS
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data: counts, shares, and the pairs by id."""
        return {
            "documents_a": self.documents_a,
            "documents_b": self.documents_b,
            "shared_a": len(self.shared_a),
            "shared_b": len(self.shared_b),
            "shared_a_by_reason": self.reasons(),
            "namesakes_a": len(self.namesakes_a),
            "mentions_a_in_b": asdict(self.a_in_b),
            "mentions_b_in_a": asdict(self.b_in_a),
            "pairs": [_plain(pair) for pair in self.pairs],
            "namesakes": [_plain(pair) for pair in self.namesakes],
        }


def overlap(a: Sequence[Document], b: Sequence[Document]) -> Overlap:
    """The documents and mentions that two corpora share.

    Documents are compared by text blind to case and white space, and by runs of four words: texts of at least
    15 words are near when 70 % of the runs of the smaller one stand in the other. All passages of an article
    are shared if one is near a passage of the article with this id, and no other.
    """
    in_a, in_b, found = _mentions(a), _mentions(b), shared_pairs(a, b)
    return Overlap(found.shared, found.namesakes, len(a), len(b), _seen(in_a, in_b), _seen(in_b, in_a))


@dataclass(frozen=True, slots=True)
class Leaks:
    """Which documents of a training stand in evaluation data, by their positions."""

    shared: tuple[int, ...]
    namesakes: tuple[int, ...]
    """Documents that have the id of an evaluation document, or of its article, but another text."""


def drop_shared(
    documents: Sequence[Document], evaluation: Iterable[Document]
) -> tuple[list[Document], list[Document]]:
    """Split documents into those to keep and those that also stand in evaluation data (see `find_leaks`)."""
    positions = set(find_leaks(documents, evaluation).shared)
    kept = [document for number, document in enumerate(documents) if number not in positions]
    return kept, [documents[number] for number in sorted(positions)]


def find_leaks(documents: Iterable[Document], evaluation: Iterable[Document]) -> Leaks:
    """The documents that also stand in evaluation data.

    A document is shared when its text, blind to case and white space, is that of an evaluation document, or
    is the same but for small edits or a missing part: at least 90 % of the runs of four words of the smaller
    text stand in the other one. This holds only from 33 words upwards, so that no sentence is left out for
    being similar. For documents of the same article, 70 % and 15 words are enough, and all passages of an
    article are shared if one of them is. An id alone says nothing: many corpora count from 0.
    """
    ids: list[Article] = []
    texts: set[bytes] = set()

    def noted() -> Iterator[str]:
        """The texts of the evaluation data, which is gone through once, as it may come from files."""
        for document in evaluation:
            ids.append(given_id(document))
            texts.add(fingerprint(document.text))
            yield document.text

    near = near_texts(noted())
    evaluated = len(ids)
    is_same: list[bool] = []
    places: list[list[int]] = []
    for document in documents:
        ids.append(given_id(document))
        alike = list(near.find(document.text))
        places.append([place for place, _ in alike])
        is_same.append(fingerprint(document.text) in texts or any(_is_same(like) for _, like in alike))
    known = articles(ids)
    return _leaks(known[evaluated:], known[:evaluated], is_same, places)


def _is_same(like: Likeness) -> bool:
    """Whether two texts are the same beyond doubt, whatever their ids."""
    return like.containment >= _CONTAINMENT and like.shingles >= _FEWEST_SHINGLES


def _leaks(
    trained: Sequence[Article],
    evaluated: Sequence[Article],
    is_same: Sequence[bool],
    places: Sequence[Sequence[int]],
) -> Leaks:
    """Leaks by the articles of both sides; `places` are those of the near evaluation documents of each."""
    near = [{evaluated[place] for place in own} for own in places]
    same = same_articles(zip(trained, near, strict=True))
    standing = {article for article in evaluated if article is not None}
    shared = [
        is_same[number] or article in same or (article in near[number] and article is not None)
        for number, article in enumerate(trained)
    ]
    named = [number for number, article in enumerate(trained) if article in standing]
    return Leaks(
        shared=tuple(number for number, leaked in enumerate(shared) if leaked),
        namesakes=tuple(number for number in named if not shared[number]),
    )


def _distinct(documents: Iterable[Document]) -> list[Document]:
    return list({id(document): document for document in documents}.values())


def _plain(pair: SharedPair) -> dict[str, Any]:
    return {
        "a": pair.a.id,
        "b": pair.b.id,
        "reasons": list(pair.reasons),
        "similarity": round(pair.similarity, 3),
    }


def _mentions(documents: Iterable[Document]) -> Counter[str]:
    """How often each mention string occurs, blind to case and white space."""
    return Counter(
        without_white_space(document.mention(entity))
        for document in documents
        for entity in document.entities
    )


def _seen(mentions: Counter[str], other: Counter[str]) -> Seen:
    seen = mentions.keys() & other.keys()
    return Seen(
        strings=len(mentions),
        strings_seen=len(seen),
        mentions=mentions.total(),
        mentions_seen=sum(mentions[string] for string in seen),
    )
