"""The parts of a network that can run as ONNX graphs: the encoder, and the blocks of a span Transformer.

These two cost nearly all of the time. Everything else, such as candidates, representations and scorers, stays
as it is, so every recipe can be exported. Each part is here twice: as it is exported, with plain tensors in
and out, and as what stands in its place at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from spanwright import artifact
from spanwright.errors import SpanwrightError
from spanwright.parts.batch import Batch
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.model import SpanModel
from spanwright.parts.spans.representations.attention import Inside
from spanwright.parts.spans.representations.blocks import SpanBlocks
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.predicting.onnx.files import Graph, Runtime, file_name, weights_digest

ENCODER = "encoder"
BLOCKS = "span-blocks"


@dataclass(frozen=True, slots=True)
class Exportable:
    """A part of a network with what an exporter has to know about it."""

    name: str
    module: nn.Module
    examples: dict[str, Tensor]
    """Inputs by name; those of the encoder are a text's, all others any."""
    sizes_that_vary: dict[str, tuple[int, ...]]
    """Axes of each input whose size differs from batch to batch."""
    outputs: tuple[str, ...]


def exportable(network: SpanModel, batch: Batch) -> list[Exportable]:
    """The parts of a network that become graphs; the batch is an example of what they read."""
    transformer = span_transformer(network)
    parts = [_exportable_encoder(network.encoder, batch)]
    return parts if transformer is None else [*parts, _exportable_blocks(transformer, network.encoder)]


def graph_names(network: SpanModel) -> list[str]:
    """The names of the parts of a network that become graphs."""
    return [ENCODER] if span_transformer(network) is None else [ENCODER, BLOCKS]


def use_graphs(network: SpanModel, folder: Path, runtime: Runtime) -> None:
    """Let the graphs in a model directory do the work of the parts that they were made from."""
    weights, files = weights_digest(network), artifact.digests_of(folder)
    transformer = span_transformer(network)
    if transformer is not None:
        graph = Graph(file_name(BLOCKS, runtime), files, weights=weights)
        transformer.register_module("blocks", GraphBlocks(graph, transformer.blocks))
    graph = Graph(file_name(ENCODER, runtime), files, weights=weights)
    network.encoder.register_module("backbone", GraphBackbone(graph, network.encoder))


def span_transformer(network: SpanModel) -> SpanTransformer | None:
    """The span Transformer of a network, if it has one with blocks."""
    made = network.spans.representation if network.spans is not None else None
    if isinstance(made, Transformed):
        made = made.representation
    return made if isinstance(made, SpanTransformer) and network.encoder.depth else None


class _PlainEncoder(nn.Module):
    """Pieces, (windows, pieces) ids or (windows, pieces, size) vectors, and their mask to states."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.backbone, self.depth = encoder.backbone, encoder.depth
        self.reads = "input_ids" if encoder.corpora is None else "inputs_embeds"

    def forward(self, pieces: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """(windows, pieces, width) each: the states at the top, and what the top blocks read."""
        more = {"output_hidden_states": True} if self.depth else {}
        output = self.backbone(**{self.reads: pieces}, attention_mask=mask, **more)
        inner = output.hidden_states[-1 - self.depth : -1] if self.depth else ()
        return output.last_hidden_state, *inner


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
        last, *inner = self.graph(pieces, attention_mask)
        return SimpleNamespace(last_hidden_state=last, hidden_states=(*inner, last))


class _PlainBlocks(nn.Module):
    """Blocks of a span Transformer, whose keys and values of all layers are one tensor each."""

    def __init__(self, blocks: SpanBlocks) -> None:
        super().__init__()
        self.blocks = blocks
        # Blocks that are the encoder's are not parts of `blocks`, but an exporter looks for weights in parts.
        self.shared = nn.ModuleList(blocks._shared)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, words: Tensor, outside: Tensor) -> Tensor:
        """(spans, width): spans (spans, width) behind all blocks; keys are (layers, words, heads, size)."""
        projected = list(zip(keys.unbind(), values.unbind(), strict=True))
        found: Tensor = self.blocks(query, projected, Inside(words, outside))
        return found


class GraphBlocks(nn.Module):
    """Stands for the blocks of a span Transformer. Keys and values, one of each per word, come from torch."""

    def __init__(self, graph: Graph, blocks: SpanBlocks) -> None:
        super().__init__()
        self.blocks = blocks
        self.graph = graph

    def project(self, layers: tuple[Tensor, ...]) -> list[tuple[Tensor, Tensor]]:
        """Keys and values, (words, heads, head size), from what each block reads, (words, width)."""
        return self.blocks.project(layers)

    def forward(self, query: Tensor, projected: list[tuple[Tensor, Tensor]], inside: Inside) -> Tensor:
        """(spans, width): initial span states (spans, width) taken through all blocks."""
        if not len(query):
            return query
        keys, values = (torch.stack(tensors) for tensors in zip(*projected, strict=True))
        return self.graph(query, keys, values, inside.words, inside.outside)[0]


def _exportable_encoder(encoder: Encoder, batch: Batch) -> Exportable:
    (pieces,) = encoder.pieces(batch).values()
    return Exportable(
        name=ENCODER,
        module=_PlainEncoder(encoder),
        examples={"pieces": pieces.detach(), "mask": batch.piece_mask.long()},
        sizes_that_vary={"pieces": (0, 1), "mask": (0, 1)},
        outputs=("states", *(f"read_by_{number}" for number in range(encoder.depth))),
    )


def _exportable_blocks(transformer: SpanTransformer, encoder: Encoder) -> Exportable:
    spans, words, widest, heads = 5, 11, 3, transformer.blocks.heads
    layers = torch.zeros(encoder.depth, words, heads, encoder.width // heads)
    positions = torch.zeros(spans, widest, dtype=torch.long)
    return Exportable(
        name=BLOCKS,
        module=_PlainBlocks(transformer.blocks),
        examples={
            "query": torch.zeros(spans, encoder.width),
            "keys": layers,
            "values": layers.clone(),
            "words": positions,
            "outside": positions.bool(),
        },
        sizes_that_vary={"query": (0,), "keys": (1,), "values": (1,), "words": (0, 1), "outside": (0, 1)},
        outputs=("vectors",),
    )


def _refuse_to_save(*_: object) -> None:
    raise SpanwrightError(
        "a model whose encoder is an ONNX graph has not all of its weights and cannot be saved; load it with "
        "runtime 'torch' to save it"
    )
