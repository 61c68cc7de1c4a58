"""How entities are kept in a `Doc` of spaCy, whose spans consist of whole tokens.

All entities are in one span group. Where an entity begins or ends inside a token, its span has the whole
token, and the exact characters stand in an attribute of the group, so that no offset is lost. Attributes are
plain lists: they survive `Doc.to_bytes` and `DocBin`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from spanwright.errors import InputError
from spanwright.text import Entity

SCORES, OFFSETS, CONCEPTS = "scores", "exact_offsets", "concepts"
"""Attributes of a span group: a confidence, `[start, end]` and a list of concepts for each of its spans."""
SEPARATOR = "|"
"""Between the concepts of a composite mention in `kb_id_`."""


def add_group(doc: Any, key: str, entities: Iterable[Entity]) -> None:
    """Put entities into the span group `key`, in the order of the text; an older group is replaced."""
    from spacy.tokens import SpanGroup

    ordered = sorted(entities, key=lambda entity: (entity.start, -entity.end, entity.type))
    spans = [
        doc.char_span(
            entity.start,
            entity.end,
            label=entity.type,
            kb_id=SEPARATOR.join(entity.concepts),
            alignment_mode="expand",
        )
        for entity in ordered
    ]
    attributes: dict[str, list[Any]] = {
        SCORES: [entity.confidence for entity in ordered],
        OFFSETS: [[entity.start, entity.end] for entity in ordered],
    }
    if any(entity.concepts for entity in ordered):
        attributes[CONCEPTS] = [list(entity.concepts) for entity in ordered]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attributes, spans=spans)


def add_ents(doc: Any, key: str) -> None:
    """Add the spans of a group to `doc.ents`, the most confident of those that overlap.

    Those of equal confidence stay by length, then by place. What is in `doc.ents` already stays there.
    """
    kept = list(doc.ents)
    taken = {position for span in kept for position in range(span.start, span.end)}
    group = doc.spans[key]
    for _, span in sorted(zip(group.attrs[SCORES], group, strict=True), key=_rank):
        positions = range(span.start, span.end)
        # spaCy takes a span without a label for none.
        if span.label and taken.isdisjoint(positions):
            taken.update(positions)
            kept.append(span)
    doc.ents = kept


def _rank(scored: tuple[float, Any]) -> tuple[float, int, int, str]:
    confidence, span = scored
    return -confidence, -len(span), span.start, span.label_


def entities_of_doc(doc: Any) -> tuple[Entity, ...]:
    """The entities of all groups that `add_group` has made, with their exact characters."""
    return tuple(_entity(group, position) for group in _groups(doc) for position in range(len(group)))


def entity_of_span(span: Any) -> Entity | None:
    """The entity that a span stands for, with its exact characters; None for a span of another origin.

    Where several entities of one type lie inside the same tokens, it is the most confident.
    """
    found = [entity for group in _groups(span.doc) for entity in _behind(span, group)]
    return max(found, key=lambda entity: entity.confidence or 0.0, default=None)


def _behind(span: Any, group: Any) -> Iterator[Entity]:
    """The entities of a group whose spans have the tokens and the type of this one."""
    borders = (span.start_char, span.end_char)
    first, last = (bisect_left(group.attrs[OFFSETS], border, key=itemgetter(0)) for border in borders)
    for position in range(first, last):
        other = group[position]
        if (other.start, other.end, other.label) == (span.start, span.end, span.label):
            yield _entity(group, position)


def _entity(group: Any, position: int) -> Entity:
    start, end = group.attrs[OFFSETS][position]
    # Groups that were made before there were linkers have no concepts.
    concepts = group.attrs[CONCEPTS][position] if CONCEPTS in group.attrs else ()
    confidence = group.attrs[SCORES][position]
    return Entity(start, end, group[position].label_, concepts=tuple(concepts), confidence=confidence)


def _groups(doc: Any) -> Iterator[Any]:
    """The groups that `add_group` has made."""
    for key, group in doc.spans.items():
        offsets = group.attrs.get(OFFSETS)
        if offsets is None:
            continue
        if len(group) != len(offsets):
            raise InputError(
                f"doc.spans[{key!r}]: found {len(group)} spans and {len(offsets)} exact offsets; expected a "
                f"group as it was made: put spans of your own into another one"
            )
        yield group
