"""Scores of concepts count what they say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanwright.evaluation.concepts import FAMILIAR, ConceptScores, score_concepts
from spanwright.evaluation.matching import pair_documents
from spanwright.text import Document, Entity

TEXT = "flu, grippe and old age"
GOLD = Document(
    "1",
    TEXT,
    (
        Entity(0, 3, "Disease", concepts=("D1",)),
        Entity(5, 11, "Disease", concepts=("D1", "D2")),
        Entity(16, 23, "Disease"),
    ),
)


def scores(gold: Document, predicted: Document, **options: object) -> ConceptScores:
    return score_concepts(pair_documents([gold], [predicted]).pairs, **options)  # type: ignore[arg-type]


def answered(*concepts: tuple[str, ...]) -> Document:
    entities = zip(GOLD.entities, concepts, strict=True)
    return replace(GOLD, entities=tuple(replace(entity, concepts=own) for entity, own in entities))


def test_the_same_concepts_are_right_in_every_way() -> None:
    found = scores(GOLD, GOLD)
    assert (found.on_gold.mentions, found.on_gold.right, found.gold_without) == (2, 2, 1)
    assert found.mentions.f1 == found.documents.f1 == 1
    assert found.wrong == []


def test_a_composite_mention_needs_all_its_concepts() -> None:
    found = scores(GOLD, answered(("D1",), ("D2",), ()))
    assert (found.on_gold.right, found.on_gold.any_right) == (1, 2)
    assert found.mentions.true_positives == 1
    assert found.documents.f1 == 1
    (wrong,) = found.wrong
    assert (wrong.mention, wrong.gold, wrong.predicted) == ("grippe", ("D1", "D2"), ("D2",))


def test_no_concept_is_counted_apart_and_is_no_prediction() -> None:
    found = scores(GOLD, answered((), (), ("D3",)))
    assert found.on_gold.without == 2 and found.on_gold.right == 0
    assert (found.mentions.predicted, found.mentions.gold) == (1, 2)
    assert (found.documents.false_positives, found.documents.false_negatives) == (1, 2)


def test_entities_that_are_not_predicted_are_counted_apart() -> None:
    found = scores(GOLD, Document("1", TEXT, GOLD.entities[:1]))
    assert (found.on_gold.mentions, found.unpredicted) == (1, 1)
    assert found.mentions.recall == 0.5


def test_identifiers_that_mean_the_same_are_the_same() -> None:
    predicted = answered(("114480",), ("D1", "D2"), ())
    assert scores(GOLD, predicted).on_gold.right == 1
    assert scores(GOLD, predicted, same={"114480": "D1", "D1": "D1", "D2": "D2"}.get).on_gold.right == 2


def test_candidates_count_up_to_the_fifth() -> None:
    def links(place: int) -> list[dict[str, object]]:
        others = [{"concepts": [f"X{n}"]} for n in range(place)]
        return [{"candidates": [*others, {"concepts": ["D1"]}]}, {"candidates": []}, {"candidates": []}]

    for place, right in ((4, 1), (5, 0)):
        predicted = replace(answered(("X0",), (), ()), annotation_notes={"links": links(place)})
        found = scores(GOLD, predicted)
        assert found.has_candidates and found.on_gold.among_five == right


@pytest.mark.parametrize(
    ("text", "concept", "bucket"), [("FLU", "X", 0), ("ague", "D1", 1), ("ague", "D7", 2)]
)
def test_names_are_parted_by_what_training_has(text: str, concept: str, bucket: int) -> None:
    training = [Document("t", text, (Entity(0, len(text), "Disease", concepts=(concept,)),))]
    gold = Document("1", "flu", (Entity(0, 3, "Disease", concepts=("D1",)),))
    found = scores(gold, gold, training=training)
    assert [found.by_familiarity[name].mentions for name in FAMILIAR] == [
        int(place == bucket) for place in range(3)
    ]


def test_scores_of_nothing_are_nothing() -> None:
    empty = Document("1", "flu")
    assert scores(empty, empty).to_dict()["on_gold_mentions"]["accuracy"] is None


def test_types_that_are_ignored_count_on_neither_side() -> None:
    species = Entity(0, 3, "Species", concepts=("S1",))
    found = scores(replace(GOLD, entities=(*GOLD.entities, species)), GOLD, ignore_types=("Species",))
    assert found.to_dict() == scores(GOLD, GOLD).to_dict()
    other_way = scores(GOLD, replace(GOLD, entities=(*GOLD.entities, species)), ignore_types=("Species",))
    assert other_way.documents.f1 == 1
