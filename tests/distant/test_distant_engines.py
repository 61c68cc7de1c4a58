from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naughty
from spanwright.distant import Matcher, search
from spanwright.distant.search import Automaton, WordIndex
from spanwright.lexicons import Lexicon, Term
from spanwright.text import Document, Range, split

pytest.importorskip("ahocorasick_rs", reason="the extra 'dictionary' is not installed")

ATOMS = ["a", "b", "ab", "é", "🧬", "-", "x" * 40]
sequences = st.lists(st.sampled_from(ATOMS), max_size=20)
name_lists = st.lists(
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map(" ".join), max_size=12, unique=True
)


@given(name_lists, sequences)
def test_both_engines_find_the_same_in_the_same_order(names: list[str], atoms: list[str]) -> None:
    assert list(Automaton(names).find(atoms)) == list(WordIndex(names).find(atoms))


@given(name_lists, sequences)
def test_every_occurrence_of_every_name_is_found(names: list[str], atoms: list[str]) -> None:
    expected = {
        (first, end, names.index(" ".join(atoms[first:end])))
        for first in range(len(atoms))
        for end in range(first + 1, len(atoms) + 1)
        if " ".join(atoms[first:end]) in names
    }
    found = list(WordIndex(names).find(atoms))
    assert set(found) == expected
    assert found == sorted(found, key=lambda each: (each[0], -each[1]))


@st.composite
def labelled_texts(draw: st.DrawFn) -> tuple[Document, list[Term]]:
    """A text of any characters, with or without given words, and terms with names that are cut out of it."""
    text = draw(naughty.texts())
    ranges = split(text) or ((0, 0),)
    given_words: tuple[Range, ...] | None = None
    if text.strip() and draw(st.booleans()):
        keep = draw(st.lists(st.booleans(), min_size=len(ranges), max_size=len(ranges)))
        given_words = _joined(ranges, keep)
    terms = []
    for type_ in draw(st.lists(st.sampled_from(["A", "B", None]), max_size=6)):
        first = draw(st.integers(0, len(ranges) - 1))
        last = draw(st.integers(first, min(first + 3, len(ranges) - 1)))
        name = text[ranges[first][0] : ranges[last][1]]
        terms.append(Term(draw(st.sampled_from([name, name.upper(), name.lower()])), type_))
    return Document("1", text, words=given_words), terms


def _joined(ranges: tuple[Range, ...], parted: list[bool]) -> tuple[Range, ...]:
    """Neighbouring ranges as one where they are not parted."""
    joined: list[Range] = []
    for (start, end), is_parted in zip(ranges, parted, strict=True):
        joined.append((start if is_parted or not joined else joined.pop()[0], end))
    return tuple(joined)


@given(
    labelled_texts(), st.sampled_from(["exact", "ignore", "smart"]), st.sampled_from(["drop", "first", "all"])
)
def test_both_engines_give_the_same_entities(
    made: tuple[Document, list[Term]], case: Any, ambiguous: Any
) -> None:
    document, terms = made
    first, second = (
        Matcher(Lexicon(terms), case=case, ambiguous=ambiguous, minimum_length=0, engine=engine)
        for engine in (WordIndex, Automaton)
    )
    entities = first.entities(document)
    assert entities == second.entities(document)
    words = document.words if document.words is not None else split(document.text)
    assert {entity.start for entity in entities} <= {start for start, _ in words}
    assert {entity.end for entity in entities} <= {end for _, end in words}


def test_the_automaton_is_chosen_where_its_package_is_installed() -> None:
    assert isinstance(search.fastest(["a"]), Automaton)


def test_the_index_is_chosen_where_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    document = Document("1", "an aspirin")
    matcher = Matcher(Lexicon([Term("aspirin", "Chemical")]))
    assert [(entity.start, entity.end) for entity in matcher.entities(document)] == [(3, 10)]


@pytest.mark.parametrize("engine", [WordIndex, Automaton])
def test_a_lexicon_without_names_finds_nothing(engine: Any) -> None:
    assert Matcher(Lexicon([]), engine=engine).entities(Document("1", "anything")) == ()
