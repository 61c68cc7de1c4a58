"""The sample of span vectors against the batches of a model, looked at span by span."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import torch

import making
import tiny
from batching import as_taken
from spanwright.analysis import collect_spans
from spanwright.analysis.spans import NEAR, NONE, SpanSample, templates
from spanwright.artifact import TrainedModel
from spanwright.batches.prepare import gold_words, prepare
from spanwright.errors import InputError
from spanwright.parts.batch import Spans
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, Comparisons
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity

DOCUMENTS = making.documents(5)
BI_ENCODER = {"kind": "bi-encoder", "types": "keywords"}
BOTTLENECK = ({"kind": "bottleneck", "hidden": (12,), "size": 6},)
MODELS: dict[str, dict[str, object]] = {
    "softmax": {},
    "bi-encoder": {"scorer": BI_ENCODER},
    "sigmoid after a bottleneck": {"scorer": {"kind": "sigmoid"}, "transforms": BOTTLENECK},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> TrainedModel:
    return tiny.model(**MODELS[request.param])


class Candidate(NamedTuple):
    """A candidate span of a model."""

    window: tuple[int, int]
    words: set[int]
    vector: np.ndarray
    scores: np.ndarray
    types: list[int]
    evidence: np.ndarray


def alone(spans: Spans, span: int) -> Spans:
    return Spans(*(column[span : span + 1] for column in (spans.window, spans.first, spans.last)))


@torch.inference_mode()
def candidates(model: TrainedModel) -> list[Candidate]:
    """Every candidate span of the documents, one by one."""
    head = model.network.spans
    assert head is not None
    prepared = [prepare(document, model.pieces, model.plan) for document in DOCUMENTS]
    golds = [gold_words(item, model.labels).rows for item in prepared]
    found = []
    for batch in map(as_taken, Tagger(model).batches(prepared, golds)):
        states = model.network.encoder(batch)
        vectors = head.representation(states, batch.spans)
        scores = head.scorer(vectors, states, batch)
        for span in range(len(batch.spans)):
            if isinstance(scores, Comparisons):
                own = scores.spans.similarity[span]
            elif scores.shape[1] == len(model.labels):
                own = scores[span]
            else:
                own = scores[span, 1:] - scores[span, 0]
            window = int(batch.spans.window[span])
            words = set(range(int(batch.spans.first[span]), int(batch.spans.last[span]) + 1))
            types = [int(t) for s, t in zip(batch.golds.span, batch.golds.type, strict=True) if s == span]
            place = (int(batch.document[window]), int(batch.word_offset[window]))
            evidence = head.representation.evidence(states, alone(batch.spans, span))[0].numpy()
            found.append(Candidate(place, words, vectors.spans[span].numpy(), own.numpy(), types, evidence))
    return found


def test_every_span_is_in_a_sample_that_is_large_enough(model: TrainedModel) -> None:
    sample = collect_spans(model, DOCUMENTS, spans=10_000)
    every = candidates(model)
    entities = sum(len(each.types) for each in every)
    assert entities > 20
    assert int(sample.is_entity.sum()) == entities
    assert len(sample.type) - entities == sum(not each.types for each in every)
    assert sample.documents == len(DOCUMENTS)


def test_vectors_types_and_scores_belong_together(model: TrainedModel) -> None:
    sample = collect_spans(model, DOCUMENTS, spans=20)
    every = candidates(model)
    table = np.stack([each.vector for each in every])
    assert len(sample.type) == 40
    for vector, type_, scores in zip(sample.vectors, sample.type, sample.scores, strict=True):
        # Batches of other windows round in other ways.
        same = every[int(np.abs(table - vector).max(axis=1).argmin())]
        np.testing.assert_allclose(same.vector, vector, atol=1e-4)
        np.testing.assert_allclose(same.scores, scores, atol=1e-3)
        assert type_ in (same.types or [NONE])


def test_models_with_transforms_show_what_their_vectors_were_before() -> None:
    model = tiny.model(**MODELS["sigmoid after a bottleneck"])
    sample = collect_spans(model, DOCUMENTS, spans=20)
    every = candidates(model)
    table = np.stack([each.vector for each in every])
    assert sample.evidence is not None
    assert sample.evidence.shape == (40, 32 + 32 + 4)
    assert sample.vectors.shape == (40, 6)
    for vector, evidence in zip(sample.vectors, sample.evidence, strict=True):
        same = every[int(np.abs(table - vector).max(axis=1).argmin())]
        np.testing.assert_allclose(same.evidence, evidence, atol=1e-4)


def test_models_without_transforms_have_no_stage_before() -> None:
    assert collect_spans(tiny.model(), DOCUMENTS, spans=4).evidence is None


def set_thresholds(model: TrainedModel, *probabilities: float) -> None:
    assert model.network.spans is not None
    scorer = model.network.spans.scorer
    assert isinstance(scorer, Sigmoid)
    assert scorer.tuned is not None
    scorer.tuned.copy_(torch.tensor(probabilities))


def test_scores_of_a_sigmoid_with_tuned_thresholds_are_above_0_where_entities_are_found() -> None:
    model = tiny.model(scorer={"kind": "sigmoid", "threshold": "tuned"})
    plain = collect_spans(model, DOCUMENTS, spans=50).scores
    set_thresholds(model, 0.9, 0.2)
    tuned = collect_spans(model, DOCUMENTS, spans=50).scores
    probabilities = 1 / (1 + np.exp(-plain.astype(np.float64)))
    np.testing.assert_array_equal(tuned > 0, probabilities > [0.9, 0.2])
    assert ((tuned > 0) != (plain > 0)).any(axis=0).all()


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_scores_are_finite_where_all_or_no_spans_exceed_the_threshold(threshold: float) -> None:
    model = tiny.model(scorer={"kind": "sigmoid", "threshold": "tuned"})
    set_thresholds(model, threshold, threshold)
    assert np.isfinite(collect_spans(model, DOCUMENTS, spans=50).scores).all()


def test_overlaps_and_cosines_equal_naive_loops(model: TrainedModel) -> None:
    sample = collect_spans(model, DOCUMENTS, spans=10_000)
    every = candidates(model)
    expected = []
    for entity, other in product(every, every):
        if not entity.types or other is entity or other.window != entity.window:
            continue
        left, right = entity.words, other.words
        if max(min(right) - max(left), min(left) - max(right)) - 1 <= NEAR:
            lengths = np.linalg.norm(entity.vector) * np.linalg.norm(other.vector)
            cosine = float(entity.vector @ other.vector / lengths)
            expected.append((len(left & right) / len(left | right), cosine))
    assert len(sample.overlap) == len(expected) > 500
    for ratio in {ratio for ratio, _ in expected}:
        ours = np.sort(sample.cosine[np.abs(sample.overlap - ratio) < 1e-6])
        np.testing.assert_allclose(ours, sorted(c for r, c in expected if r == ratio), atol=1e-4)


def test_the_seed_decides_which_spans_are_looked_at(model: TrainedModel) -> None:
    def content(sample: SpanSample) -> list[list[float]]:
        return sample.vectors.tolist()

    first, again, other = (collect_spans(model, DOCUMENTS, spans=8, seed=seed) for seed in (1, 1, 2))
    assert content(first) == content(again)
    assert content(first) != content(other)


def test_the_search_ends_when_there_are_enough_entities(model: TrainedModel) -> None:
    sample = collect_spans(model, making.documents(60), spans=12)
    assert sample.documents == 16
    assert int(sample.is_entity.sum()) == len(sample.type) - int(sample.is_entity.sum()) == 12


def test_only_a_bi_encoder_has_thresholds() -> None:
    assert collect_spans(tiny.model(), DOCUMENTS).thresholds is None
    thresholds = collect_spans(tiny.model(scorer=BI_ENCODER), DOCUMENTS).thresholds
    assert thresholds is not None
    assert thresholds.shape[1] == 2
    assert len(thresholds) >= len(DOCUMENTS)


def test_learned_thresholds_are_the_same_in_all_windows() -> None:
    model = tiny.model(scorer={**BI_ENCODER, "threshold": "learned"})
    thresholds = collect_spans(model, DOCUMENTS).thresholds
    assert thresholds is not None
    np.testing.assert_array_equal(thresholds, np.zeros_like(thresholds))


def test_the_templates_of_a_softmax_are_the_rows_of_its_last_layer() -> None:
    model = tiny.model(scorer={"kind": "softmax", "hidden": (12,)})
    names, vectors = templates(model)
    assert names == ("no entity", "Cell", "Gene")
    assert vectors.shape == (3, 12)
    weights = model.network.state_dict()["spans.scorer.layers.3.weight"]
    np.testing.assert_array_equal(vectors, weights)


def test_the_templates_of_a_sigmoid_are_those_of_types_alone() -> None:
    model = tiny.model(scorer={"kind": "sigmoid"})
    names, vectors = templates(model)
    assert names == ("Cell", "Gene")
    np.testing.assert_array_equal(vectors, model.network.state_dict()["spans.scorer.layers.0.weight"])


@pytest.mark.parametrize("changes", [{}, {"share_projections": True}, {"types": "atomic"}])
@torch.inference_mode()
def test_the_templates_of_a_bi_encoder_point_where_its_type_vectors_do(changes: dict[str, object]) -> None:
    model = tiny.model(scorer={**BI_ENCODER, **changes})
    names, vectors = templates(model)
    assert names == ("Cell", "Gene")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    head = model.network.spans
    assert head is not None
    assert isinstance(head.scorer, BiEncoder)
    expected = head.scorer._type_vectors()["spans"]
    np.testing.assert_allclose(unit, expected, atol=1e-6)


def test_a_model_that_only_tags_words_is_refused() -> None:
    model = tiny.model(scorer={"kind": "none"}, auxiliaries={"tagger": {}}, output="tags", decoding="flat")
    with pytest.raises(InputError, match=r"no span vectors to look at: it only tags words .*recipe tagger"):
        collect_spans(model, DOCUMENTS)


def test_documents_without_an_entity_that_the_model_can_find_are_refused() -> None:
    document = Document("1", "a p53 here", (Entity(2, 5, "Protein"), Entity(3, 5, "Gene")))
    with pytest.raises(InputError, match="none of 1 document has an entity that is a candidate span"):
        collect_spans(tiny.model(), [document])
