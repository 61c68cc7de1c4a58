"""`Document`, `Entity` and `Relation`: a text and what is marked in it.

Offsets count characters of the untouched text and are half open: `text[start:end]` is the mention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spanwright.errors import InputError

Range = tuple[int, int]
"""Half-open character range."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One mention of a type, at `[start, end)`.

    `fragments` is empty for a mention in one range. A discontinuous mention lists its ranges in order;
    `start` and `end` are then the outer bounds. One fragment that is the whole range is no fragment.
    """

    start: int
    end: int
    type: str
    fragments: tuple[Range, ...] = ()
    concepts: tuple[str, ...] = ()
    """Identifiers in an ontology or dictionary, as the corpus gives them."""
    confidence: float | None = None
    """The model's confidence in a predicted entity; None for annotated ones."""

    def __post_init__(self) -> None:
        if self.fragments == ((self.start, self.end),):
            object.__setattr__(self, "fragments", ())

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The character ranges of the mention: its fragments, or its one range."""
        return self.fragments or ((self.start, self.end),)

    @property
    def key(self) -> tuple[tuple[Range, ...], str]:
        """What strict scoring compares: the exact character ranges and the type."""
        return self.ranges, self.type

    @property
    def note_key(self) -> str:
        """What annotation notes call it; an entity that was changed has another key."""
        borders = ";".join(f"{start} {end}" for start, end in self.ranges)
        return "\t".join((borders, self.type, *self.concepts))


@dataclass(frozen=True, slots=True)
class Argument:
    """What a relation holds of: a mention, or a concept wherever it is mentioned."""

    target: Entity | str
    """An entity of the document, or the identifier of a concept."""
    role: str = ""
    """Empty where its place among the arguments says it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a type between mentions (as in BRAT) or between concepts (as in PubTator)."""

    type: str
    arguments: tuple[Argument, ...]
    note: str = ""
    """What the corpus says of it in a word, such as BioRED's `Novel`."""

    @property
    def mentions(self) -> tuple[Entity, ...]:
        """The entities among the arguments."""
        return tuple(each.target for each in self.arguments if isinstance(each.target, Entity))

    def with_changed_entities(self, changes: Mapping[Entity, Entity]) -> Relation:
        """The same relation between changed entities."""
        arguments = (
            replace(each, target=changes[each.target]) if isinstance(each.target, Entity) else each
            for each in self.arguments
        )
        return replace(self, arguments=tuple(arguments))


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its entities. Entities may nest, cross, or repeat a span with another type."""

    id: str
    text: str
    entities: tuple[Entity, ...] = ()
    words: tuple[Range, ...] | None = None
    """Words given by a pre-tokenised corpus; None lets `spanwright.text.words` split the text."""
    sentences: tuple[Range, ...] | None = None
    """Sentence borders given by the corpus; None lets `spanwright.text.sentences` find them."""
    corpus: str | None = None
    generated_id: bool = False
    """True when the id was made up by a reader (file and position) and says nothing about identity."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the text, such as its journal. What is known of the annotations is not here."""
    relations: tuple[Relation, ...] = ()
    """The mentions in them are entities of the document."""
    annotation_notes: Mapping[str, Any] = field(default_factory=dict)
    """What a reader keeps of annotations beside entities and relations, such as the events of BRAT."""

    def __post_init__(self) -> None:
        _refuse_lone_surrogates(self)
        for entity in self.entities:
            _check_entity(self, entity)
        for name, ranges in (("word", self.words), ("sentence", self.sentences)):
            _check_ranges(self, name, ranges or ())
        if self.relations:
            _check_relations(self)

    def mention(self, entity: Entity) -> str:
        """The text of an entity; the ranges of a discontinuous one are joined by a blank."""
        return " ".join(self.text[start:end] for start, end in entity.ranges)

    def with_entities(self, entities: tuple[Entity, ...]) -> Document:
        """The same document with other entities; relations of mentions that are gone go with them."""
        known = set(entities) if self.relations else set()
        relations = tuple(relation for relation in self.relations if known.issuperset(relation.mentions))
        return replace(self, entities=entities, relations=relations)

    def with_changed_entities(self, changes: Mapping[Entity, Entity]) -> Document:
        """The same document with each of some entities changed, also in relations; all others are gone.

        Entities that become the same are one. What is noted of an entity is noted of what it becomes.
        """
        relations = tuple(
            relation.with_changed_entities(changes)
            for relation in self.relations
            if all(entity in changes for entity in relation.mentions)
        )
        entities = dict.fromkeys(changes[entity] for entity in self.entities if entity in changes)
        names = {old.note_key: new.note_key for old, new in changes.items()}
        notes = {name: _renamed(value, names) for name, value in self.annotation_notes.items()}
        return replace(self, entities=tuple(entities), relations=relations, annotation_notes=notes)

    def _repr_html_(self) -> str:
        """What a notebook shows: the text, with its entities as brackets."""
        from spanwright.drawing import display

        return display(self)

    def tagged(self, entities: tuple[Entity, ...]) -> Document:
        """The same text with these entities, and nothing else of what was marked in it."""
        return replace(self, entities=entities, relations=(), annotation_notes={})


def _renamed(notes: Any, names: Mapping[str, str]) -> Any:
    """Notes in whose tables entities have other names; lists of several that become one are joined."""
    if not isinstance(notes, dict):
        return notes
    renamed: dict[Any, Any] = {}
    for name, value in notes.items():
        new = names.get(name, name)
        there = renamed.get(new)
        if isinstance(there, list) and isinstance(value, list):
            renamed[new] = [*there, *value]
        else:
            renamed.setdefault(new, _renamed(value, names))
    return renamed


def _refuse_lone_surrogates(document: Document) -> None:
    for name, value in (("text", document.text), ("id", document.id)):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"document {document.id!r}: character {error.start} of its {name} is a lone surrogate "
                f"(U+{ord(value[error.start]):04X}), which no UTF-8 file can hold; replace or remove it"
            ) from None


def _check_entity(document: Document, entity: Entity) -> None:
    length = len(document.text)
    for start, end in entity.ranges:
        if not 0 <= start < end <= length:
            raise InputError(
                f"document {document.id!r}: entity {entity.type!r} at [{start}, {end}) is outside the text; "
                f"expected 0 <= start < end <= {length}"
            )
    if entity.fragments:
        bounds = (entity.fragments[0][0], entity.fragments[-1][1])
        in_order = all(
            left[1] <= right[0] for left, right in zip(entity.fragments, entity.fragments[1:], strict=False)
        )
        if not in_order or bounds != (entity.start, entity.end):
            raise InputError(
                f"document {document.id!r}: entity {entity.type!r} at [{entity.start}, {entity.end}) has "
                f"fragments {list(entity.fragments)}; expected ordered, disjoint fragments that reach "
                f"from its start to its end"
            )


def _check_relations(document: Document) -> None:
    known = set(document.entities)
    for relation in document.relations:
        for entity in relation.mentions:
            if entity not in known:
                raise InputError(
                    f"document {document.id!r}: the relation {relation.type!r} holds of {entity.type!r} at "
                    f"[{entity.start}, {entity.end}), which is not an entity of the document; expected one "
                    f"of its entities, with the same concepts and confidence, or a concept"
                )


def _check_ranges(document: Document, name: str, ranges: tuple[Range, ...]) -> None:
    previous, length = 0, len(document.text)
    for start, end in ranges:
        if not previous <= start < end <= length:
            raise InputError(
                f"document {document.id!r}: {name} [{start}, {end}) is empty, out of order or outside the "
                f"text; expected ordered, disjoint ranges within {previous} and {length}"
            )
        previous = end
