"""The bi-encoder on a batch made by hand: what it compares, what it learns from and how it answers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from spanwright.parts.batch import Batch, Golds, Mentions, Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, Compared, Comparisons
from spanwright.parts.spans.scorers.type_vectors import AtomicTypes
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import BiEncoderSettings

WIDTH, SIZE, TYPES = 8, 6, 2
COUNTS = (6, 3)
"""Words of the two windows: 0 to 5 and 6 to 8."""


def scorer(**changes: Any) -> BiEncoder:
    torch.manual_seed(0)
    return BiEncoder(
        BiEncoderSettings(kind="bi-encoder", types="atomic", **{"dropout": 0.0, **changes}),
        source=AtomicTypes(TYPES, WIDTH),
        sizes=(TYPES,),
        state_width=WIDTH,
        vector_size=SIZE,
    )


def states() -> WordStates:
    generator = torch.Generator().manual_seed(1)
    return WordStates(*(torch.randn(count, WIDTH, generator=generator) for count in (9, 9, 2)))


def composed() -> Composed:
    torch.manual_seed(2)
    settings = ComposedSettings(size=SIZE, width_size=3, activation="none", dropout=0.0)
    return Composed(settings, state_width=WIDTH, width_limit=2)


def mention(first: int, last: int, type_: int, *, starts: bool = True, ends: bool = True) -> list[int]:
    return [0 if first < COUNTS[0] else 1, first, last, type_, starts, ends, True]


def batch(golds: list[tuple[int, int, int]], *others: list[int]) -> Batch:
    """A batch of spans of up to two words, with golds (first, last, type) and mentions that are no golds."""
    borders = (5, 8)
    pairs = ((first, first + more) for first in range(9) for more in (0, 1))
    candidates = [(first, last) for first, last in pairs if first == last or first not in borders]
    first, last = torch.tensor(candidates).unbind(1)
    own = [mention(*gold) for gold in golds]
    columns = torch.tensor([*own, *others], dtype=torch.long).reshape(-1, 7).unbind(1)
    words = torch.arange(sum(COUNTS))
    return Batch(
        piece_ids=torch.zeros(2, 1, dtype=torch.long),
        piece_mask=torch.ones(2, 1, dtype=torch.bool),
        word_counts=torch.tensor(COUNTS),
        first_piece=words,
        last_piece=words,
        spans=Spans((first >= COUNTS[0]).long(), first, last),
        golds=Golds(
            torch.tensor([candidates.index(gold[:2]) for gold in golds], dtype=torch.long),
            torch.tensor([gold[2] for gold in golds], dtype=torch.long),
        ),
        mentions=Mentions(*columns[:4], *(column.bool() for column in columns[4:])),
        word_offset=torch.zeros(2, dtype=torch.long),
        document=torch.zeros(2, dtype=torch.long),
        owned_sums=torch.tensor([(-1000, 1000)] * 2),
        corpus=torch.zeros(2, dtype=torch.long),
    )


def vectors_of(made: Batch) -> SpanVectors:
    return composed()(states(), made.spans)


def compared(part: BiEncoder, made: Batch) -> Comparisons:
    found: Comparisons = part(vectors_of(made), states(), made)
    return found


def random_comparisons(made: Batch, seed: int = 3) -> Comparisons:
    """Similarities and thresholds that are leaves, for gradients."""
    generator = torch.Generator().manual_seed(seed)

    def leaves(items: int) -> Compared:
        drawn = (torch.randn(count, TYPES, generator=generator) for count in (items, 2))
        return Compared(*(numbers.requires_grad_() for numbers in drawn))

    return Comparisons(leaves(len(made.spans)), leaves(9), leaves(9))


def untouched(loss: Tensor, leaf: Tensor) -> set[tuple[int, int]]:
    """The pairs of item and type whose similarity does not matter to a loss."""
    gradient = torch.autograd.grad(loss, leaf, retain_graph=True)[0]
    return set(map(tuple, (gradient == 0).nonzero().tolist()))


def found(predictions: Predictions) -> set[tuple[int, int, int]]:
    columns = (predictions.first, predictions.last, predictions.type)
    return set(zip(*(column.tolist() for column in columns), strict=True))


def test_spans_are_compared_by_a_scaled_cosine_with_each_type() -> None:
    made = batch([])
    part, vectors = scorer(temperature=0.05), vectors_of(made)
    types = part.type_projections["spans"](part.source.states)
    for items, similarity in (
        (vectors.spans, compared(part, made).spans.similarity),
        (vectors.null, compared(part, made).spans.threshold),
    ):
        cosine = nn.functional.cosine_similarity(items[:, None], types[None], dim=2)
        torch.testing.assert_close(similarity, cosine / 0.05)


def test_shared_linear_layers_are_four_fewer() -> None:
    own, shared = (scorer(share_projections=flag) for flag in (False, True))
    spared = 4 * (WIDTH * SIZE + SIZE)
    counts = [sum(parameter.numel() for parameter in part.parameters()) for part in (own, shared)]
    assert counts[0] - counts[1] == spared


def test_with_shared_linear_layers_words_alone_are_the_terms_of_words_in_spans() -> None:
    made = batch([])
    part, linear = scorer(share_projections=True), composed().projection.linear
    scores = compared(part, made)
    types = part.type_projections["spans"](part.source.states)
    columns = {"starts": slice(0, WIDTH), "ends": slice(WIDTH, 2 * WIDTH)}
    for kind, words, bias in (("starts", states().start, linear.bias), ("ends", states().end, 0)):
        for items, similarity in (
            (words, getattr(scores, kind).similarity),
            (states().anchor, getattr(scores, kind).threshold),
        ):
            terms = items @ linear.weight[:, columns[kind]].T + bias
            cosine = nn.functional.cosine_similarity(terms[:, None], types[None], dim=2)
            torch.testing.assert_close(similarity, cosine / 0.07)


def test_without_shared_linear_layers_words_alone_have_their_own() -> None:
    made = batch([])
    own, shared = (compared(scorer(share_projections=flag), made) for flag in (False, True))
    assert torch.equal(own.spans.similarity, shared.spans.similarity)
    assert not torch.allclose(own.starts.similarity, shared.starts.similarity)


def test_a_span_is_predicted_where_it_is_more_similar_than_the_threshold() -> None:
    made = batch([])
    scores = random_comparisons(made)
    spans = made.spans
    expected = {
        (int(spans.first[span]), int(spans.last[span]), type_)
        for span in range(len(spans))
        for type_ in range(TYPES)
        if scores.spans.similarity[span, type_] > scores.spans.threshold[spans.window[span], type_]
    }
    assert found(scorer().predict(scores, made)) == expected
    assert 5 < len(expected) < 25


def test_predictions_are_sure_by_their_margin_and_ranked_by_their_similarity() -> None:
    made = batch([])
    scores = random_comparisons(made)
    predictions = scorer().predict(scores, made)
    margins = predictions.rank - scores.spans.threshold[predictions.window, predictions.type]
    torch.testing.assert_close(predictions.confidence, margins.sigmoid())
    assert predictions.confidence.min() > 0.5


@pytest.mark.parametrize("seed", range(4, 8))
def test_joint_inference_drops_exactly_the_spans_with_an_end_below_its_threshold(seed: int) -> None:
    made = batch([])
    scores = random_comparisons(made, seed)

    def fits(first: int, last: int, type_: int) -> bool:
        window = 0 if first < COUNTS[0] else 1
        return all(
            bool(ends.similarity[word, type_] >= ends.threshold[window, type_])
            for ends, word in ((scores.starts, first), (scores.ends, last))
        )

    alone, joint = (found(scorer(joint=flag).predict(scores, made)) for flag in (False, True))
    assert joint == {span for span in alone if fits(*span)}
    assert 0 < len(joint) < len(alone)


def test_without_positions_there_are_no_weights_and_no_terms_for_them() -> None:
    part, made = scorer(positions=False), batch([(1, 2, 0)])
    scores = compared(part, made)
    assert part.terms == set(part.losses(scores, made)) == {"spans"}
    assert scores.starts is scores.ends is None
    assert not any(word in name for name in part.state_dict() for word in ("starts", "ends"))
    assert scorer().terms == {"spans", "starts", "ends"}


def test_learned_thresholds_start_at_zero_and_learn_from_every_term() -> None:
    made = batch([(1, 2, 0)])
    part = scorer(threshold="learned")
    scores = compared(part, made)
    for kind, loss in part.losses(scores, made).items():
        thresholds = part.compare[kind].thresholds
        assert thresholds.tolist() == [0] * TYPES
        assert getattr(scores, kind).threshold.tolist() == [[0] * TYPES] * 2
        assert (torch.autograd.grad(loss, thresholds, retain_graph=True)[0] != 0).all()


@pytest.mark.parametrize(("threshold", "name"), [("learned", "thresholds"), ("tuned", "tuned")])
def test_global_thresholds_decide_what_is_predicted(threshold: str, name: str) -> None:
    made = batch([])
    part = scorer(threshold=threshold)
    with torch.no_grad():
        getattr(part.compare["spans"], name).copy_(torch.tensor([2.0, 1000.0]))
    scores = compared(part, made)
    above = (scores.spans.similarity > 2)[:, 0].sum().item()
    predictions = part.predict(scores, made)
    assert predictions.type.tolist() == [0] * above
    assert 0 < above < len(made.spans)


def test_a_type_that_was_not_trained_has_the_mean_of_the_learned_thresholds() -> None:
    comparison = scorer(threshold="learned").compare["spans"]
    with torch.no_grad():
        comparison.thresholds.copy_(torch.tensor([1.0, 4.0]))
    extended = comparison.with_types(4)
    result = extended(torch.randn(5, SIZE), torch.randn(3, SIZE), torch.randn(4, SIZE), extended.given)
    assert result.threshold.tolist() == [[1.0, 4.0, 2.5, 2.5]] * 3
    assert comparison.thresholds.tolist() == [1.0, 4.0]


def test_tuned_thresholds_are_not_learnt_and_cost_no_loss() -> None:
    made = batch([(1, 2, 0)])
    part = scorer(threshold="tuned")
    assert not any("tuned" in name or "thresholds" in name for name, _ in part.named_parameters())
    before = part.losses(compared(part, made), made)
    part.compare["spans"].tuned.fill_(3.0)
    after = part.losses(compared(part, made), made)
    assert before == after
    none = batch([])
    assert all(loss.item() == 0 for loss in part.losses(compared(part, none), none).values())
    similarity = compared(part, made).spans.similarity
    gold = made.golds.span.item()
    rivals = [row for row in range(len(made.spans)) if made.spans.window[row] == 0]
    expected = similarity[rivals, 0].logsumexp(0) - similarity[gold, 0]
    torch.testing.assert_close(before["spans"], expected)


def test_the_entity_share_divides_a_term_into_entity_and_threshold_loss() -> None:
    made = batch([(1, 2, 0), (6, 6, 1)])
    scores = random_comparisons(made)
    entity, threshold, mixed = (scorer(entity_share=share).losses(scores, made) for share in (1.0, 0.0, 0.3))
    for term in mixed:
        torch.testing.assert_close(mixed[term], 0.3 * entity[term] + 0.7 * threshold[term])
        assert entity[term] > 0 and threshold[term] > 0


def test_golds_of_spans_are_the_only_spans_that_are_no_negatives() -> None:
    made = batch([(1, 2, 0), (1, 2, 1), (4, 4, 0)])
    scores = random_comparisons(made)
    threshold = scorer(entity_share=0.0).losses(scores, made)["spans"]
    golds = set(zip(made.golds.span.tolist(), made.golds.type.tolist(), strict=True))
    assert untouched(threshold, scores.spans.similarity) == golds
    assert untouched(scorer().losses(scores, made)["spans"], scores.spans.similarity) == set()


def test_ends_of_entities_that_are_not_trained_on_are_neither_right_nor_wrong() -> None:
    made = batch(
        [(1, 2, 0), (2, 2, 0)],
        mention(0, 0, 0, starts=False),  # cut on the left: word 0 ends it, and does not begin it
        mention(5, 5, 1, ends=False),  # cut on the right
        mention(3, 4, 0),  # owned by another window
        mention(6, 8, 1),  # too wide to be a candidate
    )
    scores = random_comparisons(made)
    losses = scorer().losses(scores, made)
    assert untouched(losses["starts"], scores.starts.similarity) == {(5, 1), (3, 0), (6, 1)}
    assert untouched(losses["ends"], scores.ends.similarity) == {(0, 0), (4, 0), (8, 1)}


def test_each_entity_counts_where_two_begin_with_one_word() -> None:
    made = batch([(1, 1, 0), (1, 2, 0), (4, 4, 0)])
    scores = random_comparisons(made)
    losses = scorer(entity_share=1.0).losses(scores, made)
    rivals = [0, 2, 3, 5]
    similarity, threshold = scores.starts.similarity[:, 0], scores.starts.threshold[:1, 0]

    def lost(word: int) -> Tensor:
        return torch.cat([similarity[[word, *rivals]], threshold]).logsumexp(0) - similarity[word]

    torch.testing.assert_close(losses["starts"], (2 * lost(1) + lost(4)) / 3)


def test_windows_without_gold_teach_their_thresholds() -> None:
    made = batch([])
    scores = random_comparisons(made)
    losses = scorer().losses(scores, made)
    for term, loss in losses.items():
        gradient = torch.autograd.grad(loss, getattr(scores, term).threshold)[0]
        assert loss > 0
        assert (gradient < 0).all()


def test_dropout_of_words_and_types_acts_in_training_only() -> None:
    made = batch([])
    part, vectors = scorer(dropout=0.5), vectors_of(made)
    one, other = (part(vectors, states(), made) for _ in range(2))
    assert not torch.equal(one.starts.similarity == 0, other.starts.similarity == 0)
    assert not torch.equal(one.spans.similarity, other.spans.similarity)
    part.eval()
    one, other = (part(vectors, states(), made) for _ in range(2))
    assert torch.equal(one.starts.similarity, other.starts.similarity)
