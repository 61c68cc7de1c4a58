"""The label space: which types there are, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spanwright.errors import InputError
from spanwright.text import Document


@dataclass(frozen=True)
class LabelSpace:
    """The types that a model knows. A type's id is its position in `types`."""

    types: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.types or len(set(self.types)) != len(self.types):
            raise InputError(f"a label space needs at least one type and no type twice; found {self.types}")

    @cached_property
    def ids(self) -> dict[str, int]:
        """Type name to type id."""
        return {name: position for position, name in enumerate(self.types)}

    def __len__(self) -> int:
        return len(self.types)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> LabelSpace:
        """The types that occur in documents, sorted by name."""
        return cls(tuple(sorted({entity.type for document in documents for entity in document.entities})))
