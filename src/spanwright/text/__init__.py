"""Texts, their words and sentences, and what is marked in them. Standard library only."""

from spanwright.text.document import Document, Entity, Range
from spanwright.text.sentences import sentences, split_sentences
from spanwright.text.words import split, words

__all__ = ["Document", "Entity", "Range", "sentences", "split", "split_sentences", "words"]
