"""A feed-forward layer over span vectors and widths: the pre-logit vectors of DSpERT (equation 5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.part import Rows, width_rows
from spanwright.parts.spans.representations.vectors import SpanVectors, Transform
from spanwright.settings.transforms import FeedForwardSettings


class FeedForward(Transform):
    """`dropout(relu(W dropout([vector; width]) + b))`."""

    def __init__(self, settings: FeedForwardSettings, *, vector_size: int, width_limit: int) -> None:
        super().__init__()
        self.size = settings.size
        self.widths = nn.Embedding(width_limit, settings.width_size)
        self.linear = nn.Linear(vector_size + settings.width_size, settings.size)
        self.input_dropout = nn.Dropout(settings.input_dropout)
        self.dropout = nn.Dropout(settings.dropout)
        bound = math.sqrt(3 / settings.width_size)
        nn.init.uniform_(self.widths.weight, -bound, bound)
        nn.init.kaiming_uniform_(self.linear.weight, nonlinearity="relu")
        nn.init.zeros_(self.linear.bias)

    def named_rows(self) -> Rows:
        """One row for each width."""
        return {"widths.weight": (width_rows(self.widths.num_embeddings),)}

    def forward(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The vectors of spans, (spans, size), and of anchors, whose width is 1."""
        one = torch.ones(vectors.null.shape[0], dtype=torch.long, device=vectors.null.device)
        found = self._finished(vectors.spans, spans.widths)
        return SpanVectors(found, self._finished(vectors.null, one), None, None)

    def _finished(self, vectors: Tensor, widths: Tensor) -> Tensor:
        inputs = self.input_dropout(torch.cat([vectors, self.widths(widths - 1)], dim=1))
        finished: Tensor = self.dropout(torch.relu(self.linear(inputs)))
        return finished
