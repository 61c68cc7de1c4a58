"""The label space: types, their order and their ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.text import Document, Entity


@pytest.mark.parametrize(
    "name", ["", " \t", "x" * 501, "\ud800"], ids=["empty", "blank", "long", "surrogate"]
)
def test_a_name_that_entities_could_not_carry_is_refused(name: str) -> None:
    for space in ({"types": ("A", name)}, {"types": ("A",), "corpora": (name,)}):
        with pytest.raises(InputError, match=r"a label space has a name of|lone surrogate"):
            LabelSpace(**space)  # type: ignore[arg-type]


@pytest.mark.parametrize("types", ["AB", {"A": 1}, ["A", 1], ["A", None], None])
def test_stored_types_must_be_a_list_of_texts(types: object) -> None:
    with pytest.raises(InputError, match="must be a list of texts"):
        LabelSpace.from_dict({"types": types})


def test_the_types_of_documents_are_sorted_by_name() -> None:
    documents = [
        Document("1", "p53 cell", (Entity(4, 8, "Cell"), Entity(0, 3, "Gene"))),
        Document("2", "asthma", (Entity(0, 6, "Disease"),)),
        Document("3", "cell", (Entity(0, 4, "Cell"),)),
    ]
    assert LabelSpace.of(documents).types == ("Cell", "Disease", "Gene")


def test_the_id_of_a_type_is_its_position() -> None:
    labels = LabelSpace(("B", "A"))
    assert [labels.find(name) for name in ("B", "A", "C")] == [0, 1, None]
    assert len(labels) == 2


@pytest.mark.parametrize("types", [(), ("A", "A")])
def test_no_type_or_a_type_twice_is_refused(types: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="at least one type and no type twice"):
        LabelSpace(types)


# Several corpora.

DOCUMENTS = [
    Document("1", "p53 cell", (Entity(4, 8, "Cell"), Entity(0, 3, "Gene")), corpus="first"),
    Document("2", "asthma p53", (Entity(0, 6, "Disease"), Entity(7, 10, "Gene")), corpus="second"),
    Document("3", "cell", corpus="third"),
]


def of_three() -> LabelSpace:
    return LabelSpace.of(DOCUMENTS, ("second", "third", "first"))


def test_the_types_of_each_corpus_stand_together_sorted_by_name() -> None:
    labels = of_three()
    assert labels.keys == [("Disease", 0), ("Gene", 0), ("Cell", 2), ("Gene", 2)]
    assert labels.corpora == ("second", "third", "first")
    assert labels.sizes == (2, 0, 2)
    assert [labels.types_of(corpus) for corpus in range(3)] == [("Disease", "Gene"), (), ("Cell", "Gene")]


def test_a_type_is_found_by_its_name_and_its_corpus() -> None:
    labels = of_three()
    assert [labels.find("Gene", corpus) for corpus in range(3)] == [1, None, 3]
    assert labels.find("Disease", 2) is None


def test_types_that_all_corpora_have_in_common_are_found_whatever_the_corpus() -> None:
    labels = LabelSpace(("Cell", "Gene"), corpora=("first", "second"))
    assert [labels.find("Gene", corpus) for corpus in range(2)] == [1, 1]
    assert labels.sizes == (2,)
    assert labels.types_of(1) == ("Cell", "Gene")


def test_an_unknown_corpus_or_none_is_the_first() -> None:
    labels = of_three()
    assert [labels.corpus_id(name) for name in ("second", "third", "first", "fourth", None)] == [
        0,
        1,
        2,
        0,
        0,
    ]
    assert LabelSpace(("A",)).corpus_id("first") == 0


@pytest.mark.parametrize(
    "labels",
    [
        LabelSpace(("A",)),
        LabelSpace(("A", "B"), ("an a", "a b")),
        LabelSpace(("A",), prototypes=((("before", "a", "after"),),)),
        LabelSpace(("A", "B"), corpora=("first", "second")),
        LabelSpace(("B", "A", "B"), corpora=("first", "second"), corpus=(0, 1, 1), shared=("B", "", "B")),
    ],
    ids=["plain", "described", "with prototypes", "types in common", "types apart"],
)
def test_a_label_space_survives_json(labels: LabelSpace) -> None:
    assert LabelSpace.from_dict(json.loads(json.dumps(labels.to_dict(prototypes=3)))) == labels


def test_a_label_space_of_one_corpus_says_nothing_of_corpora_in_json() -> None:
    assert LabelSpace(("A",)).to_dict(prototypes=3).keys() == {"types"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"corpus": (0, 2)},
            r"types of the corpora \(0, 2\); expected positions in its 2 corpora, in order",
        ),
        ({"corpus": (1, 0)}, r"types of the corpora \(1, 0\)"),
        ({"types": ("A", "A"), "corpus": (1, 1)}, "no type twice"),
        ({"corpus": (0, 1), "shared": ("A",)}, "a label space of 2 types has 1 shared"),
        ({"corpus": (0,)}, "a label space of 2 types has 1 corpus"),
    ],
)
def test_a_label_space_that_contradicts_itself_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LabelSpace(**{"types": ("A", "B"), "corpora": ("first", "second"), **values})
