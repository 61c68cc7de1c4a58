"""Bundling: at its extremes the bundled model is one of its two members, in loss and in gradient."""

from __future__ import annotations

import pytest
import torch

import making
import tiny
from batching import as_taken
from spanwright.artifact import TrainedModel
from spanwright.batches.collate import collate
from spanwright.parts.batch import Batch
from spanwright.parts.model import SpanModel
from spanwright.predicting.tagger import Tagger
from spanwright.settings import Settings
from spanwright.settings.learning import ObjectiveSettings
from spanwright.training.data import prepare_split
from spanwright.training.objective import total, weights_at

BINDER = {
    "scorer": {"kind": "bi-encoder", "dropout": 0.0},
    "representation": {"size": 16, "width_size": 4, "activation": "none", "dropout": 0.0},
}
SPANNER = {"representation": {"ingredients": ["first", "last", "max", "anchor", "width"], "dropout": 0.0}}


def model(tagger: str | None = None, **changes: object) -> TrainedModel:
    auxiliaries = {"tagger": {"kind": tagger, "dropout": 0.0}} if tagger else {}
    made = tiny.model(auxiliaries=auxiliaries, **changes)
    for module in made.network.modules():
        if hasattr(module, "p"):
            module.p = 0.0
    return made


def batch(trained: TrainedModel) -> Batch:
    split = prepare_split(making.documents(3), trained.pieces, trained.plan, trained.labels)
    limit = trained.plan.width_limit
    return as_taken(
        collate(split.windows, split.documents, trained.pieces, width_limit=limit, golds=split.golds)
    )


def objective(settings: Settings, weight: float) -> ObjectiveSettings:
    weights = {**settings.objective.weights, "tags": weight}
    return settings.objective.model_copy(update={"weights": weights, "convex": True})


def loss(trained: TrainedModel, settings: ObjectiveSettings) -> torch.Tensor:
    """The loss of the made-up documents; gradients are left on the network."""
    network = trained.network.train()
    weights = weights_at(settings, network.terms, trained.settings.shares, progress=0.5)
    value = total(network.losses(batch(trained), weights), weights)
    torch.autograd.backward(value)
    return value.detach()


def gradients(network: SpanModel) -> dict[str, torch.Tensor]:
    return {
        name: parameter.grad for name, parameter in network.named_parameters() if parameter.grad is not None
    }


def assert_same_gradients(found: SpanModel, expected: SpanModel) -> None:
    """Equal gradients for the weights that both have, and none for the others."""
    assert gradients(found).keys() == gradients(expected).keys()
    for name, gradient in gradients(expected).items():
        torch.testing.assert_close(gradients(found)[name], gradient)


def same_weights(target: SpanModel, source: SpanModel) -> None:
    target.load_state_dict(source.state_dict(), strict=False)


@pytest.mark.parametrize("kind", ["softmax", "crf"])
@pytest.mark.parametrize("parts", [SPANNER, BINDER], ids=["spanner", "binder"])
def test_weight_0_is_the_span_model_alone(kind: str, parts: dict[str, object]) -> None:
    bundled, alone = model(kind, **parts), model(**parts)
    same_weights(alone.network, bundled.network)
    expected = loss(alone, alone.settings.objective)
    torch.testing.assert_close(loss(bundled, objective(bundled.settings, 0.0)), expected)
    assert_same_gradients(bundled.network, alone.network)


@pytest.mark.parametrize("kind", ["softmax", "crf"])
@pytest.mark.parametrize("parts", [SPANNER, BINDER], ids=["spanner", "binder"])
def test_weight_1_is_the_tagger_alone(kind: str, parts: dict[str, object]) -> None:
    bundled = model(kind, **parts)
    alone = model(kind, scorer={"kind": "none"}, output="tags")
    same_weights(alone.network, bundled.network)
    expected = loss(alone, alone.settings.objective)
    torch.testing.assert_close(loss(bundled, objective(bundled.settings, 1.0)), expected)
    assert_same_gradients(bundled.network, alone.network)


def test_in_between_the_loss_is_the_convex_sum() -> None:
    bundled = model("crf", **SPANNER)
    ends = [loss(bundled, objective(bundled.settings, weight)) for weight in (0.0, 1.0)]
    mixed = loss(bundled, objective(bundled.settings, 0.3))
    torch.testing.assert_close(mixed, 0.7 * ends[0] + 0.3 * ends[1])


def test_a_model_without_tagger_has_no_weights_of_one_and_a_tagger_none_of_spans() -> None:
    assert not any("tagger" in name for name in model().network.state_dict())
    alone = model("softmax", scorer={"kind": "none"}, output="tags")
    assert {name.partition(".")[0] for name in alone.network.state_dict()} == {"encoder", "tagger"}


def test_one_model_answers_with_spans_or_with_tags() -> None:
    bundled = model("softmax")
    text = "the bcase cell and gdfase were seen in a kl cell"
    by_spans = Tagger(bundled).tag(text).entities
    bundled.network.output = "tags"
    by_tags = Tagger(bundled).tag(text).entities
    assert by_spans != by_tags
    words = [set(range(entity.start, entity.end)) for entity in by_tags]
    assert by_tags and sum(map(len, words)) == len(set().union(*words))


def test_tags_find_entities_wider_than_the_candidates() -> None:
    trained = model("softmax", scorer={"kind": "none"}, output="tags", candidates={"width_limit": 2})
    with torch.no_grad():
        for parameter in trained.network.tagger.parameters():
            parameter.zero_()
        trained.network.tagger.projection.bias[2] = 9.0  # I of the first type everywhere
    assert [
        (entity.start, entity.end) for entity in Tagger(trained).tag("one long entity here").entities
    ] == [(0, 20)]
