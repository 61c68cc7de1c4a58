"""Names that mean the same have the same key."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given

from naughty import texts
from spanwright.lexicons import Term
from spanwright.linking.concepts import SameConcepts
from spanwright.linking.names import normal_key, unordered, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Breast Cancers", "breast cancer"),
        ("T-cell lymphoma", "T cell lymphoma"),
        ("β-thalassaemia", "beta thalassemia"),
        ("tumour", "tumor"),
        ("Alzheimer's disease", "Alzheimer disease"),
        ("Sjögren syndrome", "Sjogren syndrome"),
        ("type II collagen", "type 2 collagen"),
        ("diabetes type I", "diabetes type 1"),
        ("deficiency of the enzyme", "deficiency enzyme"),
        ("C7D", "c 7 d"),
        ("neuropathies", "neuropathy"),
    ],
)
def test_spelling_makes_no_difference(one: str, other: str) -> None:
    assert normal_key(one) == normal_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("colitis", "coliti"), ("factor VIII", "factor VII"), ("protein S", "protein C")]
)
def test_other_words_make_a_difference(one: str, other: str) -> None:
    assert normal_key(one) != normal_key(other)


def test_the_order_of_words_matters_to_the_normal_key_alone() -> None:
    turned, straight = normal_key("Cancer, Breast"), normal_key("Breast Cancer")
    assert turned != straight
    assert unordered(turned) == unordered(straight)


def test_a_name_of_left_out_words_alone_keeps_them() -> None:
    assert words_of("of the") == ("of", "the")


@given(texts())
def test_any_text_has_a_key_that_is_its_own_key(text: str) -> None:
    key = normal_key(text)
    assert key == " ".join(key.split())
    assert unordered(key) == unordered(unordered(key))


@pytest.mark.parametrize("order", [*permutations((("A",), ("B",), ("A", "B"), ("B", "C")))])
def test_which_identifiers_are_the_same_does_not_depend_on_the_order_of_terms(
    order: tuple[tuple[str, ...], ...],
) -> None:
    terms = (Term(f"name {number}", None, ids[0], other_ids=ids[1:]) for number, ids in enumerate(order))
    same = SameConcepts(terms)
    assert len({same.first(id) for id in "ABC"}) == 1
    assert same.first("D") == "D"
