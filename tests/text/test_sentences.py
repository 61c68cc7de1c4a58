"""Sentence rules lose no text, respect abbreviations, wrapped lines and given borders."""

from __future__ import annotations

import random
import textwrap
import time
from bisect import bisect_right
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naughty import texts
from spanwright.formats.files import read
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
def test_sentences_end_at_stops_and_ended_lines(text: str, expected: list[str]) -> None:
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


def test_a_title_ends_even_after_an_abbreviation() -> None:
    assert cut("A study of Aspergillus spp.\nWe saw it.") == ["A study of Aspergillus spp.", "We saw it."]


@pytest.mark.parametrize(
    "text",
    [
        "patients with acute renal\nfailure",
        "patients with acute renal \r\n\t failure",
        "cultures of E.\ncoli",
        "treated with aspirin vs.\nplacebo",
        "either this\nor that\nor nothing",
    ],
)
def test_a_line_that_goes_on_in_lower_case_ends_no_sentence(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\n\ntwo", ["one", "two"]),
        ("one\n \t\ntwo", ["one", "two"]),
        ("He did.\nthen she did", ["He did.", "then she did"]),
        ('"He did."\nthen she did', ['"He did."', "then she did"]),
        ("TP53\nBRCA1\nEGFR", ["TP53", "BRCA1", "EGFR"]),
        ("- aspirin\n- placebo", ["- aspirin", "- placebo"]),
    ],
)
def test_empty_lines_stops_and_items_of_lists_end_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_the_title_of_a_long_line_ends_even_if_that_begins_in_lower_case() -> None:
    abstract = "p53 is a protein " + "of many cells " * 12 + "in mice."
    assert cut(f"A title about p53\n{abstract}") == ["A title about p53", abstract]


def test_a_wrapped_line_ends_no_sentence_though_the_next_word_has_a_capital() -> None:
    text = (
        "The deficiency of the factor named after von\n"
        "Willebrand was treated with infusions of the\n"
        "Factor VIII concentrate in all patients of the\n"
        "United Kingdom."
    )
    assert cut(text) == [text]


def test_the_title_of_a_wrapped_text_ends_where_the_next_word_would_have_fitted_in() -> None:
    lines = ["A title on Aspirin", *["Aspirin is taken by most of the Patients in"] * 3, "Europe."]
    assert cut("\n".join(lines)) == ["A title on Aspirin", "\n".join(lines[1:])]


def test_a_title_that_is_wider_than_the_text_ends() -> None:
    title = "A report of three patients with a deficiency of Factor VIII"
    assert cut(f"{title}\nNo abstract given") == [title, "No abstract given"]


@given(st.integers(0, 2**32), st.integers(50, 120))
def test_wrapping_a_text_changes_no_sentence(seed: int, width: int) -> None:
    generator = random.Random(seed)
    names = [
        "of",
        "cells",
        "Aspirin",
        "with",
        "IL-2",
        "treatment",
        "patients",
        "E.",
        "coli",
        "4",
        "mg",
        "Factor",
    ]
    written = [
        f"We {' '.join(generator.choices(names, k=generator.randint(10, 40)))} fell." for _ in range(8)
    ]
    wrapped = textwrap.fill(" ".join(written), width, break_long_words=False, break_on_hyphens=False)
    assert [" ".join(sentence.split()) for sentence in cut(wrapped)] == written


def entities_across_borders(document: Document, text: str) -> int:
    starts = [start for start, _ in split_sentences(text)]
    return sum(bisect_right(starts, e.start) != bisect_right(starts, e.end - 1) for e in document.entities)


def test_titles_of_a_corpus_end_and_no_entity_of_it_crosses_a_border_once_it_is_wrapped(
    corpora: Path,
) -> None:
    documents = read(corpora / "bc5cdr" / "pubtator" / "CDR_TrainingSet.PubTator.txt").documents
    for document in documents:
        title, abstract = document.text.split("\n")
        # Of the same length, so that offsets hold.
        text = "\n".join(
            textwrap.fill(line, 72, break_long_words=False, break_on_hyphens=False)
            for line in (title, abstract)
        )
        assert len(text) == len(document.text)
        assert {start for start, _ in split_sentences(text)} >= {0, len(title) + 1}
        assert (
            entities_across_borders(document, text) == entities_across_borders(document, document.text) == 0
        )


def skip(text: str, place: int, characters: str) -> int:
    """The first place from here that holds none of the characters."""
    while place < len(text) and text[place] in characters:
        place += 1
    return place


def naive_border(text: str, start: int, place: int) -> tuple[int, bool]:
    """Where to go on from a place of the sentence that began at `start`, and whether the next one begins."""
    blanks = " \t\n"
    if text[place] == "\n":
        return skip(text, place, blanks), not naive_goes_on(text, place)
    if text[place] in "。！":
        return skip(text, skip(text, skip(text, place, "。！"), "」”"), blanks), True
    stop = skip(text, place, ".!?")
    closed = skip(text, stop, "\"')]")
    end = skip(text, closed, blanks)
    opened = skip(text, end, "\"'([")
    if stop == place or closed == end or not text[opened : opened + 1].isalnum() or text[opened].islower():
        return max(stop, place + 1), False
    return end, "\n" in text[closed:end] or not naive_abbreviation(text[start:place])


def naive_abbreviation(before: str) -> bool:
    token = before.split()[-1].lstrip("(\"'[") if before[-1:].strip() else ""
    letters = token.split(".")
    short = len(letters) > 1 and all(
        len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in letters
    )
    return short or token == "Dr" or (len(token) == 1 and token.isupper())


def naive_goes_on(text: str, place: int) -> bool:
    """Whether the line after a line break begins in lower case, and the one before it has no stop."""
    line, after = text[:place].split("\n")[-1].rstrip(), text[place + 1 :].split("\n")[0].lstrip()
    bare = line.rstrip("\"')]」』”’")
    before = bare.rstrip(".!?。！")
    return bool(line) and after[:1].islower() and (before == bare or naive_abbreviation(before))


def naive_sentences(text: str) -> list[str]:
    found, start, place = [], 0, 0
    while place < len(text):
        place, begins = naive_border(text, start, place)
        if begins:
            found.append(text[start:place].strip())
            start = place
    return [sentence for sentence in (*found, text[start:].strip()) if sentence]


bits = st.sampled_from(["ab", "Dr", "E", "g", "3", "Ω", "? ", ". ", "\nab", ".\nab", *".! \t\n。！」”\"(')]"])


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
