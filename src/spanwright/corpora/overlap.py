"""What two corpora share, and what a training must not see because it will be scored on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.corpora.near_texts import NearTexts
from spanwright.corpora.shared_documents import (
    REASONS,
    Pair,
    Reason,
    fingerprint,
    given_id,
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
    def string_share(self) -> float:
        """Share of the distinct mention strings that the other corpus has too."""
        return self.strings_seen / self.strings if self.strings else 0.0

    @property
    def mention_share(self) -> float:
        """Share of the mentions whose string the other corpus has too."""
        return self.mentions_seen / self.mentions if self.mentions else 0.0


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two corpora share."""

    pairs: tuple[Pair, ...]
    """Of several documents with one id or text, each stands in a pair with the first of the other side."""
    documents_a: int
    documents_b: int
    a_in_b: Seen
    """Mentions of A that B has too."""
    b_in_a: Seen
    """Mentions of B that A has too."""

    @property
    def shared_a(self) -> list[Document]:
        """The documents of A that B has too, for whatever reason."""
        return list({id(pair.a): pair.a for pair in self.pairs}.values())

    @property
    def shared_b(self) -> list[Document]:
        """The documents of B that A has too, for whatever reason."""
        return list({id(pair.b): pair.b for pair in self.pairs}.values())

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
            "mentions_a_in_b": asdict(self.a_in_b),
            "mentions_b_in_a": asdict(self.b_in_a),
            "pairs": [
                {
                    "a": pair.a.id,
                    "b": pair.b.id,
                    "reasons": list(pair.reasons),
                    "similarity": round(pair.similarity, 3),
                }
                for pair in self.pairs
            ],
        }


def overlap(a: Sequence[Document], b: Sequence[Document]) -> Overlap:
    """The documents and mentions that two corpora share.

    Documents are compared by given id, by text blind to case and white space, and by runs of four words:
    texts of at least 15 words are near when 70 % of the runs of the smaller one stand in the other.
    """
    in_a, in_b = _mentions(a), _mentions(b)
    return Overlap(tuple(shared_pairs(a, b)), len(a), len(b), _seen(in_a, in_b), _seen(in_b, in_a))


def drop_shared(
    documents: Sequence[Document], evaluation: Iterable[Document]
) -> tuple[list[Document], list[Document]]:
    """Split documents into those to keep and those that also stand in evaluation data.

    A document is shared when its id (unless made up by a reader) or its text, blind to case and white space,
    is that of an evaluation document. It is also shared when the two texts are the same but for small edits
    or a missing part: at least 90 % of the runs of four words of the smaller text stand in the other one.
    This last rule holds only from 33 words upwards, so that no sentence is left out for being similar.
    """
    positions = set(shared_positions(documents, evaluation))
    kept = [document for number, document in enumerate(documents) if number not in positions]
    return kept, [documents[number] for number in sorted(positions)]


def shared_positions(documents: Iterable[Document], evaluation: Iterable[Document]) -> list[int]:
    """Positions of the documents that also stand in evaluation data, by the rules of `drop_shared`."""
    ids: set[str | None] = set()
    texts: set[bytes] = set()

    def noted() -> Iterator[str]:
        """The texts of the evaluation data, which is gone through once, as it may come from files."""
        for document in evaluation:
            ids.add(given_id(document))
            texts.add(fingerprint(document.text))
            yield document.text

    near = NearTexts(noted(), containment=_CONTAINMENT, fewest=_FEWEST_SHINGLES)
    ids.discard(None)
    return [
        number
        for number, document in enumerate(documents)
        if given_id(document) in ids or fingerprint(document.text) in texts or near.has(document.text)
    ]


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
