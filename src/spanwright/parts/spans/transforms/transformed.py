"""A representation whose span vectors pass through transforms."""

from __future__ import annotations

from collections.abc import Sequence, Set

from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.encoder.states import WordStates
from spanwright.parts.part import Part
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.transforms.bilstm import BiLstm
from spanwright.parts.spans.transforms.bottleneck import Bottleneck
from spanwright.parts.spans.transforms.feed_forward import FeedForward

Transform = BiLstm | FeedForward | Bottleneck


class Transformed(Part):
    """Is a representation itself: what comes out are the vectors that scorers judge."""

    def __init__(self, representation: Composed | SpanTransformer, transforms: Sequence[Transform]) -> None:
        super().__init__()
        self.representation = representation
        self.transforms = nn.ModuleList(transforms)
        self.size = transforms[-1].size
        self.evidence_size = representation.evidence_size

    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans and of the windows' anchors behind the last transform."""
        vectors: SpanVectors = self.representation(states, spans)
        for transform in self.transforms:
            vectors = transform(vectors, spans)
        return vectors

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms of all transforms."""
        return {term for part in self.transforms if isinstance(part, Part) for term in part.terms}

    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): what the representation sees of some spans, before all transforms."""
        return self.representation.evidence(states, spans)
