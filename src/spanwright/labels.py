"""The label space: which types there are, in which order, and what is known about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from spanwright.descriptions import label_in_words
from spanwright.errors import InputError, SettingsError
from spanwright.text import Document

Prototype = tuple[str, str, str]
"""A mention in its context: the text before it, the mention, the text after it."""
_MOST_TYPES, _MOST_CORPORA = 20_000, 1_000
_LONGEST_NAME = 500
"""Characters of the name of a type or corpus."""


@dataclass(frozen=True)
class LabelSpace:
    """The types that a model knows. A type's id is its position in `types`.

    Models of several corpora may have the types of each apart: then names repeat, and the types of a corpus
    stand together.
    """

    types: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    """One text per type, or none at all: then the names in words serve."""
    prototypes: tuple[tuple[Prototype, ...], ...] = ()
    """Training mentions of each type, for models that compare with them."""
    corpora: tuple[str, ...] = ()
    """The corpora that a model was trained on together, by name; empty for one that does not tell them apart.
    Where none is asked for, the first answers."""
    corpus: tuple[int, ...] = ()
    """The corpus of each type, in order; empty where types are common to all corpora."""
    shared: tuple[str, ...] = ()
    """The shared type that each type is, by a label map; an empty name for none. Empty without a map."""

    def __post_init__(self) -> None:
        if len(self.types) > _MOST_TYPES or len(self.corpora) > _MOST_CORPORA:
            raise InputError(
                f"a label space has {len(self.types)} types and {len(self.corpora)} corpora; expected at "
                f"most {_MOST_TYPES} and {_MOST_CORPORA}"
            )
        for name in (*self.types, *self.corpora):
            _check_name(name)
        for text in (*self.descriptions, *self.shared):
            _check_unicode(text)
        for field in ("descriptions", "prototypes", "corpus", "shared"):
            values = getattr(self, field)
            if values and len(values) != len(self.types):
                raise InputError(f"a label space of {len(self.types)} types has {len(values)} {field}")
        keys = self.keys
        if not keys or len(set(keys)) != len(keys):
            raise InputError(f"a label space needs at least one type and no type twice; found {_shown(keys)}")
        if list(self.corpus) != sorted(self.corpus) or not set(self.corpus) <= set(range(len(self.corpora))):
            raise InputError(
                f"a label space has types of the corpora {self.corpus}; expected positions in its "
                f"{len(self.corpora)} corpora, in order"
            )

    @property
    def keys(self) -> list[tuple[str, int]]:
        """Name and corpus of each type; 0 where types are common to all corpora."""
        return list(zip(self.types, self.corpus or (0,) * len(self.types), strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each type that no other has: `Gene of BioRED` where corpora have types of their own."""
        if not self.corpus:
            return self.types
        return tuple(f"{name} of {self.corpora[corpus]}" for name, corpus in self.keys)

    @cached_property
    def _ids(self) -> dict[tuple[str, int], int]:
        return {key: position for position, key in enumerate(self.keys)}

    def find(self, name: str, corpus: int = 0) -> int | None:
        """The id of a type by its name and the position of its corpus; None if there is no such type."""
        return self._ids.get((name, corpus if self.corpus else 0))

    def corpus_id(self, name: str | None) -> int:
        """The position of a corpus, by its name; that of the first for a name that is unknown, or none."""
        return self.corpora.index(name) if name in self.corpora else 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many types each corpus has; one number where types are common to all."""
        if not self.corpus:
            return (len(self.types),)
        counts = Counter(self.corpus)
        return tuple(counts[position] for position in range(len(self.corpora)))

    def types_of(self, corpus: int) -> tuple[str, ...]:
        """The names of the types that a corpus can have."""
        return tuple(name for name, own in self.keys if own == corpus or not self.corpus)

    @property
    def texts(self) -> tuple[str, ...]:
        """What a type encoder reads about each type."""
        return self.descriptions or tuple(map(label_in_words, self.types))

    def __len__(self) -> int:
        return len(self.types)

    def with_types(self, descriptions: Mapping[str, str]) -> LabelSpace:
        """This label space and more types, given by name and description; a known name is described again."""
        if self.corpus:
            raise SettingsError(
                "this model cannot meet new types: it has the types of each of its corpora apart, and a new "
                "one belongs to none of them"
            )
        texts = dict(zip(self.types, self.texts, strict=True)) | dict(descriptions)
        return replace(self, types=tuple(texts), descriptions=tuple(texts.values()), prototypes=(), shared=())

    @classmethod
    def of(cls, documents: Iterable[Document], corpora: Sequence[str] = ()) -> LabelSpace:
        """The types that occur in documents, sorted by name; those of each corpus apart, if any are named."""
        if not corpora:
            return cls(tuple(sorted({entity.type for document in documents for entity in document.entities})))
        position = {name: number for number, name in enumerate(corpora)}
        found = sorted(
            {
                (position[document.corpus or ""], entity.type)
                for document in documents
                for entity in document.entities
            }
        )
        return cls(
            tuple(name for _, name in found),
            corpora=tuple(corpora),
            corpus=tuple(number for number, _ in found),
        )

    def to_dict(self, prototypes: int) -> dict[str, Any]:
        """Plain values for JSON, with so many prototypes of each type."""
        values: dict[str, Any] = {"types": self.types}
        if self.descriptions:
            values["descriptions"] = self.descriptions
        if self.prototypes:
            values["prototypes"] = [own[:prototypes] for own in self.prototypes]
        for field in ("corpora", "corpus", "shared"):
            if getattr(self, field):
                values[field] = getattr(self, field)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LabelSpace:
        """The label space of plain values."""
        return cls(
            _strings(values["types"], "types"),
            _strings(values.get("descriptions", ()), "descriptions"),
            tuple(tuple(_instance(instance) for instance in own) for own in values.get("prototypes", ())),
            corpora=_strings(values.get("corpora", ()), "corpora"),
            corpus=tuple(int(position) for position in values.get("corpus", ())),
            shared=_strings(values.get("shared", ()), "shared"),
        )


def _shown(keys: list[tuple[str, int]]) -> str:
    """The name that is there twice, or that there is none."""
    return next((f"{name!r} twice" for (name, _), count in Counter(keys).items() if count > 1), "none")


def _strings(values: Any, field: str) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise InputError(f"the {field} of a label space must be a list of texts")
    return tuple(values)


def _instance(values: Any) -> Prototype:
    before, mention, after = _strings(values, "prototypes")
    return before, mention, after


def _check_name(name: str) -> None:
    """Refuse names of types and corpora that entities could not carry."""
    _check_unicode(name)
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise InputError(
            f"a label space has a name of {len(name)} characters, {name[:40]!r}; expected 1 to "
            f"{_LONGEST_NAME}, not all of them blank"
        )


def _check_unicode(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"a label space has the text {text[:40]!a}, which has a lone surrogate: it is not valid Unicode"
        ) from None
