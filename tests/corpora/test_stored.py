"""Documents in a file come back as they were, in whichever order they are asked for."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

import making
from formats.strategies import documents as any_documents
from spanwright.corpora.stored import DocumentView, StoredDocuments, view

MADE = making.documents(7)


def stored() -> StoredDocuments:
    documents = StoredDocuments()
    documents.extend(MADE[:3])
    documents.extend(MADE[3:])
    return documents


@given(st.lists(any_documents(), max_size=4))
def test_stored_documents_equal_those_that_were_given(documents: list) -> None:
    found = StoredDocuments()
    found.extend(documents)
    assert list(found) == documents


def test_a_position_a_slice_and_the_end_are_those_of_a_list() -> None:
    documents = stored()
    assert len(documents) == 7
    assert documents[2] == MADE[2]
    assert documents[-1] == MADE[-1]
    assert list(documents[1:6:2]) == MADE[1:6:2]


def test_documents_can_be_added_after_reading() -> None:
    documents = stored()
    assert documents[0] == MADE[0]
    documents.extend(MADE[:1])
    assert list(documents) == [*MADE, MADE[0]]


def test_a_view_has_the_chosen_documents_changed() -> None:
    chosen = DocumentView(stored(), [5, 1], lambda document: replace(document, corpus="changed"))
    assert list(chosen) == [replace(MADE[5], corpus="changed"), replace(MADE[1], corpus="changed")]
    assert list(chosen[1:]) == [replace(MADE[1], corpus="changed")]


def test_a_view_keeps_what_it_is_told_to() -> None:
    kept = view(stored(), lambda document: document.id in (MADE[0].id, MADE[4].id))
    assert list(kept) == [MADE[0], MADE[4]]
