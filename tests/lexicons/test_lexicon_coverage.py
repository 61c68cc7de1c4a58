from __future__ import annotations

from spanwright.lexicons import Lexicon, Term
from spanwright.lexicons.coverage import Covered
from spanwright.text import Document, Entity

LEXICON = Lexicon(
    [
        Term("flu", "Disease", "D1", ("grippe", "influenza")),
        Term("ague", "Disease", "D2", ("shivers",)),
        Term("cold", "Disease", "D3"),
    ]
)
TEXT = "flu Flu ague cold aspirin"
ENTITIES = (
    Entity(0, 3, "Disease"),
    Entity(4, 7, "Disease"),
    Entity(8, 12, "Disease"),
    Entity(13, 17, "Disease"),
    Entity(18, 25, "Chemical"),
)


def test_mentions_with_a_synonym_are_covered() -> None:
    coverage = LEXICON.coverage([Document("1", TEXT, ENTITIES)])
    assert coverage.overall == Covered(
        mentions=5, mentions_covered=3, distinct=4, distinct_covered=2, median_synonyms=2
    )
    assert (coverage.overall.share, coverage.overall.distinct_share) == (0.6, 0.5)


def test_coverage_is_counted_per_type() -> None:
    per_type = LEXICON.coverage([Document("1", TEXT, ENTITIES)]).per_type
    assert list(per_type) == ["Chemical", "Disease"]
    assert per_type["Disease"] == Covered(4, 3, 3, 2, 2)
    assert per_type["Chemical"] == Covered(1, 0, 1, 0, None)


def test_mentions_of_all_documents_count_and_distinct_ones_once() -> None:
    document = Document("1", "ague", (Entity(0, 4, "Disease"),))
    assert LEXICON.coverage([document, document]).overall == Covered(2, 2, 1, 1, 1)


def test_nothing_is_covered_in_a_corpus_without_mentions() -> None:
    overall = LEXICON.coverage([Document("1", "flu")]).overall
    assert (overall.mentions, overall.share, overall.distinct_share) == (0, 0.0, 0.0)


def test_coverage_as_a_dictionary_has_the_shares() -> None:
    answer = LEXICON.coverage([Document("1", TEXT, ENTITIES)]).to_dict()
    assert answer["overall"]["share"] == 0.6
    assert answer["per_type"]["Disease"]["mentions_covered"] == 3
