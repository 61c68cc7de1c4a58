from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.lexicons import Lexicon, LexiconLog, Term, merge
from spanwright.lexicons.lexicon import lookup_key

COLD = Term("common cold", "Disease", "D:1", ("cold", "Nasopharyngitis"))
LUNG = Term("chronic obstructive pulmonary disease", "Disease", "D:2", ("COPD", "COLD", "smoker's lung"))
CHILL = Term("low temperature", "Phenomenon", "P:1", ("cold", "coldness"))

names = st.sampled_from(["a", "A", "b", "B b", "b B", "c", "c-d", "c - d", "e", "é", "ß", "SS"])
identifiers = st.sampled_from(["1", "2", "3"])
terms = st.builds(
    Term,
    names,
    st.sampled_from([None, "X", "Y"]),
    st.none() | identifiers,
    st.lists(names, max_size=3).map(tuple),
    st.lists(identifiers, max_size=1).map(tuple),
)


def naive_synonyms(lexicon: list[Term], mention: str) -> list[str]:
    """The rule in so many words, without an index."""
    found: list[str] = []
    for term in lexicon:
        if lookup_key(mention) not in map(lookup_key, term.names):
            continue
        for other in lexicon:
            if other is term or set(other.ids) & set(term.ids):
                for name in other.names:
                    known = [lookup_key(mention), *map(lookup_key, found)]
                    if lookup_key(name) not in known:
                        found.append(name)
    return found


def test_synonyms_are_the_other_names_of_the_concept_the_preferred_one_first() -> None:
    assert Lexicon([COLD]).synonyms("Nasopharyngitis") == ("common cold", "cold")


def test_a_mention_with_several_concepts_has_the_names_of_all_in_file_order() -> None:
    assert Lexicon([COLD, LUNG, CHILL]).synonyms("cold") == (
        "common cold",
        "Nasopharyngitis",
        "chronic obstructive pulmonary disease",
        "COPD",
        "smoker's lung",
        "low temperature",
        "coldness",
    )


def test_lookup_ignores_case_and_answers_keep_it() -> None:
    assert Lexicon([COLD]).synonyms("COMMON Cold") == ("cold", "Nasopharyngitis")


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("X - linked", "X-linked"),
        ("smoker ' s lung", "smoker's lung"),
        ("( R ) - alpha", "(R)-alpha"),
        ("common\ncold", "common  cold "),
        ("STRASSE", "Straße"),
    ],
)
def test_names_with_the_same_lookup_key(mention: str, name: str) -> None:
    assert lookup_key(mention) == lookup_key(name)


@pytest.mark.parametrize(("mention", "name"), [("blue tongue", "bluetongue"), ("T-cell", "T cell")])
def test_names_with_different_lookup_keys(mention: str, name: str) -> None:
    assert lookup_key(mention) != lookup_key(name)


def test_of_names_that_differ_only_in_case_the_first_is_given() -> None:
    lexicon = Lexicon([Term("flu", synonyms=("Influenza", "INFLUENZA", "grippe"))])
    assert lexicon.synonyms("flu") == ("Influenza", "grippe")


def test_the_mention_itself_is_left_out_in_any_case() -> None:
    assert Lexicon([Term("flu", synonyms=("FLU", "grippe"))]).synonyms("Flu") == ("grippe",)


@pytest.mark.parametrize("mention", ["unknown", "", " "])
def test_an_unknown_mention_has_no_synonyms_and_no_concepts(mention: str) -> None:
    lexicon = Lexicon([COLD])
    assert lexicon.synonyms(mention) == ()
    assert lexicon.concepts(mention) == ()


@given(st.lists(terms, max_size=8), names)
def test_synonyms_are_those_of_a_plain_search(given_terms: list[Term], mention: str) -> None:
    assert list(Lexicon(given_terms).synonyms(mention)) == naive_synonyms(given_terms, mention)


def test_concepts_of_a_mention_come_in_file_order_and_once() -> None:
    again = Term("COLD", "Disease", "D:1")
    assert Lexicon([LUNG, COLD, again]).concepts("Cold") == ("D:2", "D:1")


def test_a_term_without_a_concept_has_none_to_give() -> None:
    assert Lexicon([Term("aspirin", "Chemical")]).concepts("aspirin") == ()


def test_terms_of_a_type() -> None:
    lexicon = Lexicon([COLD, CHILL, LUNG])
    assert list(lexicon.terms("Disease")) == [COLD, LUNG]
    assert list(lexicon.terms()) == [COLD, CHILL, LUNG]


def test_types_are_listed_once_without_the_unknown() -> None:
    assert Lexicon([CHILL, COLD, LUNG, Term("x")]).types == ("Phenomenon", "Disease")


def test_the_length_is_the_number_of_terms() -> None:
    assert len(Lexicon([COLD, LUNG])) == 2
    assert len(Lexicon([])) == 0


def test_terms_with_the_same_concept_are_synonyms_across_merged_lexicons() -> None:
    merged = merge(Lexicon([COLD]), Lexicon([Term("coryza", "Illness", "D:1")]))
    assert merged.synonyms("coryza") == ("common cold", "cold", "Nasopharyngitis")
    assert len(merged) == 2


def test_another_id_of_a_concept_joins_terms_as_its_own_does() -> None:
    merged = merge(
        Lexicon([Term("flu", concept="1", other_ids=("D7",))]), Lexicon([Term("grippe", None, "D7")])
    )
    assert merged.synonyms("grippe") == ("flu",)


def test_cross_references_do_not_join_terms() -> None:
    merged = merge(Lexicon([Term("flu", concept="1", xrefs=("D7",))]), Lexicon([Term("grippe", None, "D7")]))
    assert merged.synonyms("grippe") == ()


def test_merging_joins_the_logs() -> None:
    first, second = LexiconLog(entries_read=2, entries_rejected=1), LexiconLog(entries_read=3)
    first.left_out["obsolete terms"] = 1
    second.left_out["obsolete terms"] = 4
    log = merge(Lexicon([], first), Lexicon([], second)).log
    assert (log.entries_read, log.entries_rejected, log.left_out["obsolete terms"]) == (5, 1, 5)
    assert log.entries == 11


def test_the_summary_of_a_log_shows_the_first_problems() -> None:
    log = LexiconLog(entries_read=10, notes=["a note"])
    log.left_out["obsolete terms"] = 1234
    for line in range(7):
        log.reject(Path("file.tsv"), line + 1, "no surface")
    assert log.summary() == [
        "a note",
        "10 of 1,251 entries read; left out: obsolete terms 1,234",
        "7 problems in reading; 7 entries rejected",
        *(f"  file.tsv:{line}: no surface" for line in range(1, 6)),
        "  ... and 2 more",
    ]
