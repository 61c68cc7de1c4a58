"""Sentence rules lose no text, respect abbreviations and given borders, and end at line breaks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("one. \t\n two", ["one.", "two"]),
        (" \n One.\xa0Two.\n", ["One.", "Two."]),
        ("Dr . Smith", ["Dr .", "Smith"]),
        ("What?! Well... But.。 Yes", ["What?!", "Well...", "But.。", "Yes"]),
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


def skip(text: str, place: int, characters: str) -> int:
    """The first place from here that holds none of the characters."""
    while place < len(text) and text[place] in characters:
        place += 1
    return place


def naive_border(text: str, start: int, place: int) -> tuple[int, bool]:
    """Where to go on from a place of the sentence that began at `start`, and whether the next one begins."""
    blanks = " \t\n"
    if text[place] == "\n":
        return skip(text, place, blanks), True
    if text[place] in "。！":
        return skip(text, skip(text, skip(text, place, "。！"), "」”"), blanks), True
    stop = skip(text, place, ".!?")
    closed = skip(text, stop, "\"')]")
    end = skip(text, closed, blanks)
    opened = skip(text, end, "\"'([")
    if stop == place or closed == end or not text[opened : opened + 1].isalnum() or text[opened].islower():
        return max(stop, place + 1), False
    before = text[start:place]
    token = before.split()[-1].lstrip("(\"'[") if before[-1:].strip() else ""
    letters = token.split(".")
    short = len(letters) > 1 and all(len(letter) == 1 and letter.isalpha() for letter in letters)
    known = short or token == "Dr" or (len(token) == 1 and token.isupper())
    return end, "\n" in text[closed:end] or not known


def naive_sentences(text: str) -> list[str]:
    found, start, place = [], 0, 0
    while place < len(text):
        place, begins = naive_border(text, start, place)
        if begins:
            found.append(text[start:place].strip())
            start = place
    return [sentence for sentence in (*found, text[start:].strip()) if sentence]


bits = st.sampled_from(["ab", "Dr", "E", "g", "3", "Ω", "? ", ". ", *".! \t\n。！」”\"(')]"])


@given(st.lists(bits, max_size=16).map("".join))
def test_sentences_equal_those_of_a_loop_over_characters(text: str) -> None:
    assert cut(text) == naive_sentences(text)


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
