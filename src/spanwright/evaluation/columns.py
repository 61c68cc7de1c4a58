"""Gold and predicted entities as columns of numbers, so that millions of them are compared at once.

All documents are laid end to end. An offset in this running text tells the document too, which turns
questions about single documents into one question about sorted numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spanwright.arrays import Booleans, Integers
from spanwright.evaluation.matching import Key, Pair, pair_documents
from spanwright.text import Document, Entity, Range

ANY_TYPE = "any type"
"""The one type that all entities have where types are not compared."""


def distinct(values: Integers) -> Integers:
    """The distinct values, sorted; several times faster here than `numpy.unique`, which hashes."""
    ordered = np.sort(values)
    rising: Booleans = np.diff(ordered, prepend=ordered[:1] - 1) > 0
    return ordered[rising]


def is_among(values: Integers, others: Integers) -> Booleans:
    """Whether each value is one of `others`, `(values,)`; the same about `numpy.isin`."""
    if not len(others):
        return np.zeros(len(values), np.bool_)
    ordered = np.sort(others)
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: Booleans = ordered[place] == values
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """The character ranges of entities in the running text: one per entity, more if it is discontinuous."""

    owner: Integers
    """The position of the entity, `(ranges,)`, ascending."""
    start: Integers
    end: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The distinct entities of one side, in the order of documents; every array is `(entities,)`."""

    entities: tuple[Entity, ...]
    document: Integers
    """The position of the pair of documents."""
    type: Integers
    """The position in the types of the comparison."""
    span: Integers
    """The same number on either side means the same characters of the same document."""
    matched: Booleans
    """Whether the other side has the same span with the same type."""
    start: Integers
    """The first character in the running text."""
    end: Integers
    """One past the last character in the running text."""
    ranges: Ranges


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Two sides of entities, ready to be scored by any rule."""

    pairs: tuple[Pair, ...]
    """In the order of gold; then the documents that gold lacks."""
    types: tuple[str, ...]
    """The types of either side, sorted."""
    base: Integers
    """Where each document begins in the running text, and where the text ends: `(pairs + 1,)`."""
    gold: Columns
    predicted: Columns
    gold_duplicates: int
    predicted_duplicates: int
    n2c2: bool
    """Whether the conventions of n2c2 were asked for."""
    notes: tuple[str, ...]

    @property
    def length(self) -> int:
        """The length of the running text."""
        return int(self.base[-1])

    def type_number(self, name: str) -> int:
        """The position of a type; -1 for a type that neither side has."""
        if self.types == (ANY_TYPE,):
            return 0
        return self.types.index(name) if name in self.types else -1


def compare_documents(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    ignore_types: Iterable[str] = (),
    typed: bool = True,
    n2c2: bool = False,
) -> Comparison:
    """Pair the documents and line up their distinct entities.

    `ignore_types` count on neither side. Without `typed`, an entity is its characters, whatever its type.
    `n2c2` follows the conventions of the shared task of 2018: a discontinuous entity reaches from its first
    to its last character, only documents of both sides count, and means over documents count those without
    any entity as 0 (its lenient matching is not offered). An entity that repeats one of its document counts
    once. See `pair_documents` for how documents are paired and what is an error.
    """
    pairing = pair_documents(gold, predicted)
    pairs = tuple(pair for pair in pairing.pairs if not n2c2 or (pair.gold and pair.predicted))
    base = np.cumsum([0, *(_length(pair) + 1 for pair in pairs)], dtype=np.int64)
    written = [
        _gather([pair.gold for pair in pairs], pairs, Pair.gold_keys),
        _gather([pair.predicted for pair in pairs], pairs, Pair.predicted_keys),
    ]
    names = {entity.type for side in written for entity in side.entities}
    ignored = frozenset(ignore_types)
    types = tuple(sorted(names - ignored)) if typed else (ANY_TYPE,)
    numbers = {name: types.index(name if typed else ANY_TYPE) for name in names - ignored}
    numbered = [_number(side, numbers, base, join_fragments=n2c2) for side in written]
    gold_columns, predicted_columns = _columns(*numbered)
    return Comparison(
        pairs=pairs,
        types=types,
        base=base,
        gold=gold_columns,
        predicted=predicted_columns,
        gold_duplicates=len(numbered[0].entities) - len(gold_columns.entities),
        predicted_duplicates=len(numbered[1].entities) - len(predicted_columns.entities),
        n2c2=n2c2,
        notes=(*pairing.notes, *_notes(len(pairing.pairs) - len(pairs), ignored - names)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """The entities of one side as they are written, with offsets in their documents."""

    entities: list[Entity]
    document: Integers
    moved: dict[int, tuple[Range, ...]]
    """The ranges that are compared of an entity, by its position, where they are not `[start, end)`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Numbered:
    """The entities that count, with offsets in the running text."""

    entities: list[Entity]
    document: Integers
    type: Integers
    ranges: Ranges
    fragments: dict[int, tuple[Range, ...]]
    """The ranges of discontinuous entities, by position."""


def _gather(
    documents: Sequence[Document | None], pairs: Sequence[Pair], keys: Callable[[Pair], list[Key]]
) -> _Written:
    counts = [len(document.entities) if document else 0 for document in documents]
    entities = [entity for document in documents if document for entity in document.entities]
    moved = {position: entity.fragments for position, entity in enumerate(entities) if entity.fragments}
    for pair, stop, count in zip(pairs, np.cumsum(counts).tolist(), counts, strict=True):
        if pair.blank_free:
            moved |= zip(range(stop - count, stop), (ranges for ranges, _ in keys(pair)), strict=True)
    return _Written(entities, np.repeat(np.arange(len(counts)), counts), moved)


def _number(written: _Written, numbers: dict[str, int], base: Integers, *, join_fragments: bool) -> _Numbered:
    """Types as numbers and offsets in the running text, without entities whose type has no number."""
    kept = [position for position, entity in enumerate(written.entities) if entity.type in numbers]
    entities = [written.entities[position] for position in kept]
    moved = {
        place: ((ranges[0][0], ranges[-1][1]),) if join_fragments else ranges
        for place, position in enumerate(kept)
        if (ranges := written.moved.get(position))
    }
    counts = np.ones(len(kept), np.int64)
    counts[list(moved)] = [len(ranges) for ranges in moved.values()]
    owner = np.repeat(np.arange(len(kept)), counts)
    start, end = (
        np.fromiter((getattr(entity, name) for entity in entities), np.int64, len(kept))[owner]
        for name in ("start", "end")
    )
    for place, first in zip(moved, np.searchsorted(owner, list(moved)).tolist(), strict=True):
        for shift, (begins, ends) in enumerate(moved[place]):
            start[first + shift], end[first + shift] = begins, ends
    document = written.document[kept]
    begin = base[document[owner]]
    return _Numbered(
        entities,
        document,
        np.fromiter((numbers[entity.type] for entity in entities), np.int64, len(kept)),
        Ranges(owner, start + begin, end + begin),
        {place: ranges for place, ranges in moved.items() if len(ranges) > 1},
    )


def _columns(gold: _Numbered, predicted: _Numbered) -> tuple[Columns, Columns]:
    """Both sides without repetitions, and what they have in common."""
    sides = (gold, predicted)
    spans = _span_numbers(sides)
    most = max(int(side.type.max(initial=0)) for side in sides) + 1
    ids = [span * most + side.type for side, span in zip(sides, spans, strict=True)]
    first, second = (
        _distinct(side, spans[number], ids[number], is_among(ids[number], ids[1 - number]))
        for number, side in enumerate(sides)
    )
    return first, second


def _span_numbers(sides: Sequence[_Numbered]) -> list[Integers]:
    """A number for each distinct place of either side, `(entities,)` per side."""
    places: dict[object, int] = {}
    width = max(int(side.ranges.end.max(initial=0)) for side in sides) + 1
    codes = []
    for side in sides:
        first = np.searchsorted(side.ranges.owner, np.arange(len(side.entities)))
        code = side.ranges.start[first] * width + side.ranges.end[first]
        for position, ranges in side.fragments.items():
            place = (int(side.document[position]), ranges)
            code[position] = -1 - places.setdefault(place, len(places))
        codes.append(code)
    numbers = np.unique(np.concatenate(codes), return_inverse=True)[1]
    return np.split(numbers, [len(codes[0])])


def _distinct(side: _Numbered, span: Integers, ids: Integers, matched: Booleans) -> Columns:
    """The first of the entities with the same id, in their order."""
    kept = np.sort(np.unique(ids, return_index=True)[1])
    chosen = is_among(side.ranges.owner, kept)
    owner, start, end = (column[chosen] for column in (side.ranges.owner, side.ranges.start, side.ranges.end))
    owner = np.searchsorted(kept, owner)
    borders = np.searchsorted(owner, np.arange(len(kept) + 1))
    return Columns(
        entities=tuple(side.entities[position] for position in kept.tolist()),
        document=side.document[kept],
        type=side.type[kept],
        span=span[kept],
        matched=matched[kept],
        start=start[borders[:-1]],
        end=end[borders[1:] - 1],
        ranges=Ranges(owner, start, end),
    )


def _length(pair: Pair) -> int:
    """The length of a document in the offsets that are compared."""
    length = len(pair.document.text)
    return pair.compared([(0, length)])[0][1]


def _notes(one_sided: int, absent_types: frozenset[str]) -> Iterable[str]:
    if one_sided:
        yield f"documents left out, as n2c2 counts only those of both sides: {one_sided}"
    yield from (f"ignored type {type_!r}: no entity has it" for type_ in sorted(absent_types))
