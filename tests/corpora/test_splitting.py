from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright import sample
from spanwright.corpora.splitting import split_documents
from spanwright.errors import InputError
from spanwright.formats.files import read
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


@pytest.mark.parametrize("shares", [(80, 20), (70, 15, 15)])
@pytest.mark.parametrize("seed", range(5))
def test_each_type_is_in_proportion_where_articles_hold_several(shares: tuple[int, ...], seed: int) -> None:
    documents = read(sample.files()["train"]).documents
    counts = [
        Counter(entity.type for document in part for entity in document.entities)
        for part in split_documents(documents, shares, seed=seed)
    ]
    for type_, total in sum(counts, Counter()).items():
        assert [count[type_] / total for count in counts] == pytest.approx(
            [n / 100 for n in shares], abs=0.01
        )


def test_no_part_stays_empty() -> None:
    parts = split_documents(_documents(["A", "A", "B", "", ""]), [98, 1, 1])
    assert [len(part) for part in parts] == [3, 1, 1]


def test_the_seed_decides_the_split() -> None:
    documents = _documents(["A", "B"] * 20)
    assert split_documents(documents, [1, 1], seed=3) == split_documents(documents, [1, 1], seed=3)
    assert split_documents(documents, [1, 1], seed=3) != split_documents(documents, [1, 1], seed=4)


@pytest.mark.parametrize("shares", [[1.0], [1.0, 0.0], [1.0, -1.0], [float("inf"), 1.0], [float("nan"), 1.0]])
def test_illegal_shares_are_refused(shares: list[float]) -> None:
    with pytest.raises(InputError, match="shares"):
        split_documents(_documents(["A"] * 4), shares)


def test_fewer_documents_than_parts_are_refused() -> None:
    with pytest.raises(InputError, match="2 documents"):
        split_documents(_documents(["A", "B"]), [1, 1, 1])


passages = st.lists(
    st.tuples(
        st.integers(0, 6), st.sampled_from(["doc_id", "given_id", "number", "none"]), st.sampled_from("AB ")
    ),
    min_size=1,
    max_size=40,
)


def _passage(place: int, article: int, kind: str, type_: str) -> Document:
    """A passage of an article, which says so in one of the ways that readers do."""
    entities = (Entity(0, 1, type_),) if type_.strip() else ()
    if kind == "none":
        return Document(f"file#{place}", "ab", entities, generated_id=True)
    if kind == "number":
        return Document(f"{article}#{place + 2}", "ab", entities)
    return Document(f"{place}", "ab", entities, metadata={kind: f"{article}"})


@given(passages, st.lists(st.floats(0.1, 10), min_size=2, max_size=4), st.integers(0, 9))
def test_passages_of_an_article_go_to_the_same_part(
    given_: list[tuple[int, str, str]], shares: list[float], seed: int
) -> None:
    made = [_passage(place, *each) for place, each in enumerate(given_)]
    # The first passages of all articles, whose ids later ones repeat; and enough articles for all parts.
    documents = [Document(f"{article}", "ab") for article in range(7)] + made
    article_of = {id(document): str(number) for number, document in enumerate(documents[:7])}
    for document, (article, kind, _) in zip(made, given_, strict=True):
        article_of[id(document)] = document.id if kind == "none" else str(article)
    parts = split_documents(documents, shares, seed=seed)
    places = {id(document): number for number, document in enumerate(documents)}
    assert sorted(places[id(document)] for part in parts for document in part) == list(range(len(documents)))
    assert all(
        [places[id(each)] for each in part] == sorted(places[id(each)] for each in part) for part in parts
    )
    found = [{article_of[id(document)] for document in part} for part in parts]
    assert sum(map(len, found)) == len(set(article_of.values()))


def test_documents_whose_ids_merely_have_numbers_after_them_are_articles_of_their_own() -> None:
    documents = [Document(f"file#{number}", "ab") for number in range(10)]
    assert [len(part) for part in split_documents(documents, [1, 1])] == [5, 5]


def test_passages_count_for_the_size_of_a_part() -> None:
    documents = [Document(f"{number}", "ab", metadata={"doc_id": str(number // 5)}) for number in range(100)]
    assert [len(part) for part in split_documents(documents, [80, 20])] == [80, 20]


def test_fewer_articles_than_parts_are_refused() -> None:
    documents = [Document("7", "ab"), Document("7#2", "ab"), Document("8", "ab")]
    with pytest.raises(InputError, match="3 documents of 2 articles cannot be split into 3 parts"):
        split_documents(documents, [1, 1, 1])


def test_a_single_document_is_refused_in_the_singular() -> None:
    with pytest.raises(InputError, match=r"^1 document cannot be split into 2 parts"):
        split_documents([Document("7", "ab")], [1, 1])
