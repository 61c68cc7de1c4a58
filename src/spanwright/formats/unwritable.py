"""What a format cannot express of a document: one line for each thing, and what kind of thing it is.

`general_unwritable` is about what a format has no place for at all; it is asked for every document.
What it has a place for, but not in every case, is named by the format itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Literal

from spanwright.errors import counted
from spanwright.text import Argument, Document, Entity, Relation

ContentKind = Literal[
    "ids",
    "texts",
    "borders",
    "entities",
    "types",
    "concepts",
    "relations",
    "notes",
    "confidences",
    "metadata",
    "corpora",
]
"""Borders are those of given words and sentences, notes are annotation notes, corpora are their names."""

BY_PRODUCTS: frozenset[ContentKind] = frozenset(("notes", "confidences", "metadata", "corpora"))
"""What may be left out without leave, though never uncounted: neither the text nor what is marked in it."""


EVERYTHING: frozenset[ContentKind] = BY_PRODUCTS | {"concepts", "relations"}
"""What a format holds that has a place for all that `general_unwritable` looks at."""


BLANKS = "turned into blanks"
"""What happens to line breaks that a format cannot express: all offsets hold."""


class Unwritable(str):
    """A line that names something of a document that a format cannot express."""

    kind: ContentKind
    things: int
    fate: str
    """What happens to it in an output that may lose it."""

    def __new__(cls, kind: ContentKind, line: str, things: int = 1, *, fate: str = "left out") -> Unwritable:
        """A line of so many things of a kind."""
        line = super().__new__(cls, line)
        line.kind, line.things, line.fate = kind, things, fate
        return line

    @property
    def needs_leave(self) -> bool:
        """Whether writing is refused unless it is allowed to leave things out."""
        return self.kind not in BY_PRODUCTS


def count_unwritable(unwritable: Iterable[Unwritable]) -> int:
    """How many things cannot be written."""
    return sum(line.things for line in unwritable)


def counted_by_kind(unwritable: Iterable[Unwritable]) -> str:
    """How many things are left out, and of each kind: '3 losses (2 notes, 1 relation)', or '0 losses'."""
    counts: Counter[str] = Counter()
    for line in unwritable:
        counts[line.kind] += line.things
    kinds = ", ".join(counted(count, _NOUNS.get(kind, kind[:-1])) for kind, count in counts.items())
    return f"{counted(counts.total(), 'loss')}{f' ({kinds})' if kinds else ''}"


_NOUNS = {"entities": "entity", "corpora": "corpus", "metadata": "metadata"}
"""What one thing of a kind is called, where it is not the kind without its last letter."""


def shown_entity(document: Document, entity: Entity) -> str:
    """An entity in the words of such a line."""
    return f"{_shown(document, entity)} of document {document.id!r}"


def _shown(document: Document, entity: Entity) -> str:
    return f"{entity.type!r} {document.mention(entity)!r} at [{entity.start}, {entity.end})"


def unwritable_concepts(document: Document, entity: Entity) -> Unwritable:
    """The line of the concepts of an entity."""
    line = f"the concepts {list(entity.concepts)} of {shown_entity(document, entity)}"
    return Unwritable("concepts", line, len(entity.concepts))


def unwritable_relation(document: Document, relation: Relation) -> Unwritable:
    """The line of a relation."""
    arguments = " and ".join(_shown_argument(document, each) for each in relation.arguments)
    note = f" with the note {relation.note!r}" if relation.note else ""
    return Unwritable(
        "relations", f"the relation {relation.type!r} of {arguments}{note} in document {document.id!r}"
    )


def _shown_argument(document: Document, argument: Argument) -> str:
    target = argument.target
    shown = _shown(document, target) if isinstance(target, Entity) else f"the concept {target!r}"
    return f"{shown} as {argument.role!r}" if argument.role else shown


def general_unwritable(document: Document, holds: Set[ContentKind], keys: Set[str]) -> Iterator[Unwritable]:
    """A line for each thing of the kinds that a format does not hold.

    `keys` are those of the metadata and the annotation notes that it reads and writes nevertheless.
    """
    if "concepts" not in holds:
        yield from (unwritable_concepts(document, entity) for entity in document.entities if entity.concepts)
    if "relations" not in holds:
        yield from (unwritable_relation(document, relation) for relation in document.relations)
    if "confidences" not in holds:
        count = sum(entity.confidence is not None for entity in document.entities)
        if count:
            yield Unwritable(
                "confidences",
                f"the confidences of {counted(count, 'entity')} of document {document.id!r}",
                count,
            )
    if "corpora" not in holds and document.corpus is not None:
        yield Unwritable("corpora", f"the corpus {document.corpus!r} of document {document.id!r}")
    if "metadata" not in holds:
        yield from _unwritable_keys("metadata", "metadata", document.metadata, keys, document)
    if "notes" not in holds:
        yield from _unwritable_keys("notes", "annotation notes", document.annotation_notes, keys, document)


def _unwritable_keys(
    kind: ContentKind, name: str, values: Mapping[str, object], keys: Set[str], document: Document
) -> Iterator[Unwritable]:
    for key in values:
        if key not in keys:
            yield Unwritable(kind, f"the {name} {key!r} of document {document.id!r}")
