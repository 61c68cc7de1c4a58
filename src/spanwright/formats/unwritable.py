"""What a format cannot express of a document: one line for each thing, and what kind of thing it is.

`general_losses` is about what a format has no place for at all, and is asked for every format and document.
What it has a place for, but not in every case, is told by the format itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Literal

from spanwright.text import Argument, Document, Entity, Relation

Kind = Literal[
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

BY_PRODUCTS: frozenset[Kind] = frozenset(("notes", "confidences", "metadata", "corpora"))
"""What may be left out without leave, though never uncounted: neither the text nor what is marked in it."""


EVERYTHING: frozenset[Kind] = BY_PRODUCTS | {"concepts", "relations"}
"""What a format holds that has a place for all that `general_losses` looks at."""


class Loss(str):
    """A line that names something of a document that a format cannot express."""

    kind: Kind
    things: int

    def __new__(cls, kind: Kind, line: str, things: int = 1) -> Loss:
        """A loss of so many things of a kind."""
        loss = super().__new__(cls, line)
        loss.kind, loss.things = kind, things
        return loss

    @property
    def needs_leave(self) -> bool:
        """Whether writing is refused unless losses are allowed."""
        return self.kind not in BY_PRODUCTS


def count_losses(losses: Iterable[Loss]) -> int:
    """How many things were lost."""
    return sum(loss.things for loss in losses)


def told_by_kind(losses: Iterable[Loss]) -> str:
    """How many things were lost, and of each kind: '5 losses (3 relations, 2 concepts)', or '0 losses'."""
    counts: Counter[str] = Counter()
    for loss in losses:
        counts[loss.kind] += loss.things
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    return f"{counts.total():,} losses{f' ({kinds})' if kinds else ''}"


def named(document: Document, entity: Entity) -> str:
    """An entity in the words of a loss."""
    return f"{_shown(document, entity)} of document {document.id!r}"


def _shown(document: Document, entity: Entity) -> str:
    return f"{entity.type!r} {document.mention(entity)!r} at [{entity.start}, {entity.end})"


def lost_concepts(document: Document, entity: Entity) -> Loss:
    """The loss of the concepts of an entity."""
    line = f"the concepts {list(entity.concepts)} of {named(document, entity)}"
    return Loss("concepts", line, len(entity.concepts))


def lost_relation(document: Document, relation: Relation) -> Loss:
    """The loss of a relation."""
    arguments = " and ".join(_shown_argument(document, each) for each in relation.arguments)
    note = f" with the note {relation.note!r}" if relation.note else ""
    return Loss(
        "relations", f"the relation {relation.type!r} of {arguments}{note} in document {document.id!r}"
    )


def _shown_argument(document: Document, argument: Argument) -> str:
    target = argument.target
    shown = _shown(document, target) if isinstance(target, Entity) else f"the concept {target!r}"
    return f"{shown} as {argument.role!r}" if argument.role else shown


def general_losses(document: Document, holds: Set[Kind], keys: Set[str]) -> Iterator[Loss]:
    """A line for each thing of the kinds that a format does not hold.

    `keys` are those of the metadata and the annotation notes that it reads and writes nevertheless.
    """
    if "concepts" not in holds:
        yield from (lost_concepts(document, entity) for entity in document.entities if entity.concepts)
    if "relations" not in holds:
        yield from (lost_relation(document, relation) for relation in document.relations)
    if "confidences" not in holds:
        count = sum(entity.confidence is not None for entity in document.entities)
        if count:
            yield Loss(
                "confidences", f"the confidences of {count} entities of document {document.id!r}", count
            )
    if "corpora" not in holds and document.corpus is not None:
        yield Loss("corpora", f"the corpus {document.corpus!r} of document {document.id!r}")
    if "metadata" not in holds:
        yield from _lost_keys("metadata", "metadata", document.metadata, keys, document)
    if "notes" not in holds:
        yield from _lost_keys("notes", "annotation notes", document.annotation_notes, keys, document)


def _lost_keys(
    kind: Kind, name: str, values: Mapping[str, object], keys: Set[str], document: Document
) -> Iterator[Loss]:
    for key in values:
        if key not in keys:
            yield Loss(kind, f"the {name} {key!r} of document {document.id!r}")
