from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spanwright.batches.writer import END, PAD, SPECIALS, START, UNKNOWN, UNKNOWN_WORD, Vocabulary
from spanwright.text import Document

WORDS = st.lists(st.sampled_from(["fever", "Fever", "FEVER", "ague", "of", "-", "p53", "x"]), max_size=20)


def vocabulary(text: str, **options: int) -> Vocabulary:
    return Vocabulary.of([Document("1", text)], **options)


def test_the_special_numbers_come_first() -> None:
    assert (PAD, START, END, UNKNOWN, SPECIALS) == (0, 1, 2, 3, 4)
    assert vocabulary("ague").numbers(["ague", "fever"]) == [4, UNKNOWN]
    assert len(vocabulary("ague")) == 5


@given(st.lists(WORDS, max_size=4), st.integers(1, 3))
def test_words_are_numbered_from_the_most_frequent_to_the_rarest(texts: list[list[str]], least: int) -> None:
    documents = [Document(str(number), " ".join(words)) for number, words in enumerate(texts)]
    made = Vocabulary.of(documents, least_count=least)
    counts = Counter(word for words in texts for word in words)
    assert set(made.entries) == {word for word, count in counts.items() if count >= least}
    ranks = [(-counts[word], word) for word in made.entries]
    assert ranks == sorted(ranks)


def test_words_given_by_a_corpus_are_taken_as_they_are() -> None:
    made = Vocabulary.of([Document("1", "NF-kappa B", words=((0, 8), (9, 10)))])
    assert made.entries == ("B", "NF-kappa")


@given(WORDS)
def test_numbers_of_known_words_lead_back_to_them(words: list[str]) -> None:
    made = vocabulary(" ".join(words))
    assert made.words([START, *made.numbers(words), END, PAD, PAD]) == words


def test_nothing_after_the_first_end_is_read() -> None:
    made = vocabulary("ague")
    assert made.words([4, END, 4, END]) == ["ague"]


def test_the_unknown_word_is_shown() -> None:
    made = vocabulary("ague")
    assert made.words([UNKNOWN, 4]) == [UNKNOWN_WORD, "ague"]


def test_a_word_keeps_its_case_where_the_vocabulary_has_it_so() -> None:
    assert vocabulary("fever fever FEVER").spelt("FEVER") == "FEVER"


def test_a_word_is_written_in_lower_case_before_any_other_case() -> None:
    assert vocabulary("FEVER FEVER fever").spelt("Fever") == "fever"


def test_a_word_is_written_in_the_most_frequent_case_that_there_is() -> None:
    assert vocabulary("FEVER FeVeR FeVeR").spelt("fever") == "FeVeR"


def test_a_word_that_is_there_in_no_case_stays_as_it_is() -> None:
    made = vocabulary("fever")
    assert made.spelt("Ague") == "Ague"
    assert made.numbers([made.spelt("Ague")]) == [UNKNOWN]


def test_a_vocabulary_survives_json() -> None:
    made = vocabulary("fever of the lung")
    assert Vocabulary.from_dict(json.loads(json.dumps(made.to_dict()))) == made
