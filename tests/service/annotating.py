"""Texts to annotate, with suggestions, for tests."""

from __future__ import annotations

from spanwright.text import Document, Entity

TEXT = "🧬 BRCA1 mutations cause hereditary breast cancer in mice."
SUGGESTED = (("BRCA1", "Gene", 0.9), ("breast cancer", "Disease", 0.8), ("mice", "Cell", 0.4))


def texts(count: int = 3) -> list[Document]:
    """The same sentence again and again, with its number."""
    return [_document(f"text {number}", f"{TEXT} {number}") for number in range(count)]


def _document(id: str, text: str) -> Document:
    entities = tuple(
        Entity(text.index(mention), text.index(mention) + len(mention), type_, confidence=confidence)
        for mention, type_, confidence in SUGGESTED
    )
    return Document(id, text, entities, metadata={"selection": {"reason": f"unsure of {id}"}})


def found(document: Document) -> list[str]:
    """Type and mention of the entities of a document."""
    return sorted(f"{entity.type} {document.mention(entity)}" for entity in document.entities)
