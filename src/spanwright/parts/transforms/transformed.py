"""A representation whose span vectors pass through transforms."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from spanwright.batches.batch import Spans
from spanwright.parts.representations.composed import Composed
from spanwright.parts.representations.span_transformer import SpanTransformer
from spanwright.parts.representations.vectors import SpanVectors
from spanwright.parts.states import WordStates
from spanwright.parts.transforms.bilstm import BiLstm
from spanwright.parts.transforms.feed_forward import FeedForward


class Transformed(nn.Module):
    """Is a representation itself: what comes out are the vectors that scorers judge."""

    def __init__(
        self, representation: Composed | SpanTransformer, transforms: Sequence[BiLstm | FeedForward]
    ) -> None:
        super().__init__()
        self.representation = representation
        self.transforms = nn.ModuleList(transforms)
        self.size = transforms[-1].size

    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans and of the windows' anchors behind the last transform."""
        vectors: SpanVectors = self.representation(states, spans)
        for transform in self.transforms:
            vectors = transform(vectors, spans)
        return vectors
