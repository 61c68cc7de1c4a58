"""Sentence rules lose no text, respect abbreviations and given borders, and end at line breaks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from naughty import texts
from spanwright.text import Document, sentences, split_sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(texts())
def test_no_text_is_lost_between_sentences(text: str) -> None:
    covered = {position for start, end in split_sentences(text) for position in range(start, end)}
    assert all(text[position].isspace() for position in range(len(text)) if position not in covered)


@given(texts())
def test_sentences_are_in_order_and_without_white_space_around_them(text: str) -> None:
    previous = 0
    for start, end in split_sentences(text):
        assert previous <= start < end
        assert not text[start].isspace() and not text[end - 1].isspace()
        previous = end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell. Then it rose.", ["It fell.", "Then it rose."]),
        ("Why? Nobody knew!  (None at all.) 3 did.", ["Why?", "Nobody knew!", "(None at all.)", "3 did."]),
        ("Α did. Β did. Он был. Она была.", ["Α did.", "Β did.", "Он был.", "Она была."]),
        ("它掉了。然后呢？好", ["它掉了。", "然后呢？", "好"]),
        ("他说「好。」他走了", ["他说「好。」", "他走了"]),
        ("A title\nAn abstract", ["A title", "An abstract"]),
        ("one \r\n\r\n  two", ["one", "two"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_at_stops_and_line_breaks(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "as in Fig. 2 and Figs. 3 to 5",
        "Smith et al. Found it",
        "by Dr. Smith of St. Mary",
        "J. R. Smith and E. Coli",
        "several (e.g. Aspirin, i.e. ASA)",
        "made in the U.S. Army",
        "a dose of 2.5 mg approx. 3 times",
        "cells vs. Controls",
        "to 5. and then on",
        "version 1.2.Three",
    ],
)
def test_abbreviations_initials_and_lower_case_do_not_end_a_sentence(text: str) -> None:
    assert cut(text) == [text]


def test_a_line_break_ends_a_sentence_even_behind_an_abbreviation() -> None:
    assert cut("A study of Aspergillus spp.\nWe saw it.") == ["A study of Aspergillus spp.", "We saw it."]


def test_given_sentences_are_respected() -> None:
    given_borders = ((0, 3), (4, 11))
    assert sentences(Document("d", "A. B. C. D.", sentences=given_borders)) == given_borders


def test_sentences_are_found_where_the_corpus_gives_none() -> None:
    assert sentences(Document("d", "It fell. It rose.")) == ((0, 8), (9, 17))


@pytest.mark.parametrize("unit", [".", "?", " ", "\n", ". ", ".)", "(", "A.", "。", "\r", ". ("])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    text = "a" + unit * (60_000 // len(unit)) + "b"
    start = time.process_time()
    split_sentences(text)
    assert time.process_time() - start < 2
