"""Words are exchanged where names that differ in them alone mean the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making_linkers import marked

from spanwright.lexicons import Lexicon, Term
from spanwright.linking.building import build_linker
from spanwright.linking.edits import learn_edits, variants

KIDNEYS = [
    Term("Kidney Stone", None, "K1", ("Renal Stone",)),
    Term("Kidney Failure", None, "K2", ("Renal Failure", "Failure Disease, Kidney")),
    Term("Kidney Abscess Disease", None, "K3", ("Kidney Abscess",)),
    Term("Polyp, Renal", None, "K4"),
    Term("Liver Stone", None, "L1"),
    Term("Liver Failure", None, "L2"),
    Term("Polyps", None, "P1"),
]


def learnt(names: list[tuple[str, int]]) -> dict[str, dict[str, float]]:
    keys, concepts = [name for name, _ in names], np.array([concept for _, concept in names], dtype=np.int64)
    return {word: dict(others) for word, others in learn_edits(keys, concepts).items()}


def naive(names: list[tuple[str, int]]) -> dict[str, dict[str, float]]:
    """The same by comparing every two places of words."""
    places = set()
    for name, concept in names:
        words = name.split()
        places.add(("", tuple(sorted(words)), concept))
        for at, word in enumerate(words) if len(words) > 1 else ():
            places.add((word, tuple(sorted(words[:at] + words[at + 1 :])), concept))
    found: dict[str, dict[str, float]] = {}
    for word in {word for word, _, _ in places} - {""}:
        for other in {other for other, _, _ in places} - {word}:
            common = {c for w, c, _ in places if w == word} & {c for w, c, _ in places if w == other}
            same = {(c, o) for w, c, o in places if w == word and (other, c, o) in places}
            concepts = len({concept for _, concept in same})
            others = len(common) - len({context for context, _ in same})
            if concepts >= 2 and (probability := concepts / (concepts + others + 1)) >= 0.3:
                found.setdefault(word, {})[other] = probability
    return found


_names = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(" ".join)


@given(st.lists(st.tuples(_names, st.integers(0, 2)), max_size=14))
def test_edits_are_counted_as_by_comparing_all_names(names: list[tuple[str, int]]) -> None:
    found, expected = learnt(names), naive(names)
    assert {word: pytest.approx(others) for word, others in expected.items()} == found


def test_what_one_concept_alone_exchanges_may_be_chance() -> None:
    once = [("kidney stone", 1), ("renal stone", 1), ("kidney stone attack", 1), ("renal stone attack", 1)]
    assert learnt(once) == {}
    assert learnt([*once, ("kidney cyst", 2), ("renal cyst", 2)])["renal"] == {"kidney": 2 / 3}


def test_variants_are_the_likeliest_ways_to_write_a_name() -> None:
    edits = {"renal": [("kidney", 0.9)], "disease": [("", 0.8), ("disorder", 0.5)]}
    assert variants(("renal", "disease"), edits) == pytest.approx(
        {
            ("kidney", "disease"): 0.9,
            ("renal",): 0.8,
            ("kidney",): 0.72,
            ("renal", "disorder"): 0.5,
            ("kidney", "disorder"): 0.45,
        }
    )
    assert variants(("stone",), edits) == {}


@pytest.mark.parametrize(("mention", "concept"), [("kidney polyp", "K4"), ("renal abscess", "K3")])
def test_a_mention_is_linked_to_a_name_with_another_word(mention: str, concept: str) -> None:
    linker = build_linker(Lexicon(KIDNEYS))
    ((_, (link,)),) = linker.links([marked(f"A {mention}.", mention)])
    assert (link.concepts, link.stage) == ((concept,), "similar")
