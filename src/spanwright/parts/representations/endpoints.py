"""Endpoints: a span is its first word, its last word and its width (Lee et al. 2017; PURE, 2021)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from spanwright.batches.batch import Spans
from spanwright.parts.factored import FactoredLinear
from spanwright.parts.states import WordStates


class EndpointsSettings(BaseModel):
    """Settings of the endpoints representation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["endpoints"] = "endpoints"
    size: int = Field(default=256, gt=0)
    """Size of a span vector."""
    width_size: int = Field(default=32, gt=0)
    """Size of the width embedding."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout on the span vectors."""


class Endpoints(nn.Module):
    """`dropout(ReLU(W [start; end; width] + b))`, projected per word and gathered per span."""

    def __init__(self, settings: EndpointsSettings, *, state_width: int, width_limit: int) -> None:
        super().__init__()
        self.size = settings.size
        self.widths = nn.Embedding(width_limit, settings.width_size)
        self.projection = FactoredLinear((state_width, state_width, settings.width_size), settings.size)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, size): the vectors of candidate spans."""
        start, end, width = self.projection((states.start, states.end, self.widths.weight))
        vectors = start.index_select(0, spans.first)
        vectors = vectors + end.index_select(0, spans.last)
        vectors = vectors + width.index_select(0, spans.widths - 1)
        activated: Tensor = self.dropout(torch.relu_(vectors))
        return activated
