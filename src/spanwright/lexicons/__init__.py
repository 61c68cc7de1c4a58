"""Dictionaries and ontologies: names of concepts, their synonyms, and how much of a corpus they cover."""

from spanwright.lexicons.coverage import Coverage, Covered
from spanwright.lexicons.files import read_lexicon
from spanwright.lexicons.form import LexiconLog
from spanwright.lexicons.lexicon import Lexicon, Term, merge
from spanwright.lexicons.synonyms import lexicon_from_documents

__all__ = [
    "Coverage",
    "Covered",
    "Lexicon",
    "LexiconLog",
    "Term",
    "lexicon_from_documents",
    "merge",
    "read_lexicon",
]
