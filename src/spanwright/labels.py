"""The label space: which types there are, in which order, and what is known about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from spanwright.descriptions import label_in_words
from spanwright.errors import InputError
from spanwright.text import Document

Prototype = tuple[str, str, str]
"""A mention in its context: the text before it, the mention, the text behind it."""


@dataclass(frozen=True)
class LabelSpace:
    """The types that a model knows. A type's id is its position in `types`."""

    types: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    """One text per type, or none at all: then the names in words serve."""
    prototypes: tuple[tuple[Prototype, ...], ...] = ()
    """Training mentions of each type, for models that compare with them."""

    def __post_init__(self) -> None:
        if not self.types or len(set(self.types)) != len(self.types):
            raise InputError(f"a label space needs at least one type and no type twice; found {self.types}")
        for field, values in (("descriptions", self.descriptions), ("prototypes", self.prototypes)):
            if values and len(values) != len(self.types):
                raise InputError(f"a label space of {len(self.types)} types has {len(values)} {field}")

    @cached_property
    def ids(self) -> dict[str, int]:
        """Type name to type id."""
        return {name: position for position, name in enumerate(self.types)}

    @property
    def texts(self) -> tuple[str, ...]:
        """What a type encoder reads about each type."""
        return self.descriptions or tuple(map(label_in_words, self.types))

    def __len__(self) -> int:
        return len(self.types)

    def with_types(self, descriptions: Mapping[str, str]) -> LabelSpace:
        """This label space and more types, given by name and description; a known name is described anew."""
        texts = dict(zip(self.types, self.texts, strict=True)) | dict(descriptions)
        return replace(self, types=tuple(texts), descriptions=tuple(texts.values()), prototypes=())

    @classmethod
    def of(cls, documents: Iterable[Document]) -> LabelSpace:
        """The types that occur in documents, sorted by name."""
        return cls(tuple(sorted({entity.type for document in documents for entity in document.entities})))

    def to_dict(self, prototypes: int) -> dict[str, Any]:
        """Plain values for JSON, with so many prototypes of each type."""
        values: dict[str, Any] = {"types": self.types}
        if self.descriptions:
            values["descriptions"] = self.descriptions
        if self.prototypes:
            values["prototypes"] = [own[:prototypes] for own in self.prototypes]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LabelSpace:
        """The label space of plain values."""
        return cls(
            tuple(str(name) for name in values["types"]),
            tuple(str(text) for text in values.get("descriptions", ())),
            tuple(
                tuple((str(before), str(mention), str(behind)) for before, mention, behind in own)
                for own in values.get("prototypes", ())
            ),
        )
