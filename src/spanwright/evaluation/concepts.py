"""Scores of linking: whether entities were given the concepts that gold gives them.

A mention is right if it has exactly the concepts of gold. Which identifiers mean the same is said by whoever
asks, as `same`. Gold entities without a concept, and answers of "no concept", are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spanwright.evaluation.matching import Key, Pair
from spanwright.evaluation.scores import Counts
from spanwright.text import Document, Entity

LINKS = "links"
"""The annotation notes in which a linker keeps the candidates of its answers, one for each entity."""
FAMILIAR = ("name seen", "name unseen, concept seen", "concept unseen")
"""How gold mentions are to the training documents."""
Same = Callable[[str], str]
_Keyed = list[tuple[Key, Entity]]
_DEEPEST = 5


@dataclass(slots=True)
class MentionCounts:
    """Gold mentions with a concept whose characters and type are predicted too."""

    mentions: int = 0
    right: int = 0
    """Exactly the concepts of gold."""
    any_right: int = 0
    """At least one concept of gold, as some papers count."""
    among_five: int = 0
    """The concepts of gold are those of one of the first five candidates."""
    without: int = 0
    """The answer is no concept."""

    def share(self, count: int) -> float | None:
        """The share of the mentions; None if there is none."""
        return count / self.mentions if self.mentions else None

    def to_dict(self) -> dict[str, float | None]:
        """Counts and shares for JSON."""
        return {
            "mentions": self.mentions,
            "accuracy": self.share(self.right),
            "accuracy_any": self.share(self.any_right),
            "accuracy_at_5": self.share(self.among_five),
            "no_concept": self.without,
        }


@dataclass(frozen=True, slots=True)
class WrongLink:
    """A mention that was given other concepts than gold's."""

    document: str
    mention: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]


class WrongName(NamedTuple):
    """A name that was given other concepts than gold's, wherever it was mentioned."""

    mention: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]


@dataclass(slots=True)
class ConceptScores:
    """The outcome of an evaluation of concepts."""

    on_gold: MentionCounts = field(default_factory=MentionCounts)
    by_familiarity: dict[str, MentionCounts] = field(default_factory=dict)
    """The same for names seen and unseen in training; empty without training documents."""
    mentions: Counts = field(default_factory=Counts)
    """Entities with concepts: right if characters, type and concepts are those of gold."""
    documents: Counts = field(default_factory=Counts)
    """Distinct concepts of each document, wherever they are mentioned."""
    gold_without: int = 0
    """Gold entities that have no concept, and count nowhere."""
    unpredicted: int = 0
    """Gold entities with a concept that no predicted entity has the characters and type of."""
    has_candidates: bool = False
    """Whether the prediction has candidates, without which there is no accuracy at 5."""
    wrong: list[WrongLink] = field(default_factory=list)
    """In the order of the documents."""

    def frequent_mistakes(self, most: int | None = None) -> list[tuple[WrongName, int]]:
        """Mistakes that differ in more than their document, each with its count, the most frequent first."""
        return Counter(WrongName(each.mention, each.gold, each.predicted) for each in self.wrong).most_common(
            most
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; mistakes as their most frequent kinds."""
        return {
            "on_gold_mentions": self.on_gold.to_dict(),
            "by_familiarity": {name: counts.to_dict() for name, counts in self.by_familiarity.items()},
            "mentions_with_concepts": self.mentions.to_dict(),
            "concepts_of_documents": self.documents.to_dict(),
            "gold_without_concept": self.gold_without,
            "gold_not_predicted": self.unpredicted,
            "has_candidates": self.has_candidates,
            "mistakes": [{**each._asdict(), "count": count} for each, count in self.frequent_mistakes()],
        }


def score_concepts(
    pairs: Iterable[Pair],
    *,
    same: Same = str,
    training: Iterable[Document] | None = None,
    ignore_types: Collection[str] = (),
) -> ConceptScores:
    """The scores of pairs of gold and predicted documents; `training` parts names seen from unseen ones.

    Entities of `ignore_types` count on neither side.
    """
    known = None if training is None else _Known(training, same)
    scores = ConceptScores()
    if known is not None:
        scores.by_familiarity = {name: MentionCounts() for name in FAMILIAR}
    for pair in pairs:
        golds, predicted = _keyed(pair, ignore_types)
        _count_mentions(scores, golds, predicted, same)
        _count_document(scores, golds, predicted, same)
        if pair.gold is not None:
            _judge(scores, pair, golds, predicted, same, known)
    return scores


class _Known:
    """Names and concepts of training documents."""

    def __init__(self, documents: Iterable[Document], same: Same) -> None:
        self._names: set[str] = set()
        self._concepts: set[str] = set()
        for document in documents:
            for entity in document.entities:
                self._names.add(_name(document, entity))
                self._concepts.update(map(same, entity.concepts))

    def bucket(self, document: Document, entity: Entity, concepts: frozenset[str]) -> str:
        """Which of `FAMILIAR` a gold entity is."""
        if _name(document, entity) in self._names:
            return FAMILIAR[0]
        return FAMILIAR[1] if concepts <= self._concepts else FAMILIAR[2]


def _name(document: Document, entity: Entity) -> str:
    return " ".join(document.mention(entity).casefold().split())


def _concepts(entity: Entity, same: Same) -> frozenset[str]:
    return frozenset(map(same, entity.concepts))


def _count_mentions(scores: ConceptScores, golds: _Keyed, predicted: _Keyed, same: Same) -> None:
    sides = (
        {(key, _concepts(entity, same)) for key, entity in side if entity.concepts}
        for side in (golds, predicted)
    )
    scores.mentions += _counts(*sides)


def _count_document(scores: ConceptScores, golds: _Keyed, predicted: _Keyed, same: Same) -> None:
    sides = (
        {concept for _, entity in side for concept in _concepts(entity, same)} for side in (golds, predicted)
    )
    scores.documents += _counts(*sides)


def _keyed(pair: Pair, ignore_types: Collection[str]) -> tuple[_Keyed, _Keyed]:
    """The entities of both sides, each with what it is compared by."""
    gold = pair.gold.entities if pair.gold is not None else ()
    predicted = pair.predicted.entities if pair.predicted is not None else ()
    golds, found = (
        [(key, entity) for key, entity in zip(keys, own, strict=True) if entity.type not in ignore_types]
        for keys, own in ((pair.gold_keys(), gold), (pair.predicted_keys(), predicted))
    )
    return golds, found


def _counts(gold: set[Any], predicted: set[Any]) -> Counts:
    return Counts(len(gold & predicted), len(predicted - gold), len(gold - predicted))


def _judge(
    scores: ConceptScores, pair: Pair, golds: _Keyed, predicted: _Keyed, same: Same, known: _Known | None
) -> None:
    """Count the gold mentions of a pair that are predicted, by whether their concepts are right."""
    answers = dict(predicted)
    candidates = _candidates(pair)
    scores.has_candidates |= bool(candidates)
    for key, entity in golds:
        if not entity.concepts:
            scores.gold_without += 1
        elif key not in answers:
            scores.unpredicted += 1
        else:
            wanted, found = _concepts(entity, same), _concepts(answers[key], same)
            for counts in _buckets(scores, known, pair.document, entity, wanted):
                _count(counts, wanted, found, candidates.get(key, ()), same)
            if found != wanted:
                mention = pair.document.mention(entity)
                scores.wrong.append(
                    WrongLink(pair.document.id, mention, tuple(sorted(wanted)), answers[key].concepts)
                )


def _buckets(
    scores: ConceptScores, known: _Known | None, document: Document, entity: Entity, wanted: frozenset[str]
) -> list[MentionCounts]:
    if known is None:
        return [scores.on_gold]
    return [scores.on_gold, scores.by_familiarity[known.bucket(document, entity, wanted)]]


def _count(
    counts: MentionCounts,
    wanted: frozenset[str],
    found: frozenset[str],
    candidates: Sequence[Sequence[str]],
    same: Same,
) -> None:
    counts.mentions += 1
    counts.right += found == wanted
    counts.any_right += not wanted.isdisjoint(found)
    counts.without += not found
    first = candidates[:_DEEPEST]
    counts.among_five += found == wanted or any(frozenset(map(same, each)) == wanted for each in first)


def _candidates(pair: Pair) -> dict[Key, Sequence[Sequence[str]]]:
    """The concepts of the candidates of each predicted entity, if a linker has kept them."""
    if pair.predicted is None:
        return {}
    links = pair.predicted.annotation_notes.get(LINKS, ())
    if len(links) != len(pair.predicted.entities):
        return {}
    concepts = [[candidate["concepts"] for candidate in link["candidates"]] for link in links]
    return dict(zip(pair.predicted_keys(), concepts, strict=True))
