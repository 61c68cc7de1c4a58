"""Abbreviations are found by the rules of Schwartz and Hearst, with exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naughty import NAUGHTY, texts
from spanwright.text.abbreviations import expansions, find_abbreviations, occurrences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tumour necrosis factor (TNF) is high", {"TNF": "tumour necrosis factor"}),
        ("TNF (tumour necrosis factor) is high", {"TNF": "tumour necrosis factor"}),
        (
            "severe glucose-6-phosphate dehydrogenase (G6PD) lack",
            {"G6PD": "glucose-6-phosphate dehydrogenase"},
        ),
        ("the Wiskott-Aldrich syndrome [WAS]", {"WAS": "Wiskott-Aldrich syndrome"}),
        ("heart attack (HA; see below)", {"HA": "heart attack"}),
        ("heart attack (HA, as we say)", {"HA": "heart attack"}),
        (
            "many basal cell carcinomas (BCCs)",
            {"BCCs": "basal cell carcinomas", "BCC": "basal cell carcinomas"},
        ),
        (
            "attenuated adenomatous polyposis coli (AAPC)",
            {"AAPC": "attenuated adenomatous polyposis coli"},
        ),
        ("the superior sagittal sinus (SSS) of rats", {"SSS": "superior sagittal sinus"}),
        (
            "a gastro-intestinal/jaw tumor syndrome (GI-JT)",
            {
                "GI-JT": "gastro-intestinal/jaw tumor syndrome",
                "GI": "gastro-intestinal",
                "JT": "jaw tumor syndrome",
            },
        ),
        ("It has a heart. Attack (HA)", {}),
        ("no long form (XYZ) here", {}),
        ("the sick patients (HA)", {}),
        ("heart attack (2006)", {}),
        ("heart attack ( )", {}),
        ("people (perhaps every old person likes expense)", {}),
        ("TNF (TNF alpha factor)", {}),
    ],
)
def test_definitions_are_found_in_both_orders(text: str, found: dict[str, str]) -> None:
    assert expansions(text) == found


def test_offsets_are_those_of_the_text() -> None:
    text = "A  tumour necrosis\tfactor ( TNF )"
    (found,) = find_abbreviations(text)
    assert text[slice(*found.short)] == "TNF"
    assert text[slice(*found.long)] == "tumour necrosis\tfactor"


def test_of_several_definitions_the_first_counts() -> None:
    assert expansions("heart attack (HA), hay allergy (HA)") == {"HA": "heart attack"}


def test_what_a_text_defines_counts_more_than_what_it_implies() -> None:
    found = expansions("gastric-jaw tumors (GA-JTs), joint tears (JT), bad knees (BKs), BK (black keyboards)")
    assert found["JT"] == "joint tears" and found["BK"] == "black keyboards"


def test_occurrences_are_whole_words() -> None:
    assert list(occurrences("HA, HAs, xHA, (HA)-HA", "HA")) == [(0, 2), (15, 17), (19, 21)]


def assert_by_the_rules(text: str) -> None:
    for each in find_abbreviations(text):
        short, long = text[slice(*each.short)], text[slice(*each.long)]
        assert 2 <= len(short) <= 10 and len(long) > len(short)
        assert each.short[1] <= each.long[0] or each.long[1] <= each.short[0]
        assert short == short.strip() and long == long.strip()
        rest = iter(long.lower())
        assert all(letter in rest for letter in short.lower() if letter.isalnum())


@given(texts())
def test_whatever_the_text_definitions_obey_the_rules(text: str) -> None:
    assert_by_the_rules(text)


@given(st.lists(st.sampled_from(["Ab", "cell", "a", "(", ")", "AC", "C2", ".", ";", "\n", "dna-b", "(AC)"])))
def test_texts_full_of_brackets_obey_the_rules(parts: list[str]) -> None:
    assert_by_the_rules(" ".join(parts))


@pytest.mark.parametrize("text", NAUGHTY)
def test_naughty_strings_obey_the_rules(text: str) -> None:
    assert_by_the_rules(text + " (" + text + ")")


@given(st.lists(st.from_regex(r"[b-y][a-z]{2,6}", fullmatch=True), min_size=2, max_size=5))
def test_initials_in_brackets_always_find_their_words(words: list[str]) -> None:
    initials = "".join(word[0] for word in words).upper()
    found = expansions(f"{' '.join(words)} ({initials})")
    assert set(found) <= {initials}
    assert found or initials.lower() in words
