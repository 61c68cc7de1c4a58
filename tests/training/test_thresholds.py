"""Tuned thresholds: the best cut of each type, found in counts and found on documents."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import making
import tiny
from spanwright.artifact import TrainedModel
from spanwright.parts.spans.pruning import Pruner
from spanwright.parts.spans.scorers.bi_encoder import Comparison
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.predicting.tagger import Tagger
from spanwright.settings.data import PruningSettings
from spanwright.settings.scorers import SigmoidSettings
from spanwright.training.scoring import score_model
from spanwright.training.thresholds import best_thresholds, set_tuned_thresholds

LIMIT = 4.0
DEV = making.documents(6, prefix="dev")
Counts = list[tuple[int, int]]
"""Golds and others in each bin, from the lowest to the highest."""


def thresholds(*types: Counts) -> list[float]:
    golds, others = torch.tensor(types, dtype=torch.float64).unbind(2)
    return best_thresholds(golds, others, LIMIT).tolist()


def f1_from(counts: Counts, cut: int) -> float:
    """F1 when the bins from a cut on upwards are predicted."""
    found = sum(golds for golds, _ in counts[cut:])
    predicted = found + sum(others for _, others in counts[cut:])
    total = predicted + sum(golds for golds, _ in counts)
    return 2 * found / total if total else 0.0


def cut_of(threshold: float, bins: int) -> int:
    """The bin whose lower edge a threshold is."""
    position = (threshold + LIMIT) * bins / (2 * LIMIT)
    assert position == pytest.approx(round(position), abs=1e-4)
    return round(position)


def types_of(bins: int) -> st.SearchStrategy[list[Counts]]:
    count = st.integers(0, 2)
    return st.lists(st.lists(st.tuples(count, count), min_size=bins, max_size=bins), min_size=1, max_size=4)


@given(st.integers(1, 8).flatmap(types_of))
def test_no_other_cut_has_a_better_f1(types: list[Counts]) -> None:
    for counts, threshold in zip(types, thresholds(*types), strict=True):
        if sum(golds for golds, _ in counts) == 0:
            assert threshold == LIMIT
        else:
            best = max(f1_from(counts, cut) for cut in range(len(counts)))
            assert f1_from(counts, cut_of(threshold, len(counts))) == pytest.approx(best)


def test_golds_are_parted_from_others_in_the_middle_of_the_gap() -> None:
    # Bins are one wide: others below -3 and from -2 to -1, golds from 2 to 3.
    counts = [(0, 5), (0, 0), (0, 2), (0, 0), (0, 0), (0, 0), (3, 0), (0, 0)]
    assert thresholds(counts) == [0.0]


def test_a_cut_between_two_equally_good_ones_is_not_taken_if_it_is_worse() -> None:
    # Above bin 2: 1 of 1 is right; above bin 0: 2 of 4 are; both F1 are 2 / 3. Above bin 1, 1 of 2 is right.
    counts = [(1, 1), (0, 1), (1, 0)]
    assert f1_from(counts, cut_of(thresholds(counts)[0], 3)) == pytest.approx(2 / 3)


def test_nothing_lies_above_the_threshold_of_a_type_without_golds() -> None:
    assert thresholds([(0, 1), (0, 4)], [(0, 0), (0, 0)], [(0, 1), (1, 0)]) == [LIMIT, LIMIT, 0.0]


def model(threshold: str) -> TrainedModel:
    """A model of large random weights: its spans differ much."""
    return randomised(tiny.model(scorer={"kind": "bi-encoder", "types": "atomic", "threshold": threshold}))


def sigmoid_model(threshold: str) -> TrainedModel:
    """The same with a sigmoid scorer."""
    made = tiny.model()
    head, types = made.network.spans, len(made.labels)
    settings = SigmoidSettings.model_validate({"kind": "sigmoid", "threshold": threshold})
    head.scorer = Sigmoid(settings, vector_size=head.representation.size, sizes=(types,)).eval()
    return randomised(made)


def randomised(made: TrainedModel) -> TrainedModel:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in made.network.state_dict().values():
            if tensor.dim() > 1:
                tensor.normal_(std=0.1, generator=generator)
    return made


def tuned_of(made: TrainedModel) -> Tensor:
    scorer = made.network.spans.scorer
    tunable = scorer if isinstance(scorer, Sigmoid) else scorer.compare["spans"]
    assert isinstance(tunable, Comparison | Sigmoid) and tunable.tuned is not None
    return tunable.tuned


def f1_by_type(made: TrainedModel) -> list[float]:
    per_type = score_model(made, making.split(made, DEV)).per_type
    return [per_type[name].f1 for name in made.labels.types]


@pytest.mark.parametrize(
    ("made", "others"),
    [(model("tuned"), torch.linspace(-14, 14, 57)), (sigmoid_model("tuned"), torch.linspace(0, 1, 51))],
    ids=["bi-encoder", "sigmoid"],
)
def test_no_other_threshold_is_better_on_dev_than_the_tuned_one(made: TrainedModel, others: Tensor) -> None:
    set_tuned_thresholds(made, [making.split(made, DEV)])
    best = f1_by_type(made)
    tuned = tuned_of(made).clone()
    assert min(best) > 0
    for other in others:
        tuned_of(made).fill_(float(other))
        for found, tuned_f1 in zip(f1_by_type(made), best, strict=True):
            assert found <= tuned_f1 + 1e-9
    set_tuned_thresholds(made, [making.split(made, DEV)])
    assert torch.equal(tuned_of(made), tuned)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (model("tuned"), "spans.scorer.compare.spans.tuned"),
        (sigmoid_model("tuned"), "spans.scorer.tuned"),
    ],
    ids=["bi-encoder", "sigmoid"],
)
def test_only_thresholds_of_spans_are_tuned(made: TrainedModel, name: str) -> None:
    before = {name: tensor.clone() for name, tensor in made.network.state_dict().items()}
    set_tuned_thresholds(made, [making.split(made, DEV)])
    after = made.network.state_dict()
    assert [each for each, tensor in after.items() if not torch.equal(tensor, before[each])] == [name]


def test_probabilities_near_zero_are_told_apart() -> None:
    made, unlikely = sigmoid_model("tuned"), sigmoid_model("tuned")
    unlikely.network.spans.scorer.layers[-1].bias.data.sub_(12)
    for each in (made, unlikely):
        set_tuned_thresholds(each, [making.split(each, DEV)])
    assert tuned_of(unlikely).max() < 1e-4
    # The borders of bins lie elsewhere, which counts little.
    assert f1_by_type(unlikely) == pytest.approx(f1_by_type(made), abs=0.01)
    found = f1_by_type(unlikely)
    tuned_of(unlikely).zero_()
    assert max(found) > max(f1_by_type(unlikely)) + 0.1


def test_no_probability_exceeds_the_threshold_of_a_type_that_dev_lacks() -> None:
    made = sigmoid_model("tuned")
    made.network.spans.scorer.layers[-1].bias.data.add_(30)
    set_tuned_thresholds(made, [making.split(made, [replace(document, entities=()) for document in DEV])])
    assert tuned_of(made).tolist() == [1.0, 1.0]
    assert not any(document.entities for document in Tagger(made).tag(DEV))


@pytest.mark.parametrize("made", [model("dynamic"), model("learned"), sigmoid_model("half"), tiny.model()])
def test_models_without_tuned_thresholds_are_left_alone(made: TrainedModel) -> None:
    before = {name: tensor.clone() for name, tensor in made.network.state_dict().items()}
    set_tuned_thresholds(made, [making.split(made, DEV)])
    assert all(torch.equal(tensor, before[name]) for name, tensor in made.network.state_dict().items())


def test_thresholds_are_those_of_what_a_pruner_leaves() -> None:
    made = sigmoid_model("tuned")
    states = made.network.encoder.width
    made.network.spans.pruner = Pruner(
        PruningSettings(keep=0.5, size=4), state_width=states, width_limit=made.plan.width_limit
    ).eval()
    randomised(made)
    set_tuned_thresholds(made, [making.split(made, DEV)])
    best = f1_by_type(made)
    for other in torch.linspace(0.02, 1, 50):
        tuned_of(made).fill_(float(other))
        for found, tuned_f1 in zip(f1_by_type(made), best, strict=True):
            assert found <= tuned_f1 + 1e-9
