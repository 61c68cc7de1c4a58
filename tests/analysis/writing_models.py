"""Untrained models with auto-encoders, for tests."""

from __future__ import annotations

import torch

import making
import tiny
from spanwright.artifact import TrainedModel
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.writer import Vocabulary
from spanwright.labels import LabelSpace
from spanwright.parts.build import build

DOCUMENTS = making.documents(6)
VOCABULARY = Vocabulary.of(DOCUMENTS)
VAE = {"latent": 6, "hidden": 16, "word_size": 5, "keep": True}


def writing_model(*, synonyms: tuple[str, ...] = ("corpus",), **changes: object) -> TrainedModel:
    """An untrained model with auto-encoders, whose large random weights make it write many words."""
    tokenizer = tiny.tokenizer()
    settings = tiny.settings(auxiliaries={"span_vae": {**VAE, "synonyms": synonyms}}, **changes)
    labels, pieces = LabelSpace(("Cell", "Gene")), PieceEncoder(tokenizer)
    backbone = tiny.backbone(tokenizer.get_vocab_size())
    network = build(settings, backbone, labels=labels, pieces=pieces, vocabulary=len(VOCABULARY))
    assert network.writer is not None
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.writer.parameters():
            parameter.normal_(generator=generator)
    return TrainedModel(network.eval(), pieces, labels, settings, vocabulary=VOCABULARY)
