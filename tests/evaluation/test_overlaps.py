from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from nested_documents import two_sides

from spanwright.evaluation import compare_documents
from spanwright.evaluation.overlaps import overlapped, partners
from spanwright.text import Document, Entity

Sides = tuple[list[Document], list[Document]]


def difference(left: Entity, right: Entity) -> int:
    """In how many characters the ranges that fit best differ; large where no ranges overlap."""
    return min(
        abs(start - other_start) + abs(end - other_end)
        if max(start, other_start) < min(end, other_end)
        else 1000
        for start, end in left.ranges
        for other_start, other_end in right.ranges
    )


@given(two_sides())
@pytest.mark.parametrize("same_type", [True, False])
def test_partners_differ_in_the_fewest_characters_of_all(same_type: bool, sides: Sides) -> None:
    comparison = compare_documents(*sides)
    gold, predicted = comparison.gold, comparison.predicted
    chosen = np.arange(len(gold.entities)) % 3 != 2
    found = partners(gold, predicted, comparison.length, same_type=same_type, chosen=chosen)
    touched = overlapped(gold, predicted, comparison.length, same_type=same_type)
    for position, entity in enumerate(gold.entities):
        candidates = [
            number
            for number, other in enumerate(predicted.entities)
            if predicted.document[number] == gold.document[position]
            and (other.type == entity.type or not same_type)
        ]
        fewest = min((difference(entity, predicted.entities[number]) for number in candidates), default=1000)
        assert touched[position] == (fewest < 1000)
        if chosen[position] and fewest < 1000:
            assert found[position] in candidates
            assert difference(entity, predicted.entities[found[position]]) == fewest
        else:
            assert found[position] == -1


def test_an_entity_that_reaches_over_hundreds_of_others_is_found() -> None:
    text = "x" * 1000
    crowd = tuple(Entity(number, number + 1, "DNA") for number in range(1, 900))
    long, query = Entity(0, 1000, "DNA"), Entity(950, 960, "DNA")
    comparison = compare_documents([Document("1", text, (query,))], [Document("1", text, (long, *crowd))])
    found = partners(
        comparison.gold, comparison.predicted, comparison.length, same_type=True, chosen=np.array([True])
    )
    assert comparison.predicted.entities[found[0]] == long
