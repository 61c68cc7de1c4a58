"""The span Transformer of DSpERT (Zhu et al., 2023): deep span vectors, built block by block.

A span starts as an aggregation of its words' states at a lower layer. Each block above takes it as the query,
and what the block itself read of the span's words as keys and values:

    s_0 = aggregation(H_(L-n)[span]),   s_(m+1) = block_m(s_m, H_m[span], H_m[span]),   m = L-n .. L-1

for a depth of n blocks out of L. A span of one word is that word's state at the top (equation 4). Depth 0 is
the paper's shallow counterpart: the aggregation of the top states.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.representations.attention import Inside
from spanwright.parts.spans.representations.blocks import SpanBlocks
from spanwright.parts.spans.representations.pooling import Aggregation, span_chunks
from spanwright.parts.spans.representations.vectors import Representation, SpanVectors
from spanwright.settings.representations import SpanTransformerSettings


class SpanTransformer(Representation):
    """Deep vectors of spans. Spans do not see each other, so any list of spans has the same vectors."""

    def __init__(
        self,
        settings: SpanTransformerSettings,
        *,
        backbone: nn.Module,
        depth: int,
        state_width: int,
        width_limit: int,
    ) -> None:
        super().__init__()
        self.size = self.evidence_size = state_width
        self.chunk = settings.chunk
        self.dropout = nn.Dropout(settings.initial_dropout)
        self.width_limit = width_limit
        self.aggregation = Aggregation(
            settings.aggregation, width=state_width, width_limit=width_limit, chunk=settings.chunk
        )
        self.blocks = SpanBlocks(backbone, depth=depth, shared=settings.blocks == "shared")

    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans; a window's anchor is like a word."""
        if torch.compiler.is_exporting():
            return SpanVectors(self._at_once(states, spans), null=states.anchor, first=None, last=None)
        by_width = spans.widths.argsort(stable=True)
        single = int((spans.widths == 1).sum())
        words = states.start.index_select(0, spans.first[by_width[:single]])
        # Neighbours in this order are of one width, so that a chunk hardly pays for wider spans.
        wide = spans.take(by_width[single:])
        vectors = torch.cat([words, *self._deep(states, wide)]).index_select(0, by_width.argsort())
        return SpanVectors(spans=vectors, null=states.anchor, first=None, last=None)

    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): the vectors of some spans."""
        vectors: SpanVectors = self(states, spans)
        return vectors.spans

    def _at_once(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, width): the same for graphs, in which no number decides how many spans a step takes."""
        queries = self.aggregation(states.layers[0] if states.layers else states.start, spans)
        inside = Inside.of(spans, self.width_limit)
        deep = self.blocks(queries, self.blocks.project(states.layers), inside)
        return torch.where(spans.widths[:, None] == 1, states.start.index_select(0, spans.first), deep)

    def _deep(self, states: WordStates, spans: Spans) -> list[Tensor]:
        """(spans of a chunk, width) for each chunk of spans that have several words."""
        lowest = states.layers[0] if states.layers else states.start
        queries: Tensor = self.aggregation(self.dropout(lowest), spans)
        projected = self.blocks.project(states.layers)
        parts = zip(torch.split(queries, self.chunk), span_chunks(spans, self.chunk), strict=True)
        return [self.blocks(query, projected, Inside.of(part, self.width_limit)) for query, part in parts]
