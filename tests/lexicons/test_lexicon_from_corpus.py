from __future__ import annotations

from spanwright.lexicons import Lexicon, Term, lexicon_from_documents
from spanwright.text import Document, Entity


def document(*mentions: tuple[str, str, tuple[str, ...]]) -> Document:
    """A document of mentions with types and concepts, one per line."""
    text = ""
    entities = []
    for mention, type_, concepts in mentions:
        entities.append(Entity(len(text), len(text) + len(mention), type_, concepts=concepts))
        text += f"{mention}\n"
    return Document("1", text, tuple(entities))


def lexicon(*mentions: tuple[str, str, tuple[str, ...]]) -> Lexicon:
    return lexicon_from_documents([document(*mentions)])


def test_mentions_with_the_same_concept_are_synonyms() -> None:
    made = lexicon(("flu", "Disease", ("D1",)), ("cold", "Disease", ("D2",)), ("grippe", "Disease", ("D1",)))
    assert list(made.terms()) == [Term("flu", "Disease", "D1", ("grippe",)), Term("cold", "Disease", "D2")]


def test_synonyms_cross_documents() -> None:
    documents = [document(("flu", "Disease", ("D1",))), document(("grippe", "Disease", ("D1",)))]
    assert lexicon_from_documents(documents).synonyms("grippe") == ("flu",)


def test_synonyms_cross_types() -> None:
    made = lexicon(("flu", "Disease", ("D1",)), ("influenzal", "Modifier", ("D1",)))
    assert made.synonyms("flu") == ("influenzal",)
    assert [term.name for term in made.terms("Modifier")] == ["influenzal"]


def test_a_mention_with_several_concepts_is_no_synonym_of_one_of_them() -> None:
    made = lexicon(
        ("breast cancer", "Disease", ("D1",)),
        ("breast and ovarian cancer", "Disease", ("D1", "D2")),
        ("ovarian or breast cancer", "Disease", ("D2", "D1")),
    )
    assert made.synonyms("breast cancer") == ()
    assert made.synonyms("breast and ovarian cancer") == ("ovarian or breast cancer",)
    assert made.concepts("breast and ovarian cancer") == ("D1|D2",)


def test_mentions_that_differ_in_case_are_one_name() -> None:
    made = lexicon(("Flu", "Disease", ("D1",)), ("flu", "Disease", ("D1",)), ("FLU", "Disease", ("D1",)))
    assert list(made.terms()) == [Term("Flu", "Disease", "D1")]


def test_mentions_without_a_concept_stand_alone() -> None:
    made = lexicon(("flu", "Disease", ()), ("grippe", "Disease", ()), ("flu", "Disease", ()))
    assert list(made.terms()) == [Term("flu", "Disease"), Term("grippe", "Disease")]


def test_a_corpus_without_concepts_is_noted() -> None:
    assert lexicon(("flu", "Disease", ())).log.notes == [
        "none of the 1 mentions has a concept: there are no synonyms"
    ]
    assert lexicon(("flu", "Disease", ("D1",))).log.notes == []


def test_a_line_break_in_a_mention_is_a_blank() -> None:
    text = "dust\nfever"
    (term,) = lexicon_from_documents([Document("1", text, (Entity(0, len(text), "Disease"),))]).terms()
    assert term.name == "dust fever"


def test_the_pieces_of_a_discontinuous_mention_are_joined() -> None:
    text = "breast and ovarian cancer"
    entity = Entity(0, 25, "Disease", fragments=((0, 6), (19, 25)))
    (term,) = lexicon_from_documents([Document("1", text, (entity,))]).terms()
    assert term.name == "breast cancer"


def test_mentions_are_counted() -> None:
    assert lexicon(("flu", "Disease", ()), ("flu", "Disease", ("D1",))).log.entries_read == 2
