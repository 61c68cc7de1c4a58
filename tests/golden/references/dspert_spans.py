"""A BERT and the span Transformer, span by span: the reference of `dspert_spans.npz`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from golden.references.drawing import FILLER, Arrays, Case, Draw, padded, rounded, whole

CLS, SEP, PAD, FIRST_WORD = 2, 3, 0, 4


@dataclass(frozen=True)
class Shape:
    """Sizes of the file."""

    lengths: tuple[int, ...]
    layers: int
    depths: tuple[int, ...]
    shared_depths: tuple[int, ...]
    sizes: tuple[int, ...]
    """Widths of the spans that are stored."""
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    token_types: int


def make(draw: Draw, shape: Shape) -> Case:
    """All arrays of the file."""
    words = [[draw.integer(FIRST_WORD, shape.vocabulary - 1) for _ in range(n)] for n in shape.lengths]
    ids = padded([[CLS, *row, SEP] for row in words], PAD)
    inputs = {
        "input_ids": ids,
        "attention_mask": (ids != PAD).long(),
        "sentence_length": whole(shape.lengths),
        "num_heads": whole(shape.heads),
        "layer_norm_eps": rounded(1e-12),
        **drawn_weights(draw, shape),
    }
    states = [encoded(inputs, row[row != PAD], shape.layers) for row in ids]
    outputs = {
        f"hidden_state_{layer}": stacked([each[layer] for each in states], ids.shape[1])
        for layer in range(shape.layers + 1)
    }
    kinds = [("", "span", shape.depths), ("shared_", "encoder", shape.shared_depths)]
    for name, blocks, depths in kinds:
        for depth in depths:
            for size in shape.sizes:
                spans = [spans_of(inputs, each, blocks, depth, size) for each in states]
                starts = max(0, max(shape.lengths) - size + 1)
                outputs[f"span_state_{name}depth{depth}_size{size}"] = stacked(spans, starts)
    return inputs, outputs


def drawn_weights(draw: Draw, shape: Shape) -> Arrays:
    hidden = shape.hidden
    tables = {"word": shape.vocabulary, "position": shape.positions, "token_type": shape.token_types}
    found = {
        f"encoder.embeddings.{name}_embeddings.weight": draw.normal(count, hidden)
        for name, count in tables.items()
    }
    found |= drawn_norm(draw, "encoder.embeddings.LayerNorm", hidden)
    maps = {f"attention.self.{name}": (hidden, hidden) for name in ("query", "key", "value")}
    maps["attention.output.dense"] = (hidden, hidden)
    maps["intermediate.dense"] = (shape.intermediate, hidden)
    maps["output.dense"] = (hidden, shape.intermediate)
    for layer in range(shape.layers):
        for prefix in (f"encoder.layer.{layer}.", f"span.layer.{layer}."):
            for name, sizes in maps.items():
                drawn = draw.linear("map", *sizes)
                found |= {f"{prefix}{name}.{kind}": drawn[f"map_{kind}"] for kind in ("weight", "bias")}
            for name in ("attention.output.LayerNorm", "output.LayerNorm"):
                found |= drawn_norm(draw, prefix + name, hidden)
    return found


def drawn_norm(draw: Draw, name: str, size: int) -> Arrays:
    return {f"{name}.weight": draw.normal(size), f"{name}.bias": draw.normal(size, scale=0.3)}


def stacked(parts: list[Tensor], length: int) -> Tensor:
    """(sentences, length, hidden): rows of each sentence, then what must be ignored."""
    found = torch.full((len(parts), length, parts[0].shape[1]), FILLER, dtype=torch.float64)
    for row, part in zip(found, parts, strict=True):
        row[: len(part)] = part
    return found


def encoded(inputs: Arrays, ids: Tensor, layers: int) -> list[Tensor]:
    """(tokens, hidden) of each layer, the embeddings first."""
    tables = [inputs[f"encoder.embeddings.{name}_embeddings.weight"] for name in ("word", "position")]
    kind = inputs["encoder.embeddings.token_type_embeddings.weight"][0]
    summed = torch.stack([tables[0][word] + tables[1][place] + kind for place, word in enumerate(ids)])
    states = [normed(inputs, "encoder.embeddings.LayerNorm", summed)]
    for layer in range(layers):
        prefix, below = f"encoder.layer.{layer}.", states[-1]
        states.append(torch.stack([block(inputs, prefix, query, below) for query in below]))
    return states


def spans_of(inputs: Arrays, states: list[Tensor], blocks: str, depth: int, size: int) -> Tensor:
    """(starts, hidden): the vectors of all spans of a size."""
    layers, length = len(states) - 1, len(states[0]) - 2
    found = [states[0][:0]]
    for start in range(1, length - size + 2):
        inside = [each[start : start + size] for each in states]
        vector = inside[layers - depth].amax(0)
        for layer in range(layers - depth, layers):
            vector = block(inputs, f"{blocks}.layer.{layer}.", vector, inside[layer])
        found.append(vector[None])
    return torch.cat(found)


def block(inputs: Arrays, prefix: str, query: Tensor, inside: Tensor) -> Tensor:
    """(hidden,): one block of BERT, for one query and what it may look at (tokens, hidden)."""
    asked = mapped(inputs, prefix + "attention.self.query", query)
    keys, values = (mapped(inputs, f"{prefix}attention.self.{name}", inside) for name in ("key", "value"))
    heads, parts = int(inputs["num_heads"]), []
    size = len(query) // heads
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        shares = (keys[:, own] @ asked[own] / size**0.5).softmax(0)
        parts.append(shares @ values[:, own])
    attended = mapped(inputs, prefix + "attention.output.dense", torch.cat(parts))
    attended = normed(inputs, prefix + "attention.output.LayerNorm", attended + query)
    inner = mapped(inputs, prefix + "intermediate.dense", attended)
    inner = inner * (1 + torch.erf(inner / 2**0.5)) / 2
    return normed(
        inputs, prefix + "output.LayerNorm", mapped(inputs, prefix + "output.dense", inner) + attended
    )


def mapped(inputs: Arrays, name: str, values: Tensor) -> Tensor:
    return values @ inputs[f"{name}.weight"].T + inputs[f"{name}.bias"]


def normed(inputs: Arrays, name: str, values: Tensor) -> Tensor:
    centred = values - values.mean(-1, keepdim=True)
    scale = ((centred**2).mean(-1, keepdim=True) + inputs["layer_norm_eps"]).sqrt()
    return centred / scale * inputs[f"{name}.weight"] + inputs[f"{name}.bias"]
