"""Texts, their words and sentences, and what is marked in them. Standard library only."""

from spanwright.text.document import Argument, Document, Entity, Range, Relation
from spanwright.text.sentences import sentences, split_sentences
from spanwright.text.words import iter_words, split, words

__all__ = [
    "Argument",
    "Document",
    "Entity",
    "Range",
    "Relation",
    "iter_words",
    "sentences",
    "split",
    "split_sentences",
    "words",
]
