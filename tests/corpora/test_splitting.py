from __future__ import annotations

from collections import Counter

import pytest

from spanwright.corpora.splitting import split_documents
from spanwright.errors import InputError
from spanwright.text import Document, Entity


def _documents(types: list[str]) -> list[Document]:
    return [
        Document(f"d{number}", "ab", (Entity(0, 1, type_),) if type_ else ())
        for number, type_ in enumerate(types)
    ]


def test_every_document_goes_to_exactly_one_part() -> None:
    documents = _documents(["A"] * 30 + ["B"] * 7 + [""] * 13)
    parts = split_documents(documents, [8, 1, 1])
    assert sorted(d.id for part in parts for d in part) == sorted(d.id for d in documents)


def test_parts_have_the_ratio_of_the_shares_in_documents_and_in_every_type() -> None:
    documents = _documents(["A"] * 200 + ["B"] * 20 + [""] * 100)
    counts = [
        Counter(document.entities[0].type if document.entities else "" for document in part)
        for part in split_documents(documents, [80, 10, 10])
    ]
    assert [count["A"] for count in counts] == [160, 20, 20]
    assert [count["B"] for count in counts] == [16, 2, 2]
    assert [count[""] for count in counts] == [80, 10, 10]


def test_the_seed_decides_the_split() -> None:
    documents = _documents(["A", "B"] * 20)
    assert split_documents(documents, [1, 1], seed=3) == split_documents(documents, [1, 1], seed=3)
    assert split_documents(documents, [1, 1], seed=3) != split_documents(documents, [1, 1], seed=4)


@pytest.mark.parametrize("shares", [[1.0], [1.0, 0.0], [1.0, -1.0]])
def test_illegal_shares_are_refused(shares: list[float]) -> None:
    with pytest.raises(InputError, match="shares"):
        split_documents(_documents(["A"] * 4), shares)


def test_fewer_documents_than_parts_are_refused() -> None:
    with pytest.raises(InputError, match="2 documents"):
        split_documents(_documents(["A", "B"]), [1, 1, 1])
