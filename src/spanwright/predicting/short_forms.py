"""Abbreviations as entities: a short form is of the type that its long form has in the same document."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from spanwright.text import Document, Entity, Range
from spanwright.text.abbreviations import find_abbreviations, occurrences


def with_short_forms(document: Document) -> Document:
    """The document in which every short form is an entity like its long form.

    A short form that is an entity of other types gets those of the long form; one that overlaps any other
    entity stays as it is.
    """
    entities: dict[tuple[Range, ...], list[Entity]] = {}
    for entity in document.entities:
        entities.setdefault(entity.ranges, []).append(entity)
    changed = dict(entities)
    for each in find_abbreviations(document.text):
        long = entities.get((each.long,), [])
        for place in occurrences(document.text, document.text[slice(*each.short)]) if long else ():
            if (place,) in entities or not _overlaps(place, document.entities):
                changed[(place,)] = [replace(entity, start=place[0], end=place[1]) for entity in long]
    if changed == entities:
        return document
    ordered = sorted(chain.from_iterable(changed.values()), key=lambda entity: (entity.start, entity.end))
    return document.tagged(tuple(ordered))


def _overlaps(place: Range, entities: tuple[Entity, ...]) -> bool:
    return any(start < place[1] and place[0] < end for entity in entities for start, end in entity.ranges)
