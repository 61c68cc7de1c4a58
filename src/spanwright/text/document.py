"""`Document` and `Entity`: a text and what is marked in it.

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

    `fragments` is empty for a mention in one piece. A discontinuous mention lists its pieces in order;
    `start` and `end` are then the outer bounds.
    """

    start: int
    end: int
    type: str
    fragments: tuple[Range, ...] = ()
    concepts: tuple[str, ...] = ()
    """Identifiers in an ontology or dictionary, as the corpus gives them."""
    confidence: float | None = None
    """The model's confidence in a predicted entity; None for annotated ones."""

    @property
    def pieces(self) -> tuple[Range, ...]:
        """The character ranges of the mention: its fragments, or its one range."""
        return self.fragments or ((self.start, self.end),)

    @property
    def key(self) -> tuple[tuple[Range, ...], str]:
        """What strict scoring compares: the exact character ranges and the type."""
        return self.pieces, self.type


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

    def __post_init__(self) -> None:
        _refuse_lone_surrogates(self)
        for entity in self.entities:
            _check_entity(self, entity)
        for name, ranges in (("word", self.words), ("sentence", self.sentences)):
            _check_ranges(self, name, ranges or ())

    def mention(self, entity: Entity) -> str:
        """The text of an entity; the pieces of a discontinuous one are joined by a blank."""
        return " ".join(self.text[start:end] for start, end in entity.pieces)

    def with_entities(self, entities: tuple[Entity, ...]) -> Document:
        """The same document with other entities."""
        return replace(self, entities=entities)


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
    for start, end in entity.pieces:
        if not 0 <= start < end <= length:
            raise InputError(
                f"document {document.id!r}: entity {entity.type!r} at [{start}, {end}) is outside the text; "
                f"legal are 0 <= start < end <= {length}"
            )
    if entity.fragments:
        bounds = (entity.fragments[0][0], entity.fragments[-1][1])
        in_order = all(
            left[1] <= right[0] for left, right in zip(entity.fragments, entity.fragments[1:], strict=False)
        )
        if not in_order or bounds != (entity.start, entity.end):
            raise InputError(
                f"document {document.id!r}: entity {entity.type!r} at [{entity.start}, {entity.end}) has "
                f"fragments {list(entity.fragments)}; legal are ordered, disjoint fragments that reach "
                f"from its start to its end"
            )


def _check_ranges(document: Document, name: str, ranges: tuple[Range, ...]) -> None:
    previous, length = 0, len(document.text)
    for start, end in ranges:
        if not previous <= start < end <= length:
            raise InputError(
                f"document {document.id!r}: {name} [{start}, {end}) is empty, out of order or outside the "
                f"text; legal are ordered, disjoint ranges within {previous} and {length}"
            )
        previous = end
