"""A small lexicon and documents for tests of linking."""

from __future__ import annotations

from spanwright.lexicons import Lexicon, Term
from spanwright.text import Document, Entity

TERMS = [
    Term("Breast Neoplasms", None, "D1", ("Breast Cancer", "Cancer, Breast"), ("114480",)),
    Term("Ovarian Neoplasms", None, "D2", ("Ovarian Cancer", "Cancer of Ovary")),
    Term("Wiskott-Aldrich Syndrome", None, "D3", ("WAS", "Aldrich Syndrome")),
    Term("Hypertension", None, "D4", ("High Blood Pressure",)),
    Term("Hypotension", None, "D5", ("Low Blood Pressure",)),
    Term("Washing", None, "D6", ("WAS",)),
]


def lexicon(type: str | None = None) -> Lexicon:
    """Six diseases, of which two share a name."""
    return Lexicon([Term(t.name, type, t.concept, t.synonyms, t.other_ids) for t in TERMS])


def marked(text: str, *mentions: str, type: str = "Disease", id: str = "1", concepts: str = "") -> Document:
    """A text with the first place of each of some mentions as an entity."""
    given = tuple(concepts.split("|")) if concepts else ()
    entities = []
    for mention in mentions:
        start = text.index(mention)
        entities.append(Entity(start, start + len(mention), type, concepts=given))
    return Document(id, text, tuple(entities))
