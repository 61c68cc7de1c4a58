"""Transformer blocks of a backbone, run with spans as queries and words as keys and values.

The names that encoders give to the parts of a block stay in this file.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from spanwright.errors import SettingsError
from spanwright.parts.part import Part, Role
from spanwright.parts.spans.representations.attention import Inside, span_attention

_LIKE_BERT = frozenset(("bert", "roberta", "xlm-roberta", "camembert", "electra"))
_LIKE_MPNET = frozenset(("mpnet",))
KINDS = tuple(sorted(_LIKE_BERT | _LIKE_MPNET))
"""Kinds of encoders whose blocks can run with spans as queries."""

_TWO_POSITIONS = (
    "its attention compares positions of queries with those of keys, and a span has no single one"
)
_NORM_FIRST = "its blocks normalise what they read, so its states between blocks cannot be keys as they are"
_REASONS = {
    "deberta": _TWO_POSITIONS,
    "deberta-v2": _TWO_POSITIONS,
    "modernbert": f"{_NORM_FIRST}, and it rotates queries by their position, of which a span has none",
    **dict.fromkeys(("t5", "mt5", "umt5"), f"{_NORM_FIRST}, and {_TWO_POSITIONS}"),
}


@dataclass(frozen=True, slots=True)
class _Modules:
    """The modules of a block under one name each."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    joined: nn.Module
    """The Linear after the heads."""
    dropout: nn.Module
    norm: nn.Module
    wide: nn.Module
    """The first half of the feed-forward network, with its activation."""
    narrow: nn.Module
    """The second half, with dropout, residual and norm."""


def checked_depth(depth: int | Literal["all"], backbone: nn.Module) -> int:
    """How many of a backbone's blocks are meant; refused where it has fewer, or blocks of another make."""
    config: Any = backbone.config
    if depth != 0 and config.model_type not in KINDS:
        reason = _REASONS.get(config.model_type, "its blocks are not known here")
        raise SettingsError(
            f"a span Transformer cannot be made from an encoder of kind {config.model_type!r}: {reason}; "
            f"expected {', '.join(KINDS)}, or representation.depth=0"
        )
    if depth != 0 and getattr(config, "quantization_config", None) is not None:
        raise SettingsError(
            "a span Transformer cannot be made from an encoder with quantised weights: copies of its blocks "
            "could not learn; expected encoder.quantised=false, or representation.depth=0"
        )
    blocks = int(config.num_hidden_layers)
    if depth != "all" and depth > blocks:
        raise SettingsError(
            f"representation.depth is {depth}, but the encoder has {blocks} blocks; "
            f"expected 0 to {blocks}, or 'all'"
        )
    return blocks if depth == "all" else depth


class SpanBlocks(Part):
    """The top blocks of an encoder as a span Transformer (equation 3 of DSpERT).

    A span has no position of its own. So MPNet's relative positions, the only ones that enter its attention,
    are left out; the other encoders add positions to the embeddings alone.
    """

    role: ClassVar[Role | None] = "encoder"

    def __init__(self, backbone: nn.Module, *, depth: int, shared: bool) -> None:
        super().__init__()
        config: Any = backbone.config
        self.kind, self.heads = config.model_type, config.num_attention_heads
        self.attention_dropout = getattr(config, "attention_probs_dropout_prob", 0.0)
        encoder: Any = backbone.encoder if depth else None
        layers = list(encoder.layer)[-depth:] if depth else []
        self.layers = None if shared else nn.ModuleList(copy.deepcopy(layers))
        # In a tuple, shared blocks are not registered a second time: their weights are saved once.
        self._shared = tuple(layers) if shared else ()

    def project(self, layers: tuple[Tensor, ...]) -> list[tuple[Tensor, Tensor]]:
        """Keys and values, (words, heads, head size), from what each block reads, (words, width)."""
        blocks = self._blocks()
        return [
            (self._split(block.key(words)), self._split(block.value(words)))
            for block, words in zip(blocks, layers, strict=True)
        ]

    def forward(self, query: Tensor, projected: list[tuple[Tensor, Tensor]], inside: Inside) -> Tensor:
        """(spans, width): initial span states (spans, width) taken through all blocks."""
        probability = self.attention_dropout if self.training else 0.0
        for block, (key, value) in zip(self._blocks(), projected, strict=True):
            heads = self._split(block.query(query))
            mixed = span_attention(heads, key, value, inside, probability=probability).flatten(1)
            attended = block.norm(block.dropout(block.joined(mixed)) + query)
            query = block.narrow(block.wide(attended), attended)
        return query

    def _split(self, states: Tensor) -> Tensor:
        """(rows, heads, head size)."""
        return states.view(states.shape[0], self.heads, states.shape[1] // self.heads)

    def _blocks(self) -> list[_Modules]:
        names = _like_mpnet if self.kind in _LIKE_MPNET else _like_bert
        return [names(layer) for layer in (self._shared if self.layers is None else self.layers)]


def _like_bert(layer: Any) -> _Modules:
    own, output = layer.attention.self, layer.attention.output
    rest = output.dense, output.dropout, output.LayerNorm, layer.intermediate, layer.output
    return _Modules(own.query, own.key, own.value, *rest)


def _like_mpnet(layer: Any) -> _Modules:
    own, around = layer.attention.attn, layer.attention
    return _Modules(
        own.q, own.k, own.v, own.o, around.dropout, around.LayerNorm, layer.intermediate, layer.output
    )
