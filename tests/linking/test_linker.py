"""Mentions are linked by what is known of names, the surest way first."""

from __future__ import annotations

import pytest
from making_linkers import TERMS, lexicon, marked

from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term
from spanwright.linking.building import build_linker, calibrated
from spanwright.linking.linker import Link, Linker, Stages
from spanwright.text import Document


def link(linker: Linker, document: Document) -> Link:
    ((_, (found,)),) = linker.links([document])
    return found


@pytest.mark.parametrize(
    ("mention", "concepts", "stage"),
    [
        ("breast cancer", ("D1",), "exact"),
        ("BREAST CANCERS", ("D1",), "exact"),
        ("cancer of the breast", ("D1",), "exact"),
        ("breast and ovarian cancer", ("D1", "D2"), "composite"),
        ("hypertensions", ("D4",), "exact"),
        ("hypertensive", ("D4",), "similar"),
        ("ovarian canser", ("D2",), "similar"),
    ],
)
def test_a_mention_is_linked(mention: str, concepts: tuple[str, ...], stage: str) -> None:
    found = link(build_linker(lexicon()), marked(f"It was {mention}.", mention))
    assert (found.concepts, found.stage) == (concepts, stage)
    assert found.candidates[0].concepts == concepts


def test_an_abbreviation_means_its_long_form_in_the_document() -> None:
    text = "Wiskott-Aldrich syndrome (WAS) and severe WAS."
    document = marked(text, "WAS")
    assert link(build_linker(lexicon()), document).stage == "abbreviation"
    assert link(build_linker(lexicon()), document).concepts == ("D3",)


def test_an_abbreviation_is_expanded_inside_a_mention_too() -> None:
    text = "Breast cancer (BrC) is frequent; BrC and ovarian cancer are studied."
    document = marked(text, "BrC and ovarian cancer")
    assert link(build_linker(lexicon()), document).concepts == ("D1", "D2")


@pytest.mark.parametrize("mention", ["WASs", "WAS syndrome"])
def test_an_abbreviation_is_expanded_in_the_plural_and_without_repeating_words(mention: str) -> None:
    text = f"Wiskott-Aldrich syndrome (WAS) is rare. Many {mention} were seen."
    assert link(build_linker(lexicon()), marked(text, mention)).stage == "abbreviation"


def test_stages_can_be_switched_off() -> None:
    off = build_linker(lexicon(), stages=Stages(abbreviations=False, composites=False, similar=False))
    assert link(off, marked("breast and ovarian cancer", "breast and ovarian cancer")).concepts == ()
    assert link(off, marked("hypertensive", "hypertensive")).concepts == ()
    text = "Hypertension alone (HA) or HA"
    assert link(off, marked(text, "HA")).concepts == ()


def test_annotated_mentions_are_names_and_decide_ambiguous_ones() -> None:
    document = marked("WAS", "WAS")
    training = [marked("WAS and soap", "WAS", concepts="D6", id=str(n)) for n in range(3)]
    assert link(build_linker(lexicon(), documents=training), document).concepts == ("D6",)
    other = [marked("WAS", "WAS", concepts="D3", id=str(n)) for n in range(3)]
    assert link(build_linker(lexicon(), documents=other), document).concepts == ("D3",)


def test_annotated_ids_that_mean_the_same_are_one_concept() -> None:
    training = [marked("mamma ca", "mamma ca", concepts="OMIM:114480")]
    assert link(build_linker(lexicon(), documents=training), marked("mamma ca", "mamma ca")).concepts == (
        "D1",
    )


def test_below_the_minimum_confidence_the_answer_is_no_concept() -> None:
    linker = build_linker(lexicon(), minimum_confidence=0.9)
    found = link(linker, marked("hypertensive", "hypertensive"))
    assert found.concepts == () and 0 < found.confidence < 0.9 and found.candidates


def test_a_mention_like_nothing_has_no_candidate() -> None:
    assert link(build_linker(lexicon()), marked("qqq", "qqq")) == Link((), 0.0, "similar", ())


def test_lexicons_with_types_are_for_entities_of_these_types() -> None:
    linker = build_linker(lexicon("Disease"))
    assert link(linker, marked("breast cancer", "breast cancer")).concepts == ("D1",)
    assert link(linker, marked("breast cancer", "breast cancer", type="Gene")).concepts == ()
    assert linker.serves("Disease") and not linker.serves("Gene")


def test_known_names_are_surer_than_similar_ones() -> None:
    linker = build_linker(lexicon())
    known, similar = (link(linker, marked(name, name)).confidence for name in ("hypertension", "hypertensiv"))
    assert known > similar


def test_confidences_can_be_fitted_to_annotated_documents() -> None:
    linker = build_linker(lexicon())
    wrong = [marked("hypertensive", "hypertensive", concepts="D5", id=str(n)) for n in range(50)]
    before, after = (
        link(each, marked("hypertensive", "hypertensive")).confidence
        for each in (linker, calibrated(linker, wrong))
    )
    assert after < before / 2


def test_calibration_needs_concepts() -> None:
    with pytest.raises(InputError, match="no entity with a concept"):
        calibrated(build_linker(lexicon()), [marked("hypertension", "hypertension")])


def test_notes_tell_all_about_links() -> None:
    (document,) = build_linker(lexicon()).link([marked("qqq WAS", "qqq", "WAS")], candidates=True)
    first, second = document.annotation_notes["links"]
    assert first["concepts"] == () and first["candidates"] == ()
    assert [each["concepts"] for each in second["candidates"]] == [("D3",), ("D6",)]


@pytest.mark.parametrize(
    ("terms", "message"),
    [([], "has no names"), ([Term("cancer")], "none of the 1 terms of the lexicon has an identifier")],
)
def test_a_lexicon_without_anything_to_link_to_is_refused(terms: list[Term], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_linker(Lexicon(terms))


def test_terms_that_repeat_or_refer_to_each_other_do_no_harm() -> None:
    turned = [Term("a one", None, "X1", (), ("X2",)), Term("a two", None, "X2", (), ("X1",))]
    linker = build_linker(Lexicon([*TERMS, *TERMS, *turned]))
    assert link(linker, marked("breast cancer", "breast cancer")).concepts == ("D1",)
    assert link(linker, marked("a two", "a two")).concepts == ("X1",)
