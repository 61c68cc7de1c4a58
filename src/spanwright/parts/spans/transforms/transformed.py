"""A representation whose span vectors pass through transforms."""

from __future__ import annotations

from collections.abc import Sequence, Set

from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.part import Part
from spanwright.parts.spans.representations.vectors import Representation, SpanVectors, Transform


class Transformed(Representation):
    """Is a representation itself: what comes out are the vectors that scorers judge."""

    def __init__(self, representation: Representation, transforms: Sequence[Transform]) -> None:
        super().__init__()
        self.representation = representation
        self.transforms = nn.ModuleList(transforms)
        self.size = transforms[-1].size
        self.evidence_size = representation.evidence_size

    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans and of the windows' anchors after the last transform."""
        vectors: SpanVectors = self.representation(states, spans)
        for transform in self.transforms:
            vectors = transform(vectors, spans)
        return vectors

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms of the representation and all transforms."""
        parts = (self.representation, *self.transforms)
        return {term for part in parts if isinstance(part, Part) for term in part.terms}

    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): what the representation sees of some spans, before all transforms."""
        return self.representation.evidence(states, spans)
