"""Texts, their words and sentences, and what is marked in them. Standard library only."""

from spanwright.text.document import Argument, Document, Entity, Range, Relation
from spanwright.text.sentences import sentences, split_sentences
from spanwright.text.words import split, words

__all__ = [
    "Argument",
    "Document",
    "Entity",
    "Range",
    "Relation",
    "sentences",
    "split",
    "split_sentences",
    "words",
]
