from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.lexicons import Lexicon, Term, lexicon_from_documents, merge
from spanwright.lexicons.lexicon import lookup_key
from spanwright.lexicons.synonyms import Synonyms
from spanwright.text import Document, Entity

Mention = tuple[str, tuple[str, ...]]
"""A mention and its concepts."""


def document(*mentions: Mention) -> Document:
    text, entities = "", []
    for mention, concepts in mentions:
        entities.append(Entity(len(text), len(text) + len(mention), "Disease", concepts=concepts))
        text += f"{mention}\n"
    return Document("1", text, tuple(entities))


FLU = document(("flu", ("D1",)), ("Influenza", ("D1",)), ("FLU", ("D1",)), ("grippe", ("D1",)))


def test_mentions_of_the_same_concept_are_synonyms_in_the_order_of_the_texts() -> None:
    assert Synonyms([FLU]).of("grippe", ["D1"]) == ("flu", "Influenza")


def test_a_mention_of_another_split_has_the_synonyms_of_its_concept() -> None:
    assert Synonyms([FLU]).of("la grippe", ["D1"]) == ("flu", "Influenza", "grippe")


def test_the_concepts_tell_mentions_with_the_same_spelling_apart() -> None:
    synonyms = Synonyms(
        [document(("CF", ("D1",)), ("fibrosis", ("D1",)), ("CF", ("D2",)), ("flow", ("D2",)))]
    )
    assert synonyms.of("CF", ["D1"]) == ("fibrosis",)
    assert synonyms.of("CF", ["D2"]) == ("flow",)
    assert synonyms.of("CF", ["D1"], ["D2"]) == ("fibrosis", "flow")


def test_a_mention_without_known_concepts_has_the_synonyms_of_its_spelling() -> None:
    assert Synonyms([FLU]).of("flu") == Synonyms([FLU]).of("flu", ["D9"]) == ("Influenza", "grippe")


def test_several_concepts_are_one() -> None:
    synonyms = Synonyms([document(("colds", ("D1", "D2")), ("cold", ("D1",)), ("both", ("D2", "D1")))])
    assert synonyms.of("colds", ["D1", "D2"]) == ("both",)
    assert synonyms.of("cold", ["D1"]) == ()


def test_without_documents_concepts_say_nothing() -> None:
    lexicon = Lexicon([Term("flu", None, "D1", ("grippe",)), Term("ague", None, "D2", ("shivers",))])
    assert Synonyms(lexicons=[lexicon]).of("flu", ["D2"]) == ("grippe",)


def test_names_of_lexicons_come_after_those_of_the_corpus() -> None:
    lexicon = Lexicon([Term("Flu", None, "X", ("fever", "GRIPPE"))])
    assert Synonyms([FLU], [lexicon]).of("flu", ["D1"]) == ("Influenza", "grippe", "fever")


def test_a_lexicon_knows_mentions_by_their_concept() -> None:
    lexicon = Lexicon([Term("catarrh", None, "X", other_ids=("D1",))])
    assert Synonyms([FLU], [lexicon]).of("grippe", ["D1"]) == ("flu", "Influenza", "catarrh")


def test_lexicons_know_more_together() -> None:
    lexicons = [Lexicon([Term("flu", None, "D1")]), Lexicon([Term("grippe", None, "D1")])]
    assert Synonyms(lexicons=lexicons).of("flu") == ("grippe",)


@pytest.mark.parametrize("mention", ["X-linked ague", "x-Linked Ague", "X - linked  ague"])
def test_the_mention_itself_is_no_synonym_however_it_is_spelt(mention: str) -> None:
    lexicon = Lexicon([Term("X-linked ague", None, "D1", ("x-linked  ague", "ague", "Ague"))])
    assert Synonyms(lexicons=[lexicon]).of(mention) == ("ague",)


def test_nothing_is_known_without_sources() -> None:
    assert Synonyms().of("flu", ["D1"]) == ()


NAMES = st.sampled_from(["flu", "Flu", "grippe", "ague", "x-linked", "X - linked"])
IDS = st.sampled_from(["D1", "D2", "D3"])
MENTIONS = st.lists(st.tuples(NAMES, st.lists(IDS, max_size=2).map(tuple)), max_size=8)
LEXICONS = st.lists(
    st.lists(
        st.builds(
            lambda id, names: Term(names[0], None, id, tuple(names[1:])), IDS, st.lists(NAMES, min_size=1)
        )
    ).map(Lexicon),
    max_size=2,
)


@given(MENTIONS, LEXICONS)
def test_the_mentions_that_have_synonyms_are_those_that_the_sources_cover(
    mentions: list[Mention], lexicons: list[Lexicon]
) -> None:
    documents = [document(*mentions)]
    synonyms = Synonyms(documents, lexicons)
    together = merge(lexicon_from_documents(documents), *lexicons)
    covered = sum(bool(synonyms.of(mention, concepts)) for mention, concepts in mentions)
    assert covered == together.coverage(documents).overall.mentions_covered


@given(MENTIONS, LEXICONS)
def test_synonyms_are_those_that_a_search_of_all_sources_finds(
    mentions: list[Mention], lexicons: list[Lexicon]
) -> None:
    synonyms = Synonyms([document(*mentions)], lexicons)
    terms = [term for lexicon in lexicons for term in lexicon.terms()]
    for mention, concepts in mentions:
        expected = naive(mention, concepts, mentions, terms)
        if expected:
            assert {lookup_key(name) for name in synonyms.of(mention, concepts)} == expected


def naive(mention: str, concepts: Sequence[str], mentions: list[Mention], terms: list[Term]) -> set[str]:
    """Lookup keys of what has the same concepts, or a concept that a lexicon gives to the mention."""
    own = lookup_key(mention)
    found = {name for name, others in mentions if concepts and set(others) == set(concepts)}
    spelt = {term.concept for term in terms if own in map(lookup_key, term.names)}
    wanted = spelt | (set(concepts) if len(set(concepts)) == 1 else set())
    found.update(name for term in terms if term.concept in wanted for name in term.names)
    return {lookup_key(name) for name in found} - {own}
