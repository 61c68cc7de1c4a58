from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naughty
from spanwright.distant import Matcher, atoms
from spanwright.distant.search import WordIndex
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term
from spanwright.text import Document, Entity, Range, split, words


def lexicon(*names: str) -> Lexicon:
    return Lexicon(Term(name, "Thing") for name in names)


def mentions(names: Sequence[str], text: str, **settings: Any) -> list[str]:
    """What is found of names in a text."""
    document = Document("1", text)
    return [document.mention(entity) for entity in Matcher(lexicon(*names), **settings).entities(document)]


def ranges(matcher: Matcher, document: Document) -> list[Range]:
    return [(entity.start, entity.end) for entity in matcher.entities(document)]


# Words


def test_a_name_is_found_as_whole_words_only() -> None:
    assert mentions(["cat"], "concatenate cats; cat catx xcat") == ["cat"]


def test_a_name_is_found_beside_punctuation() -> None:
    assert mentions(["aspirin"], "(aspirin)-like, aspirin-induced; non-aspirin.") == ["aspirin"] * 3


def test_part_of_a_number_is_not_found() -> None:
    assert mentions(["25", "mg"], "1.25 mg or 25 mg", minimum_length=1) == ["mg", "25", "mg"]


@pytest.mark.parametrize("name", ["X-linked", "X - linked", "X- linked", "X  -\tlinked"])
@pytest.mark.parametrize("text", ["X-linked", "X - linked", "X -\nlinked"])
def test_white_space_beside_punctuation_does_not_matter(name: str, text: str) -> None:
    assert mentions([name], f"an {text} trait") == [text]


@pytest.mark.parametrize("text", ["1,2-DMH", "1 , 2 - DMH", "1, 2-DMH"])
def test_a_number_is_found_however_its_comma_is_tokenised(text: str) -> None:
    assert mentions(["1,2-DMH"], f"({text})") == [text]


def test_white_space_between_letters_matters() -> None:
    assert mentions(["ab"], "a b ab") == ["ab"]
    assert mentions(["a b"], "a b ab") == ["a b"]


def test_white_space_of_any_kind_separates_the_words_of_a_name() -> None:
    assert mentions(["lung cancer"], "lung\n  cancer, lung\u00a0cancer") == [
        "lung\n  cancer",
        "lung\u00a0cancer",
    ]


def test_given_words_are_not_cut() -> None:
    text = "aspirin-induced aspirin"
    assert ranges(Matcher(lexicon("aspirin")), Document("1", text)) == [(0, 7), (16, 23)]
    given_words = Document("1", text, words=((0, 15), (16, 23)))
    assert ranges(Matcher(lexicon("aspirin")), given_words) == [(16, 23)]


def test_a_name_is_found_across_given_words_and_inside_none() -> None:
    document = Document("1", "X-linked X-linked", words=((0, 1), (1, 2), (2, 8), (9, 17)))
    assert ranges(Matcher(lexicon("x - linked")), document) == [(0, 8), (9, 17)]
    assert ranges(Matcher(lexicon("linked")), document) == [(2, 8)]


def test_given_words_of_white_space_do_not_part_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atoms, "BLOCK", 1)
    document = Document(
        "1", "lung      cancer", words=((0, 4), *((i, i + 1) for i in range(4, 10)), (10, 16))
    )
    assert ranges(Matcher(lexicon("lung cancer")), document) == [(0, 16)]


def test_a_match_does_not_cross_given_sentences() -> None:
    text = "of the lung cancer"
    names = lexicon("lung cancer", "lung")
    assert ranges(Matcher(names), Document("1", text)) == [(7, 18)]
    assert ranges(Matcher(names), Document("1", text, sentences=((0, 11), (12, 18)))) == [(7, 11)]


def test_a_match_may_fill_a_given_sentence() -> None:
    document = Document("1", "lung cancer lung", sentences=((0, 11), (12, 16)))
    assert ranges(Matcher(lexicon("lung cancer", "lung")), document) == [(0, 11), (12, 16)]


# Overlaps


def test_the_longest_name_at_a_word_is_taken() -> None:
    names = ["breast", "breast cancer", "breast cancer type two"]
    assert mentions(names, "breast cancer type one") == ["breast cancer"]


def test_the_name_further_left_is_taken_even_if_it_is_shorter() -> None:
    assert mentions(["small cell", "cell lung cancer"], "small cell lung cancer") == ["small cell"]


def test_a_name_that_is_given_up_leaves_its_words_to_others() -> None:
    assert mentions(["small cell sarcoma", "cell lung cancer"], "small cell lung cancer") == [
        "cell lung cancer"
    ]


def test_neighbours_are_both_found() -> None:
    assert mentions(["aa", "bb"], "aa bb aa/bb") == ["aa", "bb", "aa", "bb"]


def test_a_phrase_of_unknown_type_keeps_shorter_names_in_it_from_being_labelled() -> None:
    known = Term("breast cancer", "Disease")
    unknown = Term("breast cancer cells")
    document = Document("1", "breast cancer cells of breast cancer")
    assert ranges(Matcher(Lexicon([known])), document) == [(0, 13), (23, 36)]
    assert ranges(Matcher(Lexicon([known, unknown])), document) == [(23, 36)]


def test_a_name_that_has_a_type_somewhere_is_not_unknown() -> None:
    both = Lexicon([Term("aspirin"), Term("Aspirin", "Chemical")])
    assert ranges(Matcher(both), Document("1", "aspirin")) == [(0, 7)]


# Case and Unicode


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("exact", ["AIDS", "Aspirin"]),
        ("ignore", ["AIDS", "aids", "Aspirin", "ASPIRIN"]),
        ("smart", ["AIDS", "Aspirin", "ASPIRIN"]),
    ],
)
def test_each_case_policy_finds_what_it_should(case: str, found: list[str]) -> None:
    assert mentions(["AIDS", "Aspirin"], "AIDS aids Aspirin ASPIRIN", case=case) == found


@pytest.mark.parametrize(
    ("name", "other", "found"),
    [
        ("COX-2", "cox-2", False),  # four letters and digits
        ("NSAID", "nsaid", False),
        ("ASPIRE", "aspire", True),  # six
        ("As", "as", False),  # two
        ("Tic", "tic", True),
        ("5 - HT", "5-ht", False),
        ("5 - HT", "5-HT", True),  # white space still does not matter
    ],
)
def test_smart_wants_acronyms_and_the_shortest_names_as_they_are(name: str, other: str, found: bool) -> None:
    assert bool(mentions([name], f"the {other} here")) is found


def test_a_shorter_name_is_found_where_the_longer_one_has_another_case() -> None:
    names = Lexicon([Term("A B", "Long"), Term("a", "Short")])
    document = Document("1", "a b")
    found = Matcher(names, minimum_length=1).entities(document)
    assert [(entity.end, entity.type) for entity in found] == [(1, "Short")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TNF-α", "tnf-Α"),  # Greek capital alpha
        ("STRASSENFIEBER", "Straßenfieber"),  # one character becomes two
        ("straßenfieber", "STRASSENFIEBER"),
        ("İSTANBUL", "i\u0307stanbul"),  # the capital with a dot becomes two characters
        ("i\u0307stanbul", "İstanbul"),
        ("ﬁbrosis", "FIBROSIS"),  # ligature
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),  # final sigma
    ],
)
def test_offsets_are_exact_where_folding_changes_the_length(name: str, text: str) -> None:
    around = f"ßß🧬 İİ ({text}), {text}."
    assert mentions([name], around) == [text, text]


def test_emoji_and_chinese_are_words_like_others() -> None:
    assert mentions(["🧬", "蛋白"], "一个蛋白质👩‍🔬🧬x", minimum_length=0) == ["蛋白", "🧬"]


@given(naughty.texts(), st.data())
def test_any_run_of_words_is_found_at_its_characters(text: str, data: st.DataObject) -> None:
    found_words = split(text)
    if not found_words:
        return
    first = data.draw(st.integers(0, len(found_words) - 1))
    last = data.draw(st.integers(first, min(first + 4, len(found_words) - 1)))
    start, end = found_words[first][0], found_words[last][1]
    case = data.draw(st.sampled_from(["exact", "ignore", "smart"]))
    matcher = Matcher(lexicon(text[start:end]), case=case, minimum_length=0, engine=WordIndex)
    found = ranges(matcher, Document("1", text))
    # An earlier occurrence may take its first word.
    assert any(other_start <= start < other_end for other_start, other_end in found)
    assert all(atoms_of(text[s:e]) == atoms_of(text[start:end]) for s, e in found)


def atoms_of(text: str) -> list[str]:
    return list(atoms.atoms_of_name(text, fold=True))


# What an entity holds


def test_entities_carry_the_distinct_concepts_of_their_names_in_lexicon_order() -> None:
    terms = [
        Term("cold", "Disease", "D2", synonyms=("common cold", "Cold")),
        Term("rhinitis", "Disease", "D1", synonyms=("cold",)),
        Term("cold", "Disease"),
    ]
    document = Document("1", "a cold")
    assert Matcher(Lexicon(terms)).entities(document) == (Entity(2, 6, "Disease", concepts=("D2", "D1")),)


@pytest.mark.parametrize(
    ("ambiguous", "types"),
    [
        ("drop", []),
        ("first", [("Symptom", ("S1",))]),
        ("all", [("Symptom", ("S1",)), ("Disease", ("D1", "D2"))]),
    ],
)
def test_a_name_of_several_types_is_treated_by_the_policy(ambiguous: Any, types: list[object]) -> None:
    terms = [Term("cold", "Symptom", "S1"), Term("cold", "Disease", "D1"), Term("cold", "Disease", "D2")]
    found = Matcher(Lexicon(terms), ambiguous=ambiguous).entities(Document("1", "cold"))
    assert [(entity.type, entity.concepts) for entity in found] == types


def test_a_dropped_name_keeps_its_words() -> None:
    terms = [Term("cold sore", "Symptom"), Term("cold sore", "Disease"), Term("cold", "Disease")]
    assert Matcher(Lexicon(terms)).entities(Document("1", "cold sore")) == ()


def test_the_first_type_is_that_of_the_lexicon_whatever_the_spelling() -> None:
    terms = [Term("Aids", "Tool"), Term("AIDS", "Disease")]
    found = Matcher(Lexicon(terms), ambiguous="first").entities(Document("1", "AIDS aids"))
    assert [entity.type for entity in found] == ["Tool", "Tool"]


def test_short_names_are_left_out_and_counted() -> None:
    matcher = Matcher(lexicon("C", "(C)", "vitamin C"), minimum_length=2)
    assert ranges(matcher, Document("1", "C (C) vitamin C")) == [(6, 15)]
    assert matcher.left_out == {"too short": 2}
    assert len(matcher) == 1


def test_blocked_names_are_left_out_and_counted() -> None:
    matcher = Matcher(lexicon("lead", "lead acetate"), blocked=["LEAD-", "Lead"])
    assert ranges(matcher, Document("1", "lead to lead acetate")) == [(8, 20)]
    assert matcher.left_out == {"blocked": 1}


def test_a_blocked_word_does_not_block_the_acronym() -> None:
    assert mentions(["ALL", "All"], "all ALL", blocked=["all"]) == ["ALL"]
    assert mentions(["ALL"], "all ALL", blocked=["all"], case="ignore") == []
    assert mentions(["All"], "All", blocked=["all"], case="exact") == ["All"]


def test_labelling_replaces_entities_and_tells_where_they_are_from() -> None:
    document = Document("1", "aspirin", (Entity(0, 3, "Old"),), corpus="mine", metadata={"year": 1999})
    matcher = Matcher(lexicon("aspirin"), sources=["drugs.tsv"], blocked=["x", "y"], ambiguous="all")
    labelled = matcher.label(document)
    assert labelled.entities == (Entity(0, 7, "Thing"),)
    assert (labelled.id, labelled.text, labelled.corpus) == ("1", "aspirin", "mine")
    assert labelled.metadata == {"year": 1999}
    assert labelled.annotation_notes == {
        "distant_labels": {
            "lexicons": ["drugs.tsv"],
            "case": "smart",
            "ambiguous": "all",
            "minimum_length": 2,
            "blocked": 2,
        },
    }


@pytest.mark.parametrize("setting", [{"case": "Smart"}, {"ambiguous": "none"}])
def test_an_unknown_policy_is_an_error_that_names_the_legal_ones(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected"):
        Matcher(lexicon("a"), **setting)


# Long documents


@given(st.lists(st.sampled_from(["a", "b", "a-b", "1.5"]), min_size=8, max_size=30), st.integers(1, 4))
def test_the_size_of_blocks_does_not_change_the_answer(chunks: list[str], size: int) -> None:
    matcher = Matcher(lexicon("a", "a b", "a b a", "1.5 b"), minimum_length=1)
    document = Document("1", " ".join(chunks))
    expected = matcher.entities(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atoms, "BLOCK", size)
        assert matcher.entities(document) == expected


def test_only_a_block_of_a_long_document_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atoms, "BLOCK", 100)
    document = Document("1", "word, " * 5000)
    sizes = [len(block.atoms) for block in atoms.blocks(document, fold=True, reach=3)]
    assert max(sizes) == 2 * 103
    assert len(sizes) == 50


def test_a_chunk_without_end_is_not_remembered() -> None:
    before = atoms._cut.cache_info().currsize
    assert mentions(["aspirin"], "x" * 5000 + "-aspirin " + "y," * 5000 + "aspirin") == ["aspirin"] * 2
    assert atoms._cut.cache_info().currsize <= before + 1


# Against a plain reading of the rules


PIECES = ["a", "A", "b", "cd", "CD", "Cd", "-", ".", "ß", "SS", "🧬", "中", " ", " ", "\n"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), max_size=6),
    st.sampled_from(["exact", "ignore"]),
)
def test_matches_are_those_of_a_plain_search_over_words(text: str, names: list[str], case: Any) -> None:
    document = Document("1", text)
    matcher = Matcher(lexicon(*names), case=case, minimum_length=0)
    assert ranges(matcher, document) == _plain_search(document, names, fold=case == "ignore")


def _plain_search(document: Document, names: list[str], fold: bool) -> list[Range]:
    """Leftmost longest matches, by comparing every name at every word."""

    def words_of(text: str) -> list[str]:
        return [text[s:e].casefold() if fold else text[s:e] for s, e in split(text)]

    patterns = sorted((words_of(name) for name in names if name.strip()), key=len, reverse=True)
    borders, tokens = words(document), words_of(document.text)
    found: list[Range] = []
    position = 0
    while position < len(tokens):
        fits = [p for p in patterns if tokens[position : position + len(p)] == p]
        if fits:
            found.append((borders[position][0], borders[position + len(fits[0]) - 1][1]))
        position += len(fits[0]) if fits else 1
    return found
