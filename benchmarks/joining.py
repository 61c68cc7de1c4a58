"""Longer documents from a corpus of single sentences, for systems that read across sentence borders."""

from __future__ import annotations

from spanwright.text import Document, Entity, words


def joined(documents: list[Document], number: int) -> list[Document]:
    """Documents made of so many neighbours, with a blank between them, for corpora of single sentences."""
    if number == 1:
        return documents
    return [_join(documents[first : first + number]) for first in range(0, len(documents), number)]


def _join(parts: list[Document]) -> Document:
    entities: list[Entity] = []
    ranges: list[tuple[int, int]] = []
    borders: list[tuple[int, int]] = []
    shift = 0
    for part in parts:
        entities += [
            Entity(entity.start + shift, entity.end + shift, entity.type) for entity in part.entities
        ]
        ranges += [(start + shift, end + shift) for start, end in words(part)]
        borders.append((shift, shift + len(part.text)))
        shift += len(part.text) + 1
    return Document(
        id=parts[0].id,
        text=" ".join(part.text for part in parts),
        entities=tuple(entities),
        words=tuple(ranges),
        sentences=tuple(borders),
        generated_id=parts[0].generated_id,
    )
