"""Perturbations that put other mentions of the same type in the place of entities.

Only innermost entities are replaced: an entity around one stays, with other words in it. The sentence is
left as it is, so that an article or a verb may no longer fit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Literal

from spanwright.perturbing.edits import Edit
from spanwright.text import Document, Entity, Range, split, words

Replacement = Literal["seen", "unseen", "longer"]
_TRIES = 20
"""Combinations that are tried for a mention that training does not have."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as its words, each after a blank or nothing: `("", "breast"), (" ", "cancer")`."""

    words: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The name as it stands in a text."""
        return "".join(blank + word for blank, word in self.words)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges of the words in the text."""
        ends = accumulate(len(blank) + len(word) for blank, word in self.words)
        return tuple((end - len(word), end) for end, (_, word) in zip(ends, self.words, strict=True))


class MentionPool:
    """The mentions of training documents by type, but for those that hold another entity.

    A text with such a mention would need the inner entity annotated, too.
    """

    def __init__(self, training: Iterable[Document]) -> None:
        # Dictionaries as ordered sets: the draw must not depend on hashes.
        found: defaultdict[str, dict[Mention, None]] = defaultdict(dict)
        for document in training:
            for entity, mention in _innermost(document):
                found[entity.type][mention] = None
        self._by_width = {type_: sorted(mentions, key=_width) for type_, mentions in found.items()}
        self._known = {mention.text.casefold() for mentions in found.values() for mention in mentions}

    def swap(self, document: Document, random: Random, choice: Replacement) -> list[Edit]:
        """Edits that put another mention in the place of each innermost entity."""
        edits: list[Edit] = []
        for entity, own in _innermost(document):
            new = self._other(own, entity.type, random, choice)
            if new is not None and _stands_alone(document, entity, new):
                edits.append(Edit(entity.start, entity.end, new.text, new.ranges))
        return edits

    def _other(self, own: Mention, type_: str, random: Random, choice: Replacement) -> Mention | None:
        """Another mention of a type; None when there is none."""
        known = self._by_width.get(type_, [])
        if choice == "unseen":
            return self._unseen(known, random)
        shortest = bisect_right(known, _width(own), key=_width) if choice == "longer" else 0
        if shortest == len(known):
            return None
        drawn = random.randrange(shortest, len(known))
        # The neighbour of a draw that changes nothing; a single mention may be its own neighbour.
        new = known[drawn] if known[drawn] != own else known[drawn - 1]
        return new if new != own else None

    def _unseen(self, known: list[Mention], random: Random) -> Mention | None:
        """A combination of two mentions that no training document marks, as any type."""
        for _ in range(_TRIES if len(known) > 1 else 0):
            first, second = random.sample(known, 2)
            mention = _combined(first, second, random)
            if mention.text.casefold() not in self._known:
                return mention
        return None


def _width(mention: Mention) -> int:
    return len(mention.words)


def _combined(first: Mention, second: Mention, random: Random) -> Mention:
    """The first mention with a word of the second, or the back half of one, in the place of one word."""
    at = random.randrange(_width(first))
    blank, own = first.words[at]
    _, other = random.choice(second.words)
    if _width(first) == 1 or random.random() < 0.5:
        other = own[: (len(own) + 1) // 2] + other[len(other) // 2 :]
    return Mention((*first.words[:at], (blank, other), *first.words[at + 1 :]))


def _whole_mentions(document: Document) -> Iterator[tuple[Entity, Mention]]:
    """The entities of one range that begin and end with words, and their mentions."""
    ranges = words(document)
    starts = {start: number for number, (start, _) in enumerate(ranges)}
    ends = {end: number for number, (_, end) in enumerate(ranges)}
    for entity in document.entities:
        first, last = starts.get(entity.start), ends.get(entity.end)
        if len(entity.ranges) == 1 and first is not None and last is not None:
            yield entity, _mention(document.text, ranges[first : last + 1])


def _mention(text: str, ranges: tuple[Range, ...]) -> Mention:
    """The mention that is made of these words; whatever white space parts them becomes one blank."""
    parts: list[tuple[str, str]] = []
    previous_end = ranges[0][0]
    for start, end in ranges:
        parts.append((" " if start > previous_end else "", text[start:end]))
        previous_end = end
    return Mention(tuple(parts))


def _innermost(document: Document) -> Iterator[tuple[Entity, Mention]]:
    """The entities of whole words that no other entity shares a character with, except one around them."""
    marked = [each for entity in document.entities for each in entity.ranges]
    starts, ends = sorted(start for start, _ in marked), sorted(end for _, end in marked)
    times = Counter(marked)
    for entity, mention in _whole_mentions(document):
        start, end = entity.start, entity.end
        starting = bisect_left(starts, end) - bisect_right(starts, start)
        ending = bisect_left(ends, end) - bisect_right(ends, start)
        # Whatever neither begins nor ends within the entity covers it or is elsewhere.
        if starting == ending == 0 and times[start, end] == 1:
            yield entity, mention


def _stands_alone(document: Document, entity: Entity, new: Mention) -> bool:
    """Whether the new mention is still made of whole words beside the characters around it."""
    if document.words is not None:
        return True
    before = document.text[max(0, entity.start - 1) : entity.start]
    after = document.text[entity.end : entity.end + 1]
    borders = {border for word in split(before + new.text + after) for border in word}
    return {len(before), len(before) + len(new.text)} <= borders
