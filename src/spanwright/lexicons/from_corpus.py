"""The corpus itself as a lexicon: mentions with the same concepts are synonyms."""

from __future__ import annotations

from collections.abc import Iterable

from spanwright.lexicons.lexicon import Lexicon, Term, lookup_key
from spanwright.lexicons.log import LexiconLog
from spanwright.text import Document

_TOGETHER = "|"


def lexicon_from_documents(documents: Iterable[Document]) -> Lexicon:
    """A term for each concept and type, with the mentions as its names in the order of first appearance.

    A mention with several concepts ('breast and ovarian cancer') names them together and none of them alone:
    its concept is all of them, sorted and joined with bars. A mention without concepts is a term that
    stands alone.
    """
    names: dict[tuple[str, str], dict[str, str]] = {}
    log = LexiconLog()
    for document in documents:
        for entity in document.entities:
            log.entries_read += 1
            mention = " ".join(document.mention(entity).split())
            key = lookup_key(mention)
            concept = _TOGETHER.join(sorted(set(entity.concepts)))
            names.setdefault((entity.type, concept), {}).setdefault(key, mention)
    if log.entries_read and not any(concept for _, concept in names):
        log.notes.append(f"none of the {log.entries_read:,} mentions has a concept: there are no synonyms")
    return Lexicon(_terms(names), log)


def _terms(names: dict[tuple[str, str], dict[str, str]]) -> Iterable[Term]:
    for (type_, concept), mentions in names.items():
        if concept:
            first, *others = mentions.values()
            yield Term(first, type_, concept, tuple(others))
        else:
            yield from (Term(mention, type_) for mention in mentions.values())
