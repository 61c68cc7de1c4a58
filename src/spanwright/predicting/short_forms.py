"""Abbreviations as entities: a short form is of the type that its long form has in the same document."""

from __future__ import annotations

from dataclasses import replace

from spanwright.text import Document, Entity, Range
from spanwright.text.abbreviations import find_abbreviations, occurrences


def with_short_forms(document: Document) -> Document:
    """The document in which every short form is an entity like its long form.

    A short form that is an entity of another type gets that of the long form; one that overlaps any other
    entity stays as it is.
    """
    entities = {entity.ranges: entity for entity in document.entities}
    changed = dict(entities)
    for each in find_abbreviations(document.text):
        long = entities.get((each.long,))
        if long is not None:
            for place in occurrences(document.text, document.text[slice(*each.short)]):
                if (place,) in entities or not _overlaps(place, document.entities):
                    changed[(place,)] = replace(long, start=place[0], end=place[1])
    if changed == entities:
        return document
    ordered = sorted(changed.values(), key=lambda entity: (entity.start, entity.end))
    return document.tagged(tuple(ordered))


def _overlaps(place: Range, entities: tuple[Entity, ...]) -> bool:
    return any(start < place[1] and place[0] < end for entity in entities for start, end in entity.ranges)
