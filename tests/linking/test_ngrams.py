"""The search for similar names finds what comparing all of them finds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.linking import ngrams
from spanwright.linking.ngrams import NgramIndex

KEYS = ["breast cancer", "breast cyst", "ovarian cancer", "colon polyp", "cancer"]
names = st.text(alphabet="abc ", min_size=1, max_size=8).map(str.strip).filter(bool)


def grams(key: str) -> set[str]:
    padded = f" {key} "
    return {padded[at : at + n] for n in (2, 3) for at in range(len(padded) - n + 1)}


def naive_cosine(one: str, other: str, keys: list[str]) -> float:
    frequency = Counter(gram for key in keys for gram in grams(key))
    weight = {
        gram: math.log((1 + len(keys)) / (1 + frequency[gram])) + 1 for gram in grams(one) | grams(other)
    }
    norms = [math.sqrt(sum(weight[gram] ** 2 for gram in grams(key))) for key in (one, other)]
    return sum(weight[gram] ** 2 for gram in grams(one) & grams(other)) / math.prod(norms)


@given(st.lists(names, min_size=1, max_size=8), names)
def test_similarities_are_the_cosines_of_weighted_ngrams(keys: list[str], key: str) -> None:
    found = NgramIndex(keys).similarities(key, np.arange(len(keys)))
    assert found == pytest.approx([naive_cosine(key, other, keys) for other in keys], abs=1e-5)


@given(st.lists(names, min_size=1, max_size=8), names)
def test_the_search_finds_the_most_similar_name_first(keys: list[str], key: str) -> None:
    index = NgramIndex(keys)
    cosines = [naive_cosine(key, other, keys) for other in keys]
    rows = index.search(key, 3)
    if max(cosines) > 0:
        assert cosines[rows[0]] == pytest.approx(max(cosines), abs=1e-5)
    else:
        assert len(rows) == 0


def test_frequent_ngrams_are_left_unread_where_rare_ones_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_BUDGET", 4)
    assert NgramIndex(KEYS).search("breast cysts", 5)[0] == 1


def test_an_index_of_stored_arrays_answers_alike() -> None:
    index = NgramIndex(KEYS)
    again = NgramIndex(KEYS, index.arrays)
    assert again.search("ovarian cancers", 3).tolist() == index.search("ovarian cancers", 3).tolist()


def test_names_without_a_common_ngram_are_not_found() -> None:
    assert NgramIndex(["abc"]).search("xyz", 3).tolist() == []
