"""A network of torch whose encoder is a graph, as exports of older versions have one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from spanwright.errors import ModelError, SpanwrightError
from spanwright.model_files.stored import digests_of
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.model import SpanModel
from spanwright.predicting.onnx.files import ENCODER, Graph, Runtime, file_name, stored_weights_digest


def use_encoder_graph(network: SpanModel, folder: Path, runtime: Runtime) -> None:
    """Let the graph in a model directory do the work of the encoder that it was made from."""
    files = digests_of(folder)
    weights = (weights_digest(network), stored_weights_digest(files))
    name = file_name(ENCODER, runtime)
    graph = Graph(name, files, weights=weights, threads=torch.get_num_threads())
    if graph.inputs != ("pieces", "mask"):
        raise ModelError(
            f"{folder}: has a graph of the encoder, but none of the head. Make both with: "
            f"spanwright export {folder} --out NEW_FOLDER"
        )
    network.encoder.register_module("backbone", GraphBackbone(graph, network.encoder))


def weights_digest(network: nn.Module) -> str:
    """What tells the weights of a network from others, in older exports."""
    found = hashlib.sha256()
    for name, weight in network.state_dict().items():
        found.update(name.encode())
        found.update(weight.numpy().tobytes())
    return found.hexdigest()


class GraphBackbone(nn.Module):
    """Stands for a backbone."""

    def __init__(self, graph: Graph, encoder: Encoder) -> None:
        super().__init__()
        backbone: Any = encoder.backbone
        self.config = backbone.config
        # Vectors of corpora are put among those of pieces, so these are looked up outside of the graph.
        self.embeddings = None if encoder.corpora is None else backbone.get_input_embeddings()
        self.graph = graph
        self.register_state_dict_pre_hook(_refuse_to_save)  # type: ignore[no-untyped-call]

    def get_input_embeddings(self) -> nn.Module | None:
        """The vectors of pieces, where the graph reads vectors."""
        return self.embeddings

    def forward(
        self,
        *,
        attention_mask: Tensor,
        input_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> SimpleNamespace:
        """What a backbone gives, as far as an encoder reads it."""
        pieces = inputs_embeds if input_ids is None else input_ids
        assert pieces is not None  # an encoder gives one of them
        found = self.graph({"pieces": pieces.numpy(), "mask": attention_mask.numpy()})
        last, *inner = map(torch.from_numpy, found.values())
        return SimpleNamespace(last_hidden_state=last, hidden_states=(*inner, last))


def _refuse_to_save(*_: object) -> None:
    raise SpanwrightError(
        "a model whose encoder is an ONNX graph has not all of its weights and cannot be saved; load it with "
        "runtime 'torch' to save it"
    )
