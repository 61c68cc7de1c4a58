from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import making
import tiny
from spanwright.artifact import TrainedModel
from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.text import Document, Entity
from spanwright.training.data import (
    Split,
    SplitReport,
    automatic_decoding,
    automatic_width_limit,
    likely_entities,
    prepare_split,
)
from spanwright.training.resolving import resolve

TEXT = "one two three four five six seven eight nine ten."


def words(first: int, end: int, type_: str = "Gene") -> Entity:
    """The entity of words `[first, end)` of TEXT."""
    starts = [0, *(position + 1 for position, letter in enumerate(TEXT) if letter == " "), len(TEXT) + 1]
    return Entity(starts[first], starts[end] - 1, type_)


def document(*entities: Entity, id: str = "1", **values: object) -> Document:
    return Document(id, TEXT, entities, **values)


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return tiny.model(windows={"context": "sentence", "pieces": 48, "overlap": 6})


def split_of(model: TrainedModel, *documents: Document) -> Split:
    return prepare_split(documents, model.pieces, model.plan, model.labels)


def report_of(model: TrainedModel, *documents: Document) -> SplitReport:
    return split_of(model, *documents).report


def lost(report: SplitReport) -> int:
    unknown = report.unknown_types.total()
    return report.too_wide + report.cutting_words + report.discontinuous + report.across_windows + unknown


@pytest.mark.parametrize(("wide", "limit"), [(0, 1), (5, 1), (6, 3)])
def test_the_automatic_width_limit_leaves_out_one_entity_in_two_hundred(wide: int, limit: int) -> None:
    narrow = [document(words(0, 1)) for _ in range(1000 - wide)]
    assert automatic_width_limit([*narrow, *[document(words(2, 5))] * wide]) == limit


def test_the_automatic_width_limit_counts_words_that_an_entity_cuts() -> None:
    inside = Entity(1, len("one two thr"), "Gene")
    assert automatic_width_limit([document(inside)]) == 3


def test_the_automatic_width_limit_does_not_reach_for_discontinuous_entities() -> None:
    apart = Entity(0, len(TEXT), "Gene", fragments=((0, 3), (44, len(TEXT))))
    assert automatic_width_limit([document(words(0, 2), apart)]) == 2


def test_the_automatic_width_limit_of_no_entity_is_one() -> None:
    assert automatic_width_limit([document()]) == 1


FLAT = document(words(0, 2), words(2, 3), words(5, 9))
INSIDE = document(words(0, 4), words(1, 2), words(3, 4))
SECOND_TYPE = document(words(0, 2, "Gene"), words(0, 2, "Cell"))
CROSSING = document(words(0, 3), words(2, 5))
APART = document(words(1, 3), Entity(0, len(TEXT), "Gene", fragments=((0, 3), (8, len(TEXT)))))


@pytest.mark.parametrize(
    ("documents", "decoding"),
    [
        ([FLAT], "flat"),
        ([FLAT, INSIDE], "non-crossing"),
        ([SECOND_TYPE, FLAT], "non-crossing"),
        ([INSIDE, CROSSING, FLAT], "nested"),
        ([FLAT, document(words(1, 2), words(1, 2))], "flat"),
        ([APART], "flat"),
        ([document()], "flat"),
    ],
    ids=["flat", "inside", "second type", "crossing", "repeated", "discontinuous", "none"],
)
def test_automatic_decoding_is_the_strictest_rule_that_the_entities_obey(
    documents: list[Document], decoding: str
) -> None:
    assert automatic_decoding(documents) == decoding


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)).filter(lambda s: sum(s) <= 10), max_size=5))
def test_automatic_decoding_agrees_with_looking_at_all_pairs(spans: list[tuple[int, int]]) -> None:
    ranges = [(first, first + width) for first, width in spans]
    pairs = [(a, b) for a in ranges for b in ranges if a < b and a[1] > b[0] and a[0] < b[1]]
    crossing = any(a[0] < b[0] < a[1] < b[1] for a, b in pairs)
    expected = "nested" if crossing else "non-crossing" if pairs else "flat"
    assert automatic_decoding([document(*(words(*range_) for range_ in ranges))]) == expected


def test_unlikely_entities_decide_neither_width_limit_nor_decoding_of_soft_targets() -> None:
    sure, even = words(0, 1), replace(words(3, 5), confidence=0.5)
    unlikely = replace(words(0, 9), confidence=0.49)
    likely = likely_entities([document(sure, even, unlikely)])
    assert [each.entities for each in likely] == [(sure, even)]
    settings = tiny.settings(decoding="auto", candidates={}, training={"targets": "soft"})
    chosen = resolve(settings, making.data([document(sure, even, unlikely)]), 32)
    assert (chosen.decoding, chosen.candidates.width_limit) == ("flat", 2)


def test_confidences_are_probabilities_of_golds_for_soft_targets_alone(model: TrainedModel) -> None:
    unsure = document(words(0, 1), replace(words(3, 5), confidence=0.25))
    soft, hard = (
        prepare_split([unsure], model.pieces, model.plan, model.labels, soft=soft) for soft in (True, False)
    )
    assert soft.probabilities is not None
    assert [row.tolist() for row in soft.probabilities] == [[1.0, 0.25]]
    assert hard.probabilities is None


@pytest.mark.parametrize("confidence", [-0.1, 1.1])
def test_a_confidence_that_is_no_probability_is_refused_as_a_soft_target(
    model: TrainedModel, confidence: float
) -> None:
    wrong = document(replace(words(0, 1), confidence=confidence), id="7")
    with pytest.raises(InputError, match=r"document '7': entity 'Gene' at \[0, 3\) has the confidence"):
        prepare_split([wrong], model.pieces, model.plan, model.labels, soft=True)


def test_an_entity_within_the_limit_is_reachable(model: TrainedModel) -> None:
    report = report_of(model, document(words(0, 1), words(0, 4, "Cell")))
    assert (report.entities, report.reachable, lost(report)) == (2, 2, 0)


def test_an_entity_beyond_the_limit_is_too_wide(model: TrainedModel) -> None:
    report = report_of(model, document(words(0, 5)))
    assert (report.too_wide, report.reachable) == (1, 0)


def test_an_entity_that_cuts_a_word_is_counted(model: TrainedModel) -> None:
    assert report_of(model, document(Entity(1, 7, "Gene"))).cutting_words == 1


def test_a_discontinuous_entity_is_counted(model: TrainedModel) -> None:
    entity = Entity(0, 13, "Gene", fragments=((0, 3), (8, 13)))
    assert report_of(model, document(entity)).discontinuous == 1


def test_an_entity_of_an_unknown_type_is_counted_under_its_name(model: TrainedModel) -> None:
    report = report_of(model, document(words(0, 1, "Drug")), document(words(0, 1, "Drug"), words(1, 2)))
    assert dict(report.unknown_types) == {"Drug": 2}
    assert dict(report.types) == {"Drug": 2, "Gene": 1}


def test_an_entity_across_a_sentence_border_is_counted(model: TrainedModel) -> None:
    sentences = ((0, 13), (14, len(TEXT)))
    report = report_of(model, document(words(2, 4), words(0, 2), sentences=sentences))
    assert (report.across_windows, report.reachable) == (1, 1)


def test_a_repeated_entity_is_counted_once_for_the_ceiling(model: TrainedModel) -> None:
    report = report_of(model, document(words(0, 1), words(0, 1), words(0, 1)))
    assert (report.entities, report.repeated, report.reachable) == (3, 2, 1)
    assert report.ceiling == 1.0


def test_a_second_type_of_a_span_is_reachable_and_counted(model: TrainedModel) -> None:
    report = report_of(model, SECOND_TYPE)
    assert (report.second_types, report.reachable) == (1, 2)


def test_the_ceiling_is_the_share_of_entities_that_can_be_found(model: TrainedModel) -> None:
    report = report_of(model, document(words(0, 1), words(0, 5), words(1, 2), words(5, 6, "Drug")))
    assert report.ceiling == 0.5


def test_the_ceiling_of_no_entity_is_one(model: TrainedModel) -> None:
    assert report_of(model, document()).ceiling == 1.0


def test_a_word_too_long_for_a_window_is_counted(model: TrainedModel) -> None:
    report = report_of(model, Document("1", f"an {'acgt' * 20} end"))
    assert (report.words, report.shortened_words) == (3, 1)


def test_golds_are_the_words_and_types_of_reachable_entities(model: TrainedModel) -> None:
    split = split_of(model, document(words(2, 4, "Gene"), words(0, 1, "Cell"), words(5, 6, "Drug")))
    assert split.golds[0].tolist() == [[0, 0, 0, 1], [2, 3, 1, 1]]


def test_plain_values_hold_every_count_and_the_ceiling(model: TrainedModel) -> None:
    values = report_of(model, document(words(0, 1), words(0, 1, "Drug"))).to_dict()
    assert values["unknown_types"] == {"Drug": 1}
    assert (values["entities"], values["reachable"], values["ceiling"]) == (2, 1, 0.5)


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """TEXT with any entities: too wide, cutting words, repeated, unknown, discontinuous, across sentences."""
    border = draw(st.integers(1, len(TEXT) - 1))
    entities: list[Entity] = []
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(TEXT) - 4))
        end = draw(st.integers(start + 3, len(TEXT)))
        pieces = ((start, start + 1), (end - 1, end)) if draw(st.booleans()) else ()
        entities.append(Entity(start, end, draw(st.sampled_from(["Gene", "Cell", "Drug"])), fragments=pieces))
    for _ in range(draw(st.integers(0, 8))):
        first = draw(st.integers(0, 9))
        end = draw(st.integers(first + 1, 10))
        entities.append(words(first, end, draw(st.sampled_from(["Gene", "Cell"]))))
    return document(*entities, sentences=((0, border), (border, len(TEXT))))


@given(st.lists(annotated(), max_size=3))
def test_reachable_lost_and_repeated_add_up_to_all_entities(
    model: TrainedModel, documents: list[Document]
) -> None:
    report = report_of(model, *documents)
    assert report.reachable + lost(report) + report.repeated == report.entities
    assert report.entities == sum(len(each.entities) for each in documents) == report.types.total()


def test_made_documents_are_all_reachable(model: TrainedModel) -> None:
    labels = LabelSpace.of(made := making.documents(5))
    report = prepare_split(made, model.pieces, model.plan, labels).report
    assert report.reachable == report.entities > 10
