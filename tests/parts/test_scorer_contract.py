"""What all scorers promise, so that nobody needs to know which one a model has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import making
import tiny
from batching import as_taken
from spanwright.analysis.spans import collect_spans, templates
from spanwright.artifact import TrainedModel
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.scorer import Scorer, SpanScores, Templates
from spanwright.predicting.tagger import Tagger
from spanwright.training.thresholds import set_tuned_thresholds

DOCUMENTS = making.documents(4)
SCORERS = {
    "softmax": {"kind": "softmax"},
    "sigmoid": {"kind": "sigmoid", "threshold": "half"},
    "tuned sigmoid": {"kind": "sigmoid", "threshold": "tuned"},
    "bi-encoder": {"kind": "bi-encoder", "types": "atomic"},
    "learned bi-encoder": {"kind": "bi-encoder", "types": "atomic", "threshold": "learned"},
    "tuned bi-encoder": {"kind": "bi-encoder", "types": "atomic", "threshold": "tuned"},
}
TUNED = [name for name in SCORERS if name.startswith("tuned")]
OTHERS = [name for name in SCORERS if not name.startswith("tuned")]


def scored(model: TrainedModel) -> Iterator[tuple[Scorer, object, Batch]]:
    """The scores of batches of documents, with the scorer that made them."""
    head = model.network.spans
    assert head is not None
    tagger = Tagger(model)
    with torch.inference_mode():
        for batch in map(as_taken, tagger.batches(tagger.prepare(DOCUMENTS))):
            yield head.scorer, head(model.network.encoder(batch), batch), batch


def scorer_of(model: TrainedModel) -> Scorer:
    assert model.network.spans is not None
    return model.network.spans.scorer


def pairs(found: Predictions) -> set[tuple[int, int, int]]:
    """Each prediction as first word, last word and type."""
    columns = (found.first.tolist(), found.last.tolist(), found.type.tolist())
    return set(zip(*columns, strict=True))


def pairs_above(above: Tensor, batch: Batch) -> set[tuple[int, int, int]]:
    """The same of a mask (spans, types)."""
    span, type_ = above.nonzero().unbind(1)
    return set(
        zip(batch.spans.first[span].tolist(), batch.spans.last[span].tolist(), type_.tolist(), strict=True)
    )


@pytest.mark.parametrize("kind", SCORERS)
def test_what_is_found_is_what_scores_above_the_threshold(kind: str) -> None:
    count = 0
    for scorer, scores, batch in scored(tiny.model(scorer=SCORERS[kind])):
        told = scorer.span_scores(scores, batch)
        above = told.score > (0 if told.threshold is None else told.threshold[batch.spans.window])
        if kind == "softmax":  # of several types above no entity, the best is found
            above &= told.score == told.score.amax(dim=1, keepdim=True)
        found = pairs(scorer.predict(scores, batch))
        assert found == pairs_above(above, batch)
        count += len(found)
    assert count


@pytest.mark.parametrize("kind", TUNED)
def test_limits_that_are_set_decide_what_is_found(kind: str) -> None:
    model = tiny.model(scorer=SCORERS[kind])
    middle = torch.cat([scorer.limited(scores) for scorer, scores, _ in scored(model)]).median(dim=0).values
    scorer_of(model).set_limits(middle)
    for scorer, scores, batch in scored(model):
        # The median itself, which thresholds may round, is far from others than its own span.
        doubtful = torch.isclose(scorer.limited(scores), middle)
        sure = pairs_above((scorer.limited(scores) > middle) & ~doubtful, batch)
        found = pairs(scorer.predict(scores, batch))
        assert sure and sure <= found
        assert found <= sure | pairs_above(doubtful, batch)


@pytest.mark.parametrize("kind", TUNED)
def test_numbers_that_limits_are_compared_with_lie_in_their_range(kind: str) -> None:
    for scorer, scores, _ in scored(tiny.model(scorer=SCORERS[kind])):
        assert scorer.limit_range is not None
        assert scorer.limited(scores).abs().max() <= scorer.limit_range * (1 + 1e-6)


@pytest.mark.parametrize("kind", OTHERS)
def test_a_scorer_without_limits_to_tune_is_left_alone(kind: str) -> None:
    model = tiny.model(scorer=SCORERS[kind])
    before = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    set_tuned_thresholds(model, [making.split(model, DOCUMENTS)])
    after = model.network.state_dict()
    assert scorer_of(model).limit_range is None
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


class Plain(Scorer[tuple[Tensor]]):
    """A scorer that the library does not know, with scores in a form of its own."""

    def __init__(self, size: int, types: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.randn(types, size, generator=torch.Generator().manual_seed(0)))
        self.register_buffer("limits", torch.zeros(types))

    def forward(self, vectors: SpanVectors, states: WordStates, batch: Batch) -> tuple[Tensor]:
        return (vectors.spans @ self.rows.T,)

    def losses(self, scores: tuple[Tensor], batch: Batch) -> dict[str, Tensor]:
        return {}

    def probabilities(self, scores: tuple[Tensor], batch: Batch) -> Tensor:
        return (scores[0] - self.limits).sigmoid()

    def predict(self, scores: tuple[Tensor], batch: Batch) -> Predictions:
        span, type_ = (scores[0] > self.limits).nonzero().unbind(1)
        sure = self.probabilities(scores, batch)[span, type_]
        return Predictions.of(batch.spans.take(span), type=type_, confidence=sure, rank=sure)

    def span_scores(self, scores: tuple[Tensor], batch: Batch) -> SpanScores:
        return SpanScores(scores[0] - self.limits, None)

    def templates(self) -> Templates:
        return Templates(self.rows, torch.arange(len(self.rows)))

    limit_range = 50.0

    def limited(self, scores: tuple[Tensor]) -> Tensor:
        return scores[0]

    def set_limits(self, limits: Tensor) -> None:
        self.limits.copy_(limits)


@pytest.fixture
def outside() -> TrainedModel:
    """A model with a scorer from outside."""
    made = tiny.model()
    head = made.network.spans
    assert head is not None
    head.scorer = Plain(head.representation.size, len(made.labels))
    return made


def test_thresholds_of_a_scorer_from_outside_are_tuned(outside: TrainedModel) -> None:
    set_tuned_thresholds(outside, [making.split(outside, DOCUMENTS)])
    assert scorer_of(outside).state_dict()["limits"].abs().min() > 0


def test_a_scorer_from_outside_can_be_looked_at(outside: TrainedModel) -> None:
    sample = collect_spans(outside, DOCUMENTS, spans=10)
    rows = scorer_of(outside).state_dict()["rows"]
    torch.testing.assert_close(torch.from_numpy(sample.scores), torch.from_numpy(sample.vectors) @ rows.T)
    names, vectors = templates(outside)
    assert names == outside.labels.names
    assert torch.equal(torch.from_numpy(vectors), rows)
