"""The bi-encoder reproduces the golden numbers of BINDER: scores, losses, gradients and predictions.

Each token of the golden windows, special ones and padding included, is a packed word here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from golden.golden_arrays import Arrays, assert_near, load_arrays, load_linear
from spanwright.decoding.spans import decode
from spanwright.parts.batch import Batch, Golds, Mentions, Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.predictions import Predictions
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, Comparisons
from spanwright.settings.learning import ObjectiveSettings
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import BiEncoderSettings
from spanwright.settings.settings import Decoding
from spanwright.training.objective import total, weights_at

KINDS = {"starts": "start", "ends": "end", "spans": "span"}
"""Our names of the comparisons, and those of the arrays."""
OBJECTIVE = ObjectiveSettings(weights={"starts": 0.2, "ends": 0.2, "spans": 0.6})
Row = tuple[int, ...]


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "binder_head.npz")


class FixedTypes(nn.Module):
    """Type states that come from no encoder."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = nn.Parameter(states.clone())

    def forward(self) -> Tensor:
        """(types, width)."""
        return self.states


@dataclass(frozen=True)
class Head:
    """The golden weights in our modules, the golden windows in a batch, and what comes out."""

    tokens: Tensor
    """(windows, tokens, width): a leaf, for gradients."""
    representation: Composed
    scorer: BiEncoder
    batch: Batch
    scores: Comparisons


def composed(arrays: Arrays) -> Composed:
    table = arrays["width_table"]  # its first row serves no span
    settings = ComposedSettings(
        size=len(arrays["span_bias"]), width_size=table.shape[1], activation="none", dropout=0.0
    )
    made = Composed(settings, state_width=arrays["h_text"].shape[2], width_limit=len(table) - 1)
    load_linear(made.projection.linear, arrays, "span")
    made.widths.load_state_dict({"weight": table[1:]})
    return made


def bi_encoder(arrays: Arrays, **changes: object) -> BiEncoder:
    types, width = arrays["h_type"].shape
    made = BiEncoder(
        BiEncoderSettings(kind="bi-encoder", dropout=0.0, **changes),
        source=FixedTypes(arrays["h_type"]),
        sizes=(types,),
        state_width=width,
        vector_size=len(arrays["span_bias"]),
    )
    for kind, name in KINDS.items():
        load_linear(made.type_projections[kind], arrays, f"type_{name}")
        made.compare[kind].load_state_dict({"log_scale": arrays[f"{name}_log_scale"]})
        if kind != "spans":
            load_linear(made.word_projections[kind], arrays, name)
    return made


def batch_of(arrays: Arrays) -> Batch:
    windows, tokens = arrays["start_valid"].shape
    words = torch.arange(windows * tokens)
    valid = arrays["start_valid"][:, :, None] & arrays["end_valid"][:, None, :]
    window, first, last = valid.triu().nonzero().unbind(1)
    spans = Spans(window, window * tokens + first, window * tokens + last)
    gold_window, gold_type, gold_first, gold_last = arrays["gold"].unbind(1)
    shift = gold_window * tokens
    same = (spans.first == (shift + gold_first)[:, None]) & (spans.last == (shift + gold_last)[:, None])
    return Batch(
        piece_ids=words.reshape(windows, tokens),
        piece_mask=torch.ones(windows, tokens, dtype=torch.bool),
        word_counts=torch.full((windows,), tokens),
        first_piece=words,
        last_piece=words,
        spans=spans,
        golds=Golds(same.nonzero()[:, 1], gold_type),
        mentions=mentions(
            arrays, torch.stack([gold_window, gold_type, shift + gold_first, shift + gold_last])
        ),
        word_offset=-torch.arange(windows) * tokens,
        document=torch.arange(windows),
        owned_sums=torch.tensor([(0, 2 * tokens)] * windows),
        corpus=torch.zeros(windows, dtype=torch.long),
    )


def mentions(arrays: Arrays, golds: Tensor) -> Mentions:
    """The golds, and a mention of each type at each token that begins (ends) no word.

    Mentions that are no golds are no candidates either: so tokens inside words stay out of the losses.
    """
    tokens = arrays["start_valid"].shape[1]
    parts = [(golds, True, True)]
    for valid, starts, ends in ((arrays["start_valid"], True, False), (arrays["end_valid"], False, True)):
        inside = (~valid).flatten().nonzero().squeeze(1)
        for type_ in range(len(arrays["h_type"])):
            row = torch.stack([inside // tokens, torch.full_like(inside, type_), inside, inside])
            parts.append((row, starts, ends))
    window, type_, first, last = torch.cat([rows for rows, _, _ in parts], dim=1)
    starts, ends = (
        torch.cat([torch.full((part[0].shape[1],), part[which]) for part in parts]) for which in (1, 2)
    )
    return Mentions(window, first, last, type_, starts, ends, torch.ones_like(starts))


def head_of(arrays: Arrays, **changes: object) -> Head:
    tokens = arrays["h_text"].clone().requires_grad_()
    words = tokens.flatten(0, 1)
    states = WordStates(start=words, end=words, anchor=tokens[:, 0])
    representation, scorer, batch = composed(arrays), bi_encoder(arrays, **changes), batch_of(arrays)
    scores = scorer(representation(states, batch.spans), states, batch)
    return Head(tokens, representation, scorer, batch, scores)


def loss(head: Head) -> Tensor:
    losses = head.scorer.losses(head.scores, head.batch)
    return total(losses, weights_at(OBJECTIVE, head.scorer.terms, progress=0.0))


@pytest.mark.parametrize("kind", ["starts", "ends"])
def test_scores_of_first_and_last_words_and_their_thresholds(arrays: Arrays, kind: str) -> None:
    compared, name = getattr(head_of(arrays).scores, kind), KINDS[kind]
    windows, types, tokens = arrays[f"{name}_scores"].shape
    similarity = compared.similarity.reshape(windows, tokens, types).transpose(1, 2)
    assert_near(similarity, arrays[f"{name}_scores"])
    assert_near(compared.threshold, arrays[f"{name}_threshold"])


def test_scores_of_spans_and_their_thresholds(arrays: Arrays) -> None:
    head = head_of(arrays)
    spans, tokens = head.batch.spans, arrays["h_text"].shape[1]
    grid = arrays["span_scores"].movedim(1, 3)
    expected = grid[spans.window, spans.first % tokens, spans.last % tokens]
    assert_near(head.scores.spans.similarity, expected)
    assert_near(head.scores.spans.threshold, arrays["span_threshold"])
    assert_near(head.scores.spans.threshold, arrays["span_scores"][:, :, 0, 0])


@pytest.mark.parametrize(("part", "share"), [("entity", 1.0), ("threshold", 0.0)])
def test_entity_and_threshold_losses_of_each_comparison_and_weighted(
    arrays: Arrays, part: str, share: float
) -> None:
    head = head_of(arrays, entity_share=share)
    losses = head.scorer.losses(head.scores, head.batch)
    for kind, name in KINDS.items():
        assert_near(losses[kind], arrays[f"loss_{name}_{part}"])
    assert_near(loss(head), arrays[f"loss_{part}"])


def test_the_objective_with_equal_shares(arrays: Arrays) -> None:
    assert_near(loss(head_of(arrays)), arrays["loss_total"])


def test_gradients_of_the_objective(arrays: Arrays) -> None:
    head = head_of(arrays)
    leaves = {
        "h_text": head.tokens,
        "h_type": head.scorer.source.states,
        "width_table": head.representation.widths.weight,
        **{f"{name}_log_scale": head.scorer.compare[kind].log_scale for kind, name in KINDS.items()},
    }
    assert {f"grad_{name}" for name in leaves} == {name for name in arrays if name.startswith("grad_")}
    gradients = dict(zip(leaves, torch.autograd.grad(loss(head), list(leaves.values())), strict=True))
    assert (arrays["grad_width_table"][0] == 0).all()
    gradients["width_table"] = nn.functional.pad(gradients["width_table"], (0, 0, 1, 0))
    for name, gradient in gradients.items():
        assert_near(gradient, arrays[f"grad_{name}"])


def predictions_of(arrays: Arrays, *, joint: bool) -> Predictions:
    head = head_of(arrays, joint=joint)
    return head.scorer.predict(head.scores, head.batch)


def rows(arrays: Arrays, *, joint: bool) -> Iterator[tuple[Row, float]]:
    """(window, type, first token, last token) of each prediction, and its rank."""
    found, tokens = predictions_of(arrays, joint=joint), arrays["h_text"].shape[1]
    columns = (found.window, found.type, found.first % tokens, found.last % tokens)
    return zip(zip(*(column.tolist() for column in columns), strict=True), found.rank.tolist(), strict=True)


def in_words(arrays: Arrays, row: Row) -> Row:
    """(window, type, first word, word after the last)."""
    window, type_, first, last = row
    words = arrays["word_of_token"][window].tolist()
    return window, type_, words[first], words[last] + 1


def decoded(ranked: dict[Row, float], rule: Decoding) -> set[Row]:
    """Rows that end with half-open positions of one text, decoded; the number before them is the type."""
    if not ranked:
        return set()
    given_ = list(ranked)
    type_, first, end = np.asarray(given_).T[-3:]
    kept = decode(first, end - 1, type_, np.asarray(list(ranked.values())), rule)
    return {given_[position] for position in kept}


def decoded_by_window(arrays: Arrays, rule: Decoding, *, joint: bool) -> set[Row]:
    ranked = {in_words(arrays, row): rank for row, rank in rows(arrays, joint=joint)}
    windows = {row[0] for row in ranked}
    return {
        row
        for window in windows
        for row in decoded({row: rank for row, rank in ranked.items() if row[0] == window}, rule)
    }


def expected_rows(arrays: Arrays, name: str) -> set[Row]:
    return set(map(tuple, arrays[name].tolist()))


def test_predicted_spans_in_tokens(arrays: Arrays) -> None:
    found = [row for row, _ in rows(arrays, joint=False)]
    assert len(found) == len(set(found))
    assert set(found) == expected_rows(arrays, "pred_nested")


@pytest.mark.parametrize("rule", ["nested", "flat"])
@pytest.mark.parametrize("joint", [False, True], ids=["spans", "joint"])
def test_predicted_entities_of_each_window(arrays: Arrays, rule: Decoding, joint: bool) -> None:
    name = f"pred_{rule}{'_joint' if joint else ''}_words"
    assert decoded_by_window(arrays, rule, joint=joint) == expected_rows(arrays, name)


def test_flat_entities_of_each_window_in_tokens(arrays: Arrays) -> None:
    tokens = {in_words(arrays, row): row for row, _ in rows(arrays, joint=False)}
    kept = decoded_by_window(arrays, "flat", joint=False)
    assert {tokens[row] for row in kept} == expected_rows(arrays, "pred_flat")


@pytest.mark.parametrize("rule", ["nested", "flat"])
def test_predicted_entities_of_a_document_of_several_windows(arrays: Arrays, rule: Decoding) -> None:
    offsets = arrays["window_word_offset"].tolist()
    ranked: dict[Row, float] = {}
    for row, rank in rows(arrays, joint=False):
        window, type_, first, end = in_words(arrays, row)
        key = (type_, first + offsets[window], end + offsets[window])
        ranked[key] = max(rank, ranked.get(key, rank))
    assert decoded(ranked, rule) == expected_rows(arrays, f"pred_document_{rule}_words")
