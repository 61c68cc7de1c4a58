"""The splitter loses no character and cuts where entity borders fall."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given

from naughty import NAUGHTY, texts
from spanwright.text import Document, split, words


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


def is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def assert_lossless(text: str) -> None:
    owners = [0] * len(text)
    for start, end in split(text):
        for position in range(start, end):
            owners[position] += 1
    assert owners == [0 if character.isspace() else 1 for character in text]


@given(texts())
def test_every_character_but_white_space_is_in_exactly_one_word(text: str) -> None:
    assert_lossless(text)


@pytest.mark.parametrize("text", NAUGHTY)
def test_naughty_strings_are_split_without_loss(text: str) -> None:
    assert_lossless(text)


def test_every_character_of_unicode_is_kept_after_a_letter_and_alone() -> None:
    codes = [*range(0xD800), *range(0xE000, 0x20000), *range(0x20000, 0x110000, 61)]
    text = "".join(f"a{chr(code)} {chr(code)} " for code in codes)
    assert sum(end - start for start, end in split(text)) == sum(
        not character.isspace() for character in text
    )


@given(texts())
def test_words_are_in_order_and_hold_no_white_space(text: str) -> None:
    previous = 0
    for start, end in split(text):
        assert previous <= start < end
        assert not any(character.isspace() for character in text[start:end])
        previous = end


@given(texts())
def test_combining_marks_never_begin_a_word_unless_nothing_stands_before_them(text: str) -> None:
    for start, _ in split(text):
        if is_mark(text[start]):
            assert start == 0 or text[start - 1].isspace()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p53", ["p53"]),
        ("TNFα", ["TNFα"]),
        ("NF-κB", ["NF", "-", "κB"]),
        ("2.5", ["2.5"]),
        ("2.5mg 1,000 3.", ["2.5", "mg", "1,000", "3", "."]),
        ("1,25(OH)2D3", ["1,25", "(", "OH", ")", "2D3"]),
        ("c.35delG", ["c", ".", "35delG"]),
        ("IL-2/IL-4", ["IL", "-", "2", "/", "IL", "-", "4"]),
        ("snake_case", ["snake", "_", "case"]),
        ("don't", ["don", "'", "t"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_letters_and_digits_stay_together_and_punctuation_stands_alone(
    text: str, expected: list[str]
) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JAK2V617F", ["JAK2", "V617F"]),
        ("hGRalphaD401H", ["hGRalpha", "D401H"]),
        ("rtL180M", ["rt", "L180M"]),
        ("CCR5Delta32 CCR5Δ32", ["CCR5", "Delta32", "CCR5", "Δ32"]),
        ("p.Gly104Cys", ["p", ".", "Gly", "104", "Cys"]),
        ("Arg15", ["Arg", "15"]),
    ],
)
def test_mutations_are_cut_off_genes_and_residues_off_positions(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    "text", ["V617F", "HEK293T", "Cdc42", "Metal", "delta", "5delta", "C20H14F4N2O3", "Profit2"]
)
def test_names_that_only_resemble_mutations_stay_whole(text: str) -> None:
    assert cut(text) == [text]


def test_chinese_and_kana_are_one_word_a_character() -> None:
    assert cut("中文p53とタ") == ["中", "文", "p53", "と", "タ"]


def test_combining_marks_belong_to_the_character_before_them() -> None:
    assert cut("cafe\u0301s 中\u0301 -\u0301 2.5\u0301") == [
        "cafe\u0301s",
        "中\u0301",
        "-\u0301",
        "2.5\u0301",
    ]


def test_every_combining_mark_of_unicode_is_known() -> None:
    marks = [chr(code) for code in range(0x110000) if is_mark(chr(code))]
    assert len(marks) > 2000
    assert [mark for mark in marks if split(f"a{mark}b") != ((0, 3),)] == []


def test_a_plain_word_ends_before_any_character_that_is_no_letter_digit_or_mark() -> None:
    ends = [chr(code) for code in range(0xD800) if not (chr(code).isalnum() or is_mark(chr(code)))]
    assert len(ends) > 5000
    assert [end for end in ends if cut(f"cell{end}b")[0] != "cell" or cut(f"cell{end}")[0] != "cell"] == []


def test_a_lone_mark_is_a_word() -> None:
    assert cut("a \u0301\u0302 b") == ["a", "\u0301\u0302", "b"]


def test_a_zero_width_space_is_a_word() -> None:
    assert cut("a\u200bb") == ["a", "\u200b", "b"]


def test_words_given_by_the_corpus_are_kept() -> None:
    document = Document("d", "a b-c", words=((0, 1), (2, 5)))
    assert words(document) == ((0, 1), (2, 5))


def test_words_are_split_where_the_corpus_gives_none() -> None:
    assert words(Document("d", "a b-c")) == split("a b-c")


@pytest.mark.parametrize("unit", ["a", "1", ".", " ", "A11", "1A11", "1.", "aA1", "Gly1", "\u0301", "中"])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    split(text)
    assert time.process_time() - start < 5
