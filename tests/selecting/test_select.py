"""Choosing texts to annotate: what is chosen, what is left out, and the reasons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import making
import tiny
from spanwright.artifact import TrainedModel
from spanwright.errors import InputError
from spanwright.evaluation import Calibration
from spanwright.predicting.tagger import Tagger
from spanwright.selecting.choosing import STRATEGIES, choose, drawn
from spanwright.selecting.duplicates import without_duplicates
from spanwright.selecting.select import KEY, select
from spanwright.selecting.signals import Signals, look_at
from spanwright.text import Document


@pytest.fixture(scope="module")
def bundled() -> TrainedModel:
    return tiny.model(auxiliaries={"tagger": {"kind": "softmax"}})


def texts(count: int, seed: int = 0) -> list[Document]:
    return [dataclasses.replace(each, entities=()) for each in making.documents(count, seed=seed)]


def signals(name: str, *words: str, mistakes: float = 0.0, vectors: object = None) -> Signals:
    made = Signals(Document(name, " ".join(words)), frozenset(words), mistakes=mistakes)
    if vectors is not None:
        made.vectors = np.asarray(vectors, np.float32)
    return made


def places(*arguments: object, **options: object) -> list[int]:
    return [choice.place for choice in choose(*arguments, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("by", STRATEGIES)
def test_each_strategy_gives_different_texts_with_suggestions_and_reasons(
    bundled: TrainedModel, by: str
) -> None:
    pool = texts(12)
    chosen = select(Tagger(bundled), pool, count=5, by=by, annotated=texts(3, seed=1))  # type: ignore[arg-type]
    assert len({document.text for document in chosen}) == 5
    assert {document.text for document in chosen} <= {document.text for document in pool}
    assert [document.metadata[KEY]["rank"] for document in chosen] == [1, 2, 3, 4, 5]
    assert all(document.metadata[KEY]["reason"] and document.metadata[KEY]["by"] == by for document in chosen)
    assert [each.entities for each in Tagger(bundled).tag(iter(chosen))] == [each.entities for each in chosen]


def test_expected_mistakes_come_from_calibrated_probabilities(bundled: TrainedModel) -> None:
    certain = dataclasses.replace(bundled, calibration=Calibration(temperature=0.01))
    pool = texts(6)
    before, after = (look_at(Tagger(model), pool) for model in (bundled, certain))
    assert sum(each.mistakes for each in after) < sum(each.mistakes for each in before)
    assert [each.disagreement for each in after] == [each.disagreement for each in before]


def test_expected_mistakes_are_those_of_the_probabilities_of_all_spans(bundled: TrainedModel) -> None:
    (found,) = look_at(Tagger(bundled), texts(1))
    assert found.mistakes == pytest.approx(sum(share for share, _ in found.doubts))
    assert all(0 <= share <= 1 for share, _ in found.doubts)
    assert found.vectors.shape == (min(8, len(found.vectors)), 16)
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_tagger_and_spans_disagree_where_one_of_them_finds_something_else(bundled: TrainedModel) -> None:
    found = look_at(Tagger(bundled), texts(6))
    assert sum(each.disagreement for each in found) > 0
    assert all(each.disagreement == pytest.approx(sum(p for p, _ in each.disagreements)) for each in found)


def test_a_model_without_a_tagger_cannot_disagree_with_itself() -> None:
    with pytest.raises(InputError, match=r"auxiliaries\.tagger.kind=softmax"):
        select(Tagger(tiny.model()), texts(3), count=1, by="disagreement")
    assert len(select(Tagger(tiny.model()), texts(3), count=1, by="mixed")) == 1


def test_a_model_of_tags_alone_chooses_by_its_confidences() -> None:
    tags = tiny.model(
        scorer={"kind": "none"},
        auxiliaries={"tagger": {"kind": "softmax"}},
        output="tags",
    )
    assert len(select(Tagger(tags), texts(4), count=2, by="mixed")) == 2


def test_the_most_uncertain_comes_first() -> None:
    pool = [signals("a", "x", mistakes=0.1), signals("b", "y", mistakes=2.0), signals("c", "z", mistakes=0.5)]
    assert places(pool, [], 2, "uncertainty") == [1, 2]


def test_words_that_are_annotated_or_chosen_are_not_new() -> None:
    pool = [
        signals("a", "x", "y"),
        signals("b", "x", "y", "v"),
        signals("c", "z"),
        signals("d", "w", "z", "u"),
    ]
    choices = choose(pool, [signals("k", "w", "u")], 3, "novelty")
    assert choices[0].place == 1
    assert sorted(choices[0].new_words) == ["v", "x", "y"]
    assert choices[1].new_words == ["z"]


def test_new_words_of_most_texts_are_told_first_but_the_commonest_last() -> None:
    others = [signals(str(number), "the", *(["gene"] if number < 1 else [])) for number in range(8)]
    (first,) = choose([signals("a", "rare", "the", "gene"), *others], [], 1, "novelty")
    assert first.new_words == ["gene", "rare", "the"]


def test_spans_far_from_all_seen_ones_are_new() -> None:
    known = [signals("k", vectors=[[1.0, 0.0]])]
    pool = [
        signals("a", vectors=[[1.0, 0.0]]),
        signals("b", vectors=[[0.0, 1.0]]),
        signals("c", vectors=[[0.0, 1.0]]),
    ]
    assert places(pool, known, 2, "novelty")[0] == 1
    assert places(pool, [*known, *pool[1:2]], 3, "novelty")[0] == 0


def test_choosing_at_random_depends_on_the_seed_alone() -> None:
    first, again, other = (drawn(texts(20), 5, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({each.id for each in first}) == 5


def test_there_may_be_fewer_texts_than_asked_for() -> None:
    assert places([signals("a")], [], 5, "mixed") == [0]
    assert places([], [], 5, "mixed") == []


def test_duplicates_of_what_is_annotated_and_of_each_other_are_left_out() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve"
    done = [Document("1", long), Document("2", "Short text")]
    pool = [
        Document("3", long.upper()),
        Document("4", f"{long} thirteen"),
        Document("5", "short  text"),
        Document("6", "new text"),
        Document("7", "New Text"),
        Document("8", f"{long} and then something quite different that goes on and on for many more words"),
        Document("9", ""),
    ]
    assert [document.id for document in without_duplicates(pool, done)] == ["6", "8"]
