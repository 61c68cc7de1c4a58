from __future__ import annotations

import math
from itertools import zip_longest

import pytest
import sacrebleu
from hypothesis import example, given
from hypothesis import strategies as st

from spanwright.errors import InputError
from spanwright.evaluation import corpus_bleu

Text = list[str]
Corpus = list[tuple[Text, list[Text]]]

WORDS = st.sampled_from(["fever", "Fever", "of", "the", "lung"])
CORPORA = st.lists(
    st.tuples(
        st.lists(WORDS, max_size=7),
        # The other library takes an empty reference for none at all.
        st.lists(st.lists(WORDS, min_size=1, max_size=7), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=6,
)


def bleu(corpus: Corpus, order: int = 2) -> float:
    return corpus_bleu([candidate for candidate, _ in corpus], [own for _, own in corpus], order)


def other_bleu(corpus: Corpus, order: int) -> float:
    """The same by another library, whose references stand in columns: the first ones, the second ones..."""
    judge = sacrebleu.BLEU(max_ngram_order=order, smooth_method="none", tokenize="none", force=True)
    columns = zip_longest(*([" ".join(words) for words in own] for _, own in corpus))
    candidates = [" ".join(candidate) for candidate, _ in corpus]
    return judge.corpus_score(candidates, [list(column) for column in columns]).score / 100


@given(CORPORA, st.integers(1, 4))
@example(
    [(["fever", "of", "the", "lung"], [["fever", "of", "the"], ["fever", "of", "the", "lung", "of"]])], 2
)
@example([([], [["fever"]])], 1)
def test_bleu_is_that_of_another_library(corpus: Corpus, order: int) -> None:
    assert bleu(corpus, order) == pytest.approx(other_bleu(corpus, order), abs=1e-12)


def texts(candidate: str, *references: str) -> tuple[Text, list[Text]]:
    return candidate.split(), [reference.split() for reference in references]


def test_a_copy_of_a_reference_scores_one() -> None:
    assert bleu([texts("a b c", "x", "a b c")]) == 1


def test_a_word_counts_no_more_often_than_in_one_reference() -> None:
    # Two of four words (the references have 'a' once and twice), one of three pairs.
    assert bleu([texts("a a a a", "a x y z", "a a y z")]) == pytest.approx(math.sqrt(2 / 4 * 1 / 3))


def test_counts_are_summed_over_the_corpus_before_they_are_divided() -> None:
    # Words 2 + 1 of 2 + 4, pairs 1 + 0 of 1 + 3; the mean of both texts alone would be 0.5.
    corpus = [texts("a b", "a b"), texts("a x y z", "a b c d")]
    assert bleu(corpus) == pytest.approx(math.sqrt(3 / 6 * 1 / 4))


def test_short_candidates_are_penalised_together() -> None:
    corpus = [texts("a b", "a b c d"), texts("a b c", "a b")]
    assert bleu(corpus) == pytest.approx(math.sqrt(4 / 5 * 2 / 3) * math.exp(1 - 6 / 5))


def test_of_two_references_equally_close_the_shorter_gives_the_length() -> None:
    assert bleu([texts("a b c", "a b c d", "a b")]) == 1
    assert bleu([texts("a b c", "a b c d", "b")]) == pytest.approx(math.exp(1 - 4 / 3))


def test_a_long_candidate_is_not_rewarded() -> None:
    assert bleu([texts("a b c d", "a b")]) == pytest.approx(math.sqrt(2 / 4 * 1 / 3))


def test_without_a_match_of_one_order_the_score_is_zero() -> None:
    assert bleu([texts("a b", "b a")]) == 0
    assert bleu([texts("a b", "b a")], order=1) == 1


def test_one_word_texts_add_nothing_to_the_pairs() -> None:
    assert bleu([texts("a", "a")]) == 0
    assert bleu([texts("a", "a"), texts("b c", "b c")]) == 1


def test_case_matters() -> None:
    assert bleu([texts("A b", "a b")], order=1) == 0.5


def test_a_corpus_of_nothing_scores_zero() -> None:
    assert bleu([]) == 0
    assert bleu([texts("", "a")], order=1) == 0


@pytest.mark.parametrize(
    ("candidates", "references", "order", "complaint"),
    [
        ([["a"]], [[["a"]]], 0, "BLEU of order 0; expected 1 and above"),
        ([["a"]], [], 2, "BLEU of 1 candidates with references for 0; expected as many"),
        ([["a"], ["a"]], [[["a"]], []], 2, "candidate 1 of BLEU has no reference"),
    ],
)
def test_what_has_no_bleu_is_refused(
    candidates: list[Text], references: list[list[Text]], order: int, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        corpus_bleu(candidates, references, order)
