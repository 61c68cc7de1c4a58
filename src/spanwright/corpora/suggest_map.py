"""Suggest which types of a corpus A are which types of a corpus B, from the two corpora alone.

Four kinds of evidence vote on each type of A, for types of B or for none:

- *type names*: the words that the names of the two types share;
- *shared documents*: how B marks the very places that A has marked, in documents that both corpora have;
- *names*: how B marks, in its other texts, the mention strings of A's type;
- *words of names*: the same for the single words of mention strings, which reaches further and says less.

The last two are measured between what a type of B would get by chance and what the names of that very type
get in other texts of B: no corpus marks a name everywhere.

Each kind has a fixed number of votes, of which it casts the more the more names it rests on. A type of A is
mapped to the type of B that wins at least half of all votes. So a type that B leaves mostly unmarked, or
marks now as this and now as that, is mapped to none, and several types of A may be mapped to one of B.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from spanwright.corpora.label_map import LabelMap
from spanwright.corpora.marking import (
    Marks,
    Tally,
    TextMarks,
    add_marks,
    marks_in_shared_documents,
    marks_in_texts,
)
from spanwright.corpora.shared_documents import shared_pairs
from spanwright.errors import InputError, counted
from spanwright.text import Document

# Round numbers, chosen among equals: see the tuning that benchmarks/label_map.py reports.
_NAME_VOTES = 8.0
_DOCUMENT_VOTES = 20.0
_STRING_VOTES = 10.0
_WORD_VOTES = 4.0
# Votes for none before any evidence is heard, and the number of names at which a kind casts half its votes.
_NONE_VOTES = 1.0
_HALF_OF_THE_VOTES = 10
_WINNING_SHARE = 0.5
# Documents whose texts are less alike than this cannot be compared place by place.
_ALIKE = 0.7
_MOST_PAIRS = 400
# A type whose names A leaves unmarked more often than this is worth a remark.
_UNMARKED = 0.5
_FEWEST_NAMES = 10
_LEAST_SHOWN = 0.005
# `DNAMutation` is DNA and Mutation: capitals belong together unless a small letter follows the last of them.
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SHORTEST_ABBREVIATION = 3
_ABBREVIATED = 0.8
_ALIKE_WORDS = 0.5


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What one type of A is in B."""

    type: str
    target: str | None
    """A type of B, or None when no type of B has enough evidence."""
    confidence: float
    """The share of the votes for `target`; for None, the share that the nearest type of B did not get."""
    nearest: str
    """The type of B with most votes, also when they are too few."""
    evidence: tuple[str, ...]
    """One line for each kind of evidence, for people to judge."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that two corpora say about how their types correspond."""

    types_a: tuple[str, ...]
    types_b: tuple[str, ...]
    shared: int
    """Documents of A that B has too, with texts alike enough to compare places."""
    similarities: Mapping[tuple[str, str], float]
    """By type of A and type of B: how alike their names are."""
    places: Mapping[str, Tally]
    """By type of A: how B marks the places that A marks in shared documents."""
    texts: TextMarks
    """How B marks the names of A's types in its other texts."""
    own: TextMarks
    """How B marks the names of its own types, taking them from one half of its documents to the other."""
    reverse: TextMarks
    """How A marks the names of B's types in its other texts. It has no vote, since A's type may well be
    narrower than B's; but whoever trains on both should know what A leaves unmarked."""


def suggest_map(a: Sequence[Document], b: Sequence[Document]) -> list[Suggestion]:
    """Suggest a type of B, or none, for each type of A, in the order of their names."""
    return decide(gather_evidence(a, b))


def gather_evidence(a: Sequence[Document], b: Sequence[Document]) -> Evidence:
    """Read both corpora for what they say about each other's types."""
    types_a, types_b = _types(a, "A"), _types(b, "B")
    pairs = [pair for pair in shared_pairs(a, b).shared if pair.similarity >= _ALIKE]
    shared_a, shared_b = {id(pair.a) for pair in pairs}, {id(pair.b) for pair in pairs}
    spread = pairs[:: len(pairs) // _MOST_PAIRS + 1]
    return Evidence(
        types_a=types_a,
        types_b=types_b,
        shared=len(shared_a),
        similarities={
            (type_, target): name_similarity(type_, target) for type_ in types_a for target in types_b
        },
        places=marks_in_shared_documents([(pair.a, pair.b) for pair in spread]),
        # The other documents only: what stands in both corpora has had its vote.
        texts=marks_in_texts(a, [document for document in b if id(document) not in shared_b]),
        own=marks_in_texts(b[::2], b[1::2]),
        reverse=marks_in_texts(b, [document for document in a if id(document) not in shared_a]),
    )


def decide(evidence: Evidence) -> list[Suggestion]:
    """What the evidence suggests for each type of A."""
    return [_suggestion(type_, evidence) for type_ in evidence.types_a]


def suggested_map(corpus: str, suggestions: Sequence[Suggestion], types: Sequence[str]) -> LabelMap:
    """Suggestions as a label map of one corpus onto the types of B."""
    return LabelMap(tuple(types), {corpus: {found.type: found.target for found in suggestions}})


def _types(documents: Sequence[Document], name: str) -> tuple[str, ...]:
    types = sorted({entity.type for document in documents for entity in document.entities})
    if not types:
        raise InputError(
            f"corpus {name} has no entity in its {counted(len(documents), 'document')}, so no types to map"
        )
    return tuple(types)


def _suggestion(type_: str, evidence: Evidence) -> Suggestion:
    votes = _votes(type_, evidence)
    # Of equals the first by name, so that the answer does not depend on the order of documents.
    nearest = max(evidence.types_b, key=lambda target: votes[target])
    share = votes[nearest] / sum(votes.values())
    wins = share >= _WINNING_SHARE
    return Suggestion(
        type=type_,
        target=nearest if wins else None,
        confidence=share if wins else 1 - share,
        nearest=nearest,
        evidence=(*_lines(type_, nearest, evidence), *(_remark(nearest, evidence) if wins else ())),
    )


def _votes(type_: str, evidence: Evidence) -> Marks:
    votes: Marks = {None: _NONE_VOTES}
    for target in evidence.types_b:
        # Squared: a name that is half alike says far less than half.
        votes[target] = _NAME_VOTES * evidence.similarities.get((type_, target), 0.0) ** 2
    chance, own = evidence.texts.chance, evidence.own
    for tallies, most, floor, ceiling in (
        (evidence.places, _DOCUMENT_VOTES, {}, {}),
        (evidence.texts.names, _STRING_VOTES, chance, own.names),
        (evidence.texts.words, _WORD_VOTES, chance, own.words),
    ):
        if tally := tallies.get(type_):
            add_marks(votes, _cast(tally, most, floor, ceiling))
    return votes


def _cast(tally: Tally, most: float, floor: Marks, ceiling: Mapping[str, Tally]) -> Marks:
    """The votes of one kind of evidence. Types get their share between floor and ceiling, none the rest."""
    shares: Marks = {}
    for type_ in tally.marks:
        if type_ is not None:
            lowest, highest = floor.get(type_, 0.0), _highest(type_, ceiling.get(type_, Tally()))
            if lowest < highest:
                share = (tally.share(type_) - lowest) / (highest - lowest)
                shares[type_] = min(max(share, 0.0), 1.0)
    total = sum(shares.values())
    weight = most * tally.names / (tally.names + _HALF_OF_THE_VOTES) / max(total, 1.0)
    cast: Marks = {type_: weight * share for type_, share in shares.items()}
    cast[None] = weight * max(1.0 - total, 0.0)
    return cast


def _highest(type_: str, own: Tally) -> float:
    """The share that the names of a type get in their own corpus; nearly 1 where few of them occur again."""
    return (own.marks.get(type_, 0.0) + _HALF_OF_THE_VOTES) / (own.names + _HALF_OF_THE_VOTES)


def _lines(type_: str, nearest: str, evidence: Evidence) -> Iterator[str]:
    """The evidence on a type of A in words."""
    if similarity := evidence.similarities.get((type_, nearest), 0.0):
        yield f"type names {type_} and {nearest}: {similarity:.0%} alike"
    if tally := evidence.places.get(type_):
        yield f"names in shared documents ({evidence.shared}): {_shares(tally)} of {tally.names}"
    for tallies, own, what in (
        (evidence.texts.names, evidence.own.names, "names found in other texts"),
        (evidence.texts.words, evidence.own.words, "names whose words are found in other texts"),
    ):
        if tally := tallies.get(type_):
            usual = own.get(nearest, Tally()).share(nearest)
            compared = f" (B's own {nearest} names: {usual:.0%})" if usual else ""
            yield f"{what}: {_shares(tally)} of {tally.names}{compared}"


def _remark(target: str, evidence: Evidence) -> Iterator[str]:
    """A warning when A does not mark all that B calls `target`."""
    tally = evidence.reverse.names.get(target, Tally())
    if tally.names >= _FEWEST_NAMES and tally.share(None) > _UNMARKED:
        yield f"beware: A itself leaves {tally.share(None):.0%} of {tally.names} {target} names unmarked"


def _shares(tally: Tally) -> str:
    """The shares of a tally in words, the largest first."""
    marks = sorted(tally.marks, key=lambda mark: (-tally.marks[mark], mark or ""))
    shown = [mark for mark in marks if tally.share(mark) >= _LEAST_SHOWN]
    return ", ".join(f"{tally.share(mark):.0%} {'unmarked' if mark is None else mark}" for mark in shown)


@cache
def name_words(name: str) -> tuple[str, ...]:
    """The distinct words of a name, without case: camel case, underscores, hyphens and dots part them."""
    return tuple(dict.fromkeys(word.casefold() for word in _NAME_WORD.findall(name)))


@cache
def name_similarity(left: str, right: str) -> float:
    """From 0 (nothing in common) to 1 (the same words): how well each word of either name is matched."""
    words, others = name_words(left), name_words(right)
    if not words or not others:
        return 0.0
    matched = sum(_nearest(word, others) for word in words) + sum(_nearest(word, words) for word in others)
    return matched / (len(words) + len(others))


def _nearest(word: str, others: Sequence[str]) -> float:
    return max(_word_similarity(word, other) for other in others)


def _word_similarity(left: str, right: str) -> float:
    """1 for the same stem, less for an abbreviation (`loc`, `location`) or a shared spelling."""
    if _stem(left) == _stem(right):
        return 1.0
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) >= _SHORTEST_ABBREVIATION and longer.startswith(shorter):
        return _ABBREVIATED
    trigrams, others = _trigrams(left), _trigrams(right)
    dice = 2 * len(trigrams & others) / (len(trigrams) + len(others))
    return dice if dice >= _ALIKE_WORDS else 0.0


def _stem(word: str) -> str:
    """A word without its plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
