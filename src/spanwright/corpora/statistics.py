"""What a corpus is like: sizes, types, widths, nesting, ambiguity, label consistency."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spanwright.text import Document, Entity, Range, sentences, words

_QUANTILES = (0.5, 0.9, 0.99, 0.995, 1.0)
_LONGEST_MENTION = 12
"""Words of the longest mention whose occurrences are counted for label consistency."""
_EXAMPLES = 10

Phrase = tuple[str, ...]


@dataclass(slots=True)
class Nesting:
    """How entities lie to each other. One entity may be counted in several rows."""

    inside_another: int = 0
    around_another: int = 0
    crossing: int = 0
    same_span: int = 0
    """On the same span as another entity, with another type."""
    discontinuous: int = 0
    cutting_words: int = 0
    """With a border inside a word of the splitter or the corpus."""


@dataclass(slots=True)
class Consistency:
    """How reliably a string that is a mention somewhere is annotated wherever it occurs."""

    strings: int = 0
    """Distinct mention strings, blind to case."""
    ambiguous: int = 0
    """Those annotated with several types."""
    occurrences: int = 0
    """Occurrences of mention strings in the text, annotated or not."""
    annotated: int = 0
    ambiguous_examples: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the occurrences that are annotated; 1 when there are none."""
        return self.annotated / self.occurrences if self.occurrences else 1.0


@dataclass(slots=True)
class Statistics:
    """The figures of a corpus."""

    documents: int = 0
    without_entities: int = 0
    characters: int = 0
    words: int = 0
    sentences: int = 0
    entities: int = 0
    types: dict[str, int] = field(default_factory=dict)
    words_per_document: dict[str, int] = field(default_factory=dict)
    """Quantiles, such as `50%` and `max`."""
    words_per_entity: dict[str, int] = field(default_factory=dict)
    widths: dict[int, int] = field(default_factory=dict)
    """Entities by their number of words."""
    nesting: Nesting = field(default_factory=Nesting)
    consistency: Consistency = field(default_factory=Consistency)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = asdict(self)
        values["consistency"]["share"] = self.consistency.share
        return values


def statistics(documents: Iterable[Document]) -> Statistics:
    """Count what is in documents."""
    figures = Statistics()
    lengths: list[int] = []
    widths: Counter[int] = Counter()
    types: Counter[str] = Counter()
    phrases = _Phrases()
    for document in documents:
        ranges = words(document)
        lengths.append(len(ranges))
        figures.characters += len(document.text)
        figures.sentences += len(sentences(document))
        figures.without_entities += not document.entities
        types.update(entity.type for entity in document.entities)
        widths.update(_count_words(document, ranges, figures.nesting))
        _count_nesting(document.entities, figures.nesting)
        phrases.add(document, ranges)
    figures.documents = len(lengths)
    figures.words = sum(lengths)
    figures.entities = types.total()
    figures.types = dict(sorted(types.items()))
    figures.words_per_document = quantiles(lengths)
    figures.words_per_entity = quantiles(list(widths.elements()))
    figures.widths = dict(sorted(widths.items()))
    figures.consistency = phrases.consistency()
    return figures


def quantiles(values: Sequence[int]) -> dict[str, int]:
    """The smallest value that covers each share of the values."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        "max" if share == 1 else f"{100 * share:g}%": ordered[max(0, math.ceil(share * len(ordered)) - 1)]
        for share in _QUANTILES
    }


def _count_words(document: Document, ranges: Sequence[Range], nesting: Nesting) -> list[int]:
    """The number of words that each entity touches."""
    starts = [start for start, _ in ranges]
    ends = [end for _, end in ranges]
    exact_starts, exact_ends = set(starts), set(ends)
    widths: list[int] = []
    for entity in document.entities:
        nesting.discontinuous += bool(entity.fragments)
        exact = all(start in exact_starts and end in exact_ends for start, end in entity.ranges)
        nesting.cutting_words += not exact
        widths.append(
            sum(bisect_left(starts, end) - bisect_right(ends, start) for start, end in entity.ranges)
        )
    return widths


def _count_nesting(entities: Sequence[Entity], nesting: Nesting) -> None:
    """Count relations between the outer bounds of entities; only those that overlap are compared."""
    ordered = sorted(entities, key=lambda entity: (entity.start, -entity.end))
    inside, around, crossing, same = set(), set(), set(), set()
    for position, left in enumerate(ordered):
        for other in range(position + 1, len(ordered)):
            right = ordered[other]
            if right.start >= left.end:
                break
            if (left.start, left.end) == (right.start, right.end):
                if left.type != right.type:
                    same |= {position, other}
            elif right.end <= left.end:
                inside.add(other)
                around.add(position)
            else:
                crossing |= {position, other}
    nesting.inside_another += len(inside)
    nesting.around_another += len(around)
    nesting.crossing += len(crossing)
    nesting.same_span += len(same)


class _Phrases:
    """Mention strings and the running text, as lower-case words, until all documents are seen."""

    def __init__(self) -> None:
        self.types: defaultdict[Phrase, Counter[str]] = defaultdict(Counter)
        self.texts: list[list[str]] = []
        self.annotated = 0

    def add(self, document: Document, ranges: Sequence[Range]) -> None:
        """Remember the words of a document and the mentions in it."""
        text = [document.text[start:end].lower() for start, end in ranges]
        self.texts.append(text)
        first = {start: position for position, (start, _) in enumerate(ranges)}
        after = {end: position + 1 for position, (_, end) in enumerate(ranges)}
        places: set[tuple[int, int]] = set()
        for entity in document.entities:
            start, end = first.get(entity.start), after.get(entity.end)
            if start is not None and end is not None and not entity.fragments:
                self.types[tuple(text[start:end])][entity.type] += 1
                places.add((start, end))
        self.annotated += sum(end - start <= _LONGEST_MENTION for start, end in places)

    def consistency(self) -> Consistency:
        """Look for all mention strings in all texts."""
        known = {phrase for phrase in self.types if len(phrase) <= _LONGEST_MENTION}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for phrase in known:
            lengths[phrase[0]].add(len(phrase))
        occurrences = sum(
            tuple(text[start : start + length]) in known
            for text in self.texts
            for start, word in enumerate(text)
            for length in lengths.get(word, ())
        )
        ambiguous = {phrase: types for phrase, types in self.types.items() if len(types) > 1}
        commonest = sorted(ambiguous, key=lambda phrase: (-ambiguous[phrase].total(), phrase))[:_EXAMPLES]
        return Consistency(
            strings=len(self.types),
            ambiguous=len(ambiguous),
            occurrences=occurrences,
            annotated=self.annotated,
            ambiguous_examples={" ".join(p): dict(ambiguous[p].most_common()) for p in commonest},
        )
