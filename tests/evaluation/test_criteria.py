from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from nested_documents import TYPES, overlap, two_sides
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spanwright.evaluation import CRITERIA, Criterion, Matches, compare_documents, evaluate, score
from spanwright.evaluation.columns import ANY_TYPE
from spanwright.text import Document, Entity
from spanwright.text.tags import runs_from_tags

TEXT = "x" * 40
Sides = tuple[list[Document], list[Document]]


def document(*entities: Entity, id: str = "1") -> Document:
    return Document(id, TEXT, entities)


def naive_sets(sides: Sides, mark: Callable[[Entity], object], type_: str) -> Matches:
    gold, predicted = (
        {(one.id, mark(entity)) for one in side for entity in one.entities if entity.type == type_}
        for side in sides
    )
    return Matches(len(gold), len(gold & predicted), len(predicted), len(gold & predicted))


def naive_loose(sides: Sides, type_: str) -> Matches:
    numbers = []
    for mine, theirs in (sides, sides[::-1]):
        hits = [
            any(overlap(entity, other) for other in partner.entities if other.type == type_)
            for one, partner in zip(mine, theirs, strict=True)
            for entity in {entity.key: entity for entity in one.entities}.values()
            if entity.type == type_
        ]
        numbers += [len(hits), sum(hits)]
    return Matches(*numbers)


def without_empty(per_type: dict[str, Matches]) -> dict[str, Matches]:
    """Only the types that either side has."""
    return {type_: matches for type_, matches in per_type.items() if matches.gold or matches.predicted}


@given(two_sides())
def test_one_to_one_criteria_equal_the_intersection_of_sets(sides: Sides) -> None:
    comparison = compare_documents(*sides)
    marks: dict[Criterion, Callable[[Entity], object]] = {
        "strict": lambda entity: entity.ranges,
        "start": lambda entity: entity.start,
        "end": lambda entity: entity.end,
    }
    for criterion, mark in marks.items():
        expected = {type_: naive_sets(sides, mark, type_) for type_ in sorted(TYPES)}
        assert score(comparison, criterion).per_type == without_empty(expected)


@given(two_sides())
def test_loose_scores_equal_a_loop_over_all_pairs(sides: Sides) -> None:
    scores = score(compare_documents(*sides), "loose")
    assert scores.per_type == without_empty({type_: naive_loose(sides, type_) for type_ in sorted(TYPES)})


@given(two_sides())
def test_documents_add_up_to_all_entities(sides: Sides) -> None:
    comparison = compare_documents(*sides)
    for criterion in CRITERIA:
        scores = score(comparison, criterion)
        assert Matches(*scores.per_document.sum(axis=0).tolist()) == scores.micro


def random_rows(generator: np.random.Generator, documents: int, per_document: int) -> np.ndarray:
    """Document, start, end and type of spans that nest and cross."""
    number = np.repeat(np.arange(documents), per_document)
    start = generator.integers(0, 32, len(number))
    return np.stack(
        (number, start, start + generator.integers(1, 9, len(number)), generator.integers(0, 4, len(number))),
        axis=1,
    )


def documents_of(rows: np.ndarray, documents: int) -> list[Document]:
    entities: list[list[Entity]] = [[] for _ in range(documents)]
    for number, start, end, type_ in rows.tolist():
        entities[number].append(Entity(start, end, str(type_)))
    return [document(*found, id=str(number)) for number, found in enumerate(entities)]


def test_strict_equals_set_intersection_on_10000_random_nested_documents() -> None:
    generator = np.random.default_rng(6)
    gold = random_rows(generator, 10_000, 6)
    predicted = gold[generator.random(len(gold)) < 0.8]
    predicted[generator.random(len(predicted)) < 0.2, 2] += 1
    wanted, proposed = ({tuple(row) for row in rows.tolist()} for rows in (gold, predicted))
    comparison = compare_documents(documents_of(gold, 10_000), documents_of(predicted, 10_000))
    found = len(wanted & proposed)
    assert score(comparison, "strict").micro == Matches(len(wanted), found, len(proposed), found)
    assert 10_000 < found < len(proposed) < len(wanted)


def test_strict_equals_seqeval_on_flat_documents() -> None:
    generator = random.Random(4)

    def tags(length: int) -> list[str]:
        made: list[str] = []
        while len(made) < length:
            type_, width = generator.choice(TYPES), generator.randint(1, 3)
            made += generator.choice([["O"], [f"B-{type_}"] + [f"I-{type_}"] * (width - 1)])
        return made[:length]

    gold = [tags(20) for _ in range(200)]
    predicted = [row if generator.random() < 0.5 else tags(20) for row in gold]
    sides = (
        [
            document(*(Entity(*run) for run in runs_from_tags(row)), id=str(number))
            for number, row in enumerate(side)
        ]
        for side in (gold, predicted)
    )
    scores = score(compare_documents(*sides), "strict")
    report = classification_report(gold, predicted, mode="strict", scheme=IOB2, output_dict=True)
    for name, row in {**scores.per_type, "micro avg": scores.micro, "macro avg": scores.macro}.items():
        oracle = [report[name][column] for column in ("precision", "recall", "f1-score")]
        assert [row.precision, row.recall, row.f1] == pytest.approx(oracle, abs=1e-12)


@given(two_sides())
def test_strict_equals_evaluate(sides: Sides) -> None:
    micro, counts = score(compare_documents(*sides)).micro, evaluate(*sides).micro
    assert (micro.gold, micro.found, micro.predicted) == (
        counts.gold,
        counts.true_positives,
        counts.predicted,
    )
    assert micro.f1 == pytest.approx(counts.f1)


def test_loose_counts_both_sides_by_themselves() -> None:
    gold = document(Entity(0, 10, "DNA"))
    predicted = document(Entity(0, 2, "DNA"), Entity(8, 12, "DNA"), Entity(10, 12, "DNA"))
    assert score(compare_documents([gold], [predicted]), "loose").micro == Matches(1, 1, 3, 2)


def test_loose_asks_for_a_shared_character_in_the_pieces_and_not_in_the_gap() -> None:
    gold = document(Entity(0, 10, "DNA", fragments=((0, 2), (8, 10))))
    inside_gap, at_border, touching = Entity(3, 7, "DNA"), Entity(2, 8, "DNA"), Entity(9, 12, "DNA")
    comparison = compare_documents([gold], [document(inside_gap, at_border, touching)])
    assert score(comparison, "loose").micro == Matches(1, 1, 3, 1)


def test_without_types_an_entity_is_its_characters() -> None:
    gold = document(Entity(0, 2, "DNA"), Entity(0, 2, "RNA"), Entity(5, 6, "DNA"))
    comparison = compare_documents([gold], [document(Entity(0, 2, "cell"))], typed=False)
    assert score(comparison, "strict").per_type == {ANY_TYPE: Matches(2, 1, 1, 1)}


def test_ignored_types_count_on_neither_side() -> None:
    gold = document(Entity(0, 2, "DNA"), Entity(4, 6, "RNA"))
    comparison = compare_documents([gold], [document(Entity(4, 6, "RNA"))], ignore_types=["RNA"])
    assert score(comparison, "loose").per_type == {"DNA": Matches(1, 0, 0, 0)}


def test_texts_that_differ_in_white_space_are_compared_without_it() -> None:
    gold = Document("1", "p53-null  mice", (Entity(0, 8, "Strain"), Entity(10, 14, "Species")))
    predicted = Document("1", "p53 - null mice", (Entity(4, 10, "Strain"), Entity(11, 15, "Species")))
    comparison = compare_documents([gold], [predicted])
    counted = {criterion: score(comparison, criterion).micro.correct for criterion in CRITERIA}
    assert counted == {"strict": 1, "loose": 2, "start": 1, "end": 2}


def test_an_entity_of_white_space_only_overlaps_nothing() -> None:
    gold = Document("1", "a  b", (Entity(0, 4, "Letter"), Entity(1, 2, "Letter")))
    predicted = Document("1", "a b", (Entity(0, 3, "Letter"), Entity(1, 2, "Letter")))
    assert score(compare_documents([gold], [predicted]), "loose").micro == Matches(2, 1, 2, 1)


def test_the_mean_over_documents_leaves_out_those_without_any_entity() -> None:
    entity, other = Entity(0, 2, "DNA"), Entity(5, 6, "DNA")
    gold = [document(entity, id="1"), document(entity, other, id="2"), document(id="3")]
    predicted = [document(entity, id="1"), document(entity, id="2"), document(id="3")]
    assert score(compare_documents(gold, predicted)).document_mean.recall == 0.75
    # n2c2 counts an empty document as 0.
    assert score(compare_documents(gold, predicted, n2c2=True)).document_mean.recall == 0.5


def test_n2c2_reads_a_discontinuous_entity_from_its_first_to_its_last_character() -> None:
    gold = document(Entity(0, 10, "DNA", fragments=((0, 2), (8, 10))))
    predicted = document(Entity(0, 10, "DNA"))
    assert score(compare_documents([gold], [predicted])).micro.found == 0
    assert score(compare_documents([gold], [predicted], n2c2=True)).micro.found == 1


def test_n2c2_counts_only_documents_of_both_sides() -> None:
    entity = Entity(0, 2, "DNA")
    gold = [document(entity, id="1"), document(entity, id="2")]
    predicted = [document(entity, id="1"), document(entity, id="3")]
    comparison = compare_documents(gold, predicted, n2c2=True)
    assert score(comparison).micro == Matches(1, 1, 1, 1)
    assert "n2c2" in comparison.notes[-1]


def test_macro_is_the_mean_over_the_types_of_gold() -> None:
    gold = document(Entity(0, 1, "DNA"), Entity(1, 2, "DNA"), Entity(2, 3, "RNA"))
    predicted = document(Entity(0, 1, "DNA"), Entity(1, 2, "DNA"), Entity(9, 10, "cell"))
    macro = score(compare_documents([gold], [predicted])).macro
    assert (macro.precision, macro.recall, macro.f1) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_any_entity_all_is_zero(criterion: Criterion) -> None:
    scores = score(compare_documents([document()], [document()]), criterion)
    assert (scores.micro, scores.macro.f1, scores.document_mean.f1) == (Matches(), 0.0, 0.0)
