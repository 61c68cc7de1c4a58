"""Edits against a naive list of characters that remember where they come from."""

from __future__ import annotations

import pytest
from annotated import documents
from hypothesis import given
from hypothesis import strategies as st

from spanwright.perturbing.edits import Edit, edited
from spanwright.text import Document, Entity, Range


@st.composite
def edits(draw: st.DrawFn, length: int) -> list[Edit]:
    """Disjoint edits of a text of that length, insertions and deletions among them, in any order."""
    borders = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
    found = [
        Edit(start, end, draw(st.text("xyz ", max_size=3)))
        for start, end in zip(borders[::2], borders[1::2], strict=False)
    ]
    return draw(st.permutations(found))


Character = tuple[str, int, int]
"""A new character, and the old range that it stands for: an empty one for an inserted character."""


def characters_of(text: str, changes: list[Edit]) -> list[Character]:
    """The new characters, one by one."""
    made: list[Character] = []
    at = 0
    while at <= len(text):
        inserted = "".join(edit.new for edit in changes if edit.start == edit.end == at)
        made += [(letter, at, at) for letter in inserted]
        here = [edit for edit in changes if edit.start == at < edit.end]
        if here:
            made += [(letter, at, here[0].end) for letter in here[0].new]
            at = here[0].end
        else:
            made += [(letter, at, at + 1) for letter in text[at : at + 1]]
            at += 1
    return made


def expected_range(made: list[Character], old: Range) -> Range | None:
    """The new characters that stand for what lies in an old range; None when there are none."""
    inside = [
        place
        for place, (_, start, end) in enumerate(made)
        if old[0] <= start and end <= old[1] and not (start == end and start in old)
    ]
    return (inside[0], inside[-1] + 1) if inside else None


@given(documents().flatmap(lambda document: st.tuples(st.just(document), edits(len(document.text)))))
def test_text_words_and_sentences_move_as_their_characters_do(made: tuple[Document, list[Edit]]) -> None:
    document, changes = made
    document = document.with_entities(())
    new = edited(document, changes)
    characters = characters_of(document.text, changes)
    assert new.text == "".join(letter for letter, *_ in characters)
    for old_ranges, new_ranges in ((document.words, new.words), (document.sentences, new.sentences)):
        if old_ranges is None:
            assert new_ranges is None
        else:
            moved = [expected_range(characters, old) for old in old_ranges]
            assert new_ranges == tuple(found for found in moved if found is not None)


@given(documents().flatmap(lambda document: st.tuples(st.just(document), edits(len(document.text)))))
def test_entities_move_as_their_characters_do_unless_an_edit_cuts_them(
    made: tuple[Document, list[Edit]],
) -> None:
    document, changes = made
    borders = {border for entity in document.entities for each in entity.ranges for border in each}
    characters = characters_of(document.text, changes)
    moved = [[expected_range(characters, each) for each in entity.ranges] for entity in document.entities]
    effective = [edit for edit in changes if document.text[edit.start : edit.end] != edit.new]
    cut = any(edit.start < border < edit.end for edit in effective for border in borders)
    if cut or (effective and any(None in ranges for ranges in moved)):
        with pytest.raises(ValueError, match="an edit cuts or deletes the entity"):
            edited(document, changes)
    elif effective:
        new = edited(document, changes)
        assert [list(entity.ranges) for entity in new.entities] == moved
        assert [entity.type for entity in new.entities] == [entity.type for entity in document.entities]


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="edits overlap"):
        edited(Document("1", "abcdef"), [Edit(0, 3, "x"), Edit(2, 4, "y")])


def test_edits_that_change_nothing_return_the_same_document() -> None:
    document = Document("1", "abc")
    assert edited(document, [Edit(0, 1, "a"), Edit(2, 2, "")]) is document


def test_what_is_inserted_at_the_border_of_an_entity_stays_outside() -> None:
    document = Document("1", "a p53 b", (Entity(2, 5, "Gene"),))
    new = edited(document, [Edit(2, 2, "("), Edit(5, 5, ")")])
    assert new.text == "a (p53) b"
    assert new.mention(new.entities[0]) == "p53"


def test_words_that_are_inserted_between_given_words_are_added() -> None:
    document = Document("1", "a p53 b", words=((0, 1), (2, 5), (6, 7)))
    new = edited(document, [Edit(2, 2, "(", words=((0, 1),)), Edit(5, 5, ")", words=((0, 1),))])
    assert [new.text[start:end] for start, end in new.words or ()] == ["a", "(", "p53", ")", "b"]
    inside = edited(document, [Edit(3, 3, "-", words=((0, 1),))])
    assert [inside.text[start:end] for start, end in inside.words or ()] == ["a", "p-53", "b"]


def test_words_of_an_edit_replace_the_given_words_it_covers() -> None:
    document = Document("1", "the lung cancer.", words=((0, 3), (4, 8), (9, 15), (15, 16)))
    new = edited(document, [Edit(4, 15, "flu", words=((0, 3),))])
    assert new.words == ((0, 3), (4, 7), (7, 8))


def test_words_of_an_edit_inside_a_given_word_only_change_that_word() -> None:
    document = Document("1", "a p53-like b", words=((0, 1), (2, 10), (11, 12)))
    new = edited(document, [Edit(2, 5, "heat shock", words=((0, 4), (5, 10)))])
    assert new.words == ((0, 1), (2, 17), (18, 19))


def test_only_a_replaced_entity_loses_its_concepts() -> None:
    document = Document(
        "1", "p53 and MDM2", (Entity(0, 3, "Gene", concepts=("1",)), Entity(8, 12, "Gene", concepts=("2",)))
    )
    new = edited(document, [Edit(0, 3, "p63", words=((0, 3),)), Edit(9, 10, "d")])
    assert [entity.concepts for entity in new.entities] == [(), ("2",)]
