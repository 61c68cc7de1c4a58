"""The encoder gives every packed word the states of its own pieces, pooled as asked."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import tiny
from batching import batch_of
from spanwright.batches.pieces import PieceEncoder
from spanwright.labels import LabelSpace
from spanwright.parts.batch import Batch
from spanwright.parts.build import build
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.model import SpanModel
from spanwright.settings import Settings
from spanwright.settings.encoder import PiecePooling

WORDS = [[(1, 2), (3, 3)], [(1, 1), (2, 4), (5, 5)]]
"""First and last piece of the words of each of two windows."""


class Lookup(nn.Module):
    """A backbone whose states are embeddings: a piece's state does not depend on its neighbours."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.config = SimpleNamespace(hidden_size=5)
        self.table = nn.Embedding(20, 5)

    def forward(self, *, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.table(input_ids) * attention_mask[:, :, None])


def batch() -> Batch:
    """A batch made by hand, without a tokenizer: two windows of 5 and 7 pieces."""
    ids = torch.tensor([[1, 5, 6, 7, 2, 0, 0], [1, 8, 9, 10, 11, 12, 2]])
    total = ids.shape[1]
    first, last = (
        torch.tensor([row * total + word[side] for row, words in enumerate(WORDS) for word in words])
        for side in (0, 1)
    )
    made = batch_of([2, 3], [(0, 0, 0), (0, 0, 1), (1, 2, 4), (1, 3, 3)], [(1, 0)], word_offset=[0, -2])
    return replace(made, piece_ids=ids, piece_mask=ids > 0, first_piece=first, last_piece=last)


def pieces_of_words(encoder: Encoder) -> list[torch.Tensor]:
    """For each packed word, the states of its pieces (pieces, width)."""
    given_batch = batch()
    return [
        encoder.backbone.table(given_batch.piece_ids[row, first : last + 1])
        for row, words in enumerate(WORDS)
        for first, last in words
    ]


def test_means_of_pieces_are_handed_on_where_asked_for() -> None:
    encoder = Encoder(Lookup(), "ends", piece_means=True)
    states = encoder(batch())
    assert states.piece_mean is not None and states.piece_count is not None
    expected = pieces_of_words(encoder)
    torch.testing.assert_close(states.piece_mean, torch.stack([pieces.mean(0) for pieces in expected]))
    assert states.piece_count.flatten().tolist() == [len(pieces) for pieces in expected]
    assert Encoder(Lookup(), "ends")(batch()).piece_mean is None


@pytest.mark.parametrize(
    ("pooling", "start", "end"),
    [
        ("ends", lambda pieces: pieces[0], lambda pieces: pieces[-1]),
        ("first", lambda pieces: pieces[0], lambda pieces: pieces[0]),
        ("mean", lambda pieces: pieces.mean(dim=0), lambda pieces: pieces.mean(dim=0)),
        ("max", lambda pieces: pieces.max(dim=0).values, lambda pieces: pieces.max(dim=0).values),
    ],
)
def test_word_states_equal_a_naive_loop_over_words(pooling: PiecePooling, start: object, end: object) -> None:
    encoder = Encoder(Lookup(), pooling)
    states = encoder(batch())
    torch.testing.assert_close(
        states.start, torch.stack([start(pieces) for pieces in pieces_of_words(encoder)])
    )
    torch.testing.assert_close(states.end, torch.stack([end(pieces) for pieces in pieces_of_words(encoder)]))


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_gradients_of_pooled_words_equal_those_of_a_naive_loop(pooling: PiecePooling) -> None:
    encoder, naive = Encoder(Lookup(), pooling), Encoder(Lookup(), pooling)
    encoder(batch()).start.square().sum().backward()
    pool = (lambda pieces: pieces.mean(dim=0)) if pooling == "mean" else (lambda pieces: pieces.amax(dim=0))
    torch.stack([pool(pieces) for pieces in pieces_of_words(naive)]).square().sum().backward()
    torch.testing.assert_close(encoder.backbone.table.weight.grad, naive.backbone.table.weight.grad)


def test_the_anchor_is_the_state_of_the_first_special_piece() -> None:
    encoder = Encoder(Lookup(), "ends")
    torch.testing.assert_close(encoder(batch()).anchor, encoder.backbone.table(torch.tensor([1, 1])))


def test_padding_changes_no_state_of_a_real_backbone() -> None:
    torch.manual_seed(0)
    encoder = Encoder(tiny.backbone(20).eval(), "ends")
    given_batch = batch()
    alone = replace(
        batch_of([2]),
        piece_ids=given_batch.piece_ids[:1, :5],
        piece_mask=given_batch.piece_mask[:1, :5],
        first_piece=given_batch.first_piece[:2],
        last_piece=given_batch.last_piece[:2],
    )
    torch.testing.assert_close(encoder(alone).start, encoder(given_batch).start[:2], atol=1e-5, rtol=0)


def whole_model(settings: Settings) -> SpanModel:
    pieces = PieceEncoder(tiny.tokenizer())
    return build(settings, tiny.backbone(20), labels=LabelSpace(("Cell", "Gene")), pieces=pieces)


@pytest.mark.parametrize("pooling", ["ends", "first", "mean", "max"])
def test_a_whole_model_needs_tensors_only(pooling: PiecePooling) -> None:
    settings = tiny.settings(encoder={"name": "minilm", "pooling": pooling})
    network = whole_model(settings)
    assert network.predict(batch()).first.ndim == 1
    assert network.losses(batch(), ["spans"])["spans"].ndim == 0


def test_every_parameter_of_a_model_has_one_role_and_learns() -> None:
    network = whole_model(tiny.settings(auxiliaries={"tagger": {"kind": "crf"}}))
    losses = network.losses(batch(), network.terms)
    (losses["spans"] + losses["tags"]).backward()
    roles = network.roles()
    named = [name for parameters in roles.values() for name, _ in parameters]
    assert sorted(named) == sorted(name for name, _ in network.named_parameters())
    assert all(name.startswith("encoder.") for name, _ in roles["encoder"])
    assert all(name.startswith("tagger.") for name, _ in roles["auxiliary"])
    assert all(parameter.grad is not None for parameters in roles.values() for _, parameter in parameters)
