"""Other names of entities: from the concepts that a corpus gives them, and from lexicons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spanwright.lexicons.form import LexiconLog
from spanwright.lexicons.lexicon import Lexicon, Term, lookup_key, merge
from spanwright.text import Document


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
            concept = _joined(entity.concepts)
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


class Synonyms:
    """Answers which other names mentions have.

    `documents` are training documents, whose mentions with the same concepts are synonyms; without them the
    concepts of mentions say nothing. `lexicons` know names by their spelling, and where their identifiers are
    concepts of the documents, by these too.
    """

    def __init__(self, documents: Iterable[Document] = (), lexicons: Sequence[Lexicon] = ()) -> None:
        annotated = [term for term in lexicon_from_documents(documents).terms() if term.concept is not None]
        concepts = {term.concept for term in annotated}
        self._lexicon = merge(*lexicons)
        same = [term for term in self._lexicon.terms() if not concepts.isdisjoint(term.ids)]
        self._annotated = Lexicon([*annotated, *same])
        self._by_concept: dict[str | None, list[Term]] = {concept: [] for concept in concepts}
        for term in self._annotated.terms():
            for concept in concepts.intersection(term.ids):
                self._by_concept[concept].append(term)

    def of(self, mention: str, *concepts: Sequence[str]) -> tuple[str, ...]:
        """The synonyms of a mention with the concepts of each of its annotations, in a fixed order.

        First the other names of its concepts, where those of one annotation belong together: 'breast and
        ovarian cancer' is no synonym of 'breast cancer'. Then what the lexicons know of its spelling. Only
        where both know nothing, the concepts of other mentions with its spelling serve. Names are spelt as
        in their sources; of those that differ in case alone, or in blanks beside punctuation, the first is
        given, and none that is the mention itself.
        """
        terms = [term for together in concepts for term in self._by_concept.get(_joined(together), ())]
        names = [name for term in terms for name in term.names]
        names += self._lexicon.synonyms(mention)
        return _others(names, lookup_key(mention)) or self._annotated.synonyms(mention)


def _others(names: Iterable[str], own: str) -> tuple[str, ...]:
    """The first name of each lookup key, without those that have the mention's own."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(lookup_key(name), name)
    found.pop(own, None)
    return tuple(found.values())


def _joined(concepts: Sequence[str]) -> str:
    """The one identifier of all concepts of a mention."""
    return "|".join(sorted(set(concepts)))
