"""Composed: a span is a Linear over chosen ingredients, such as its first word, its last word and its width.

First, last and width are the span vectors of PURE (Zhong and Chen, 2021, after Lee et al., 2017); max, anchor
and width are those of SpERT (Eberts and Ulges, 2020).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import FactoredLinear
from spanwright.parts.part import Rows, width_rows
from spanwright.parts.spans.representations.pooling import pooled
from spanwright.parts.spans.representations.vectors import EndTerm, Representation, SpanVectors
from spanwright.settings.representations import ComposedSettings, Ingredient


class Composed(Representation):
    """`dropout(activation(W [ingredients] + b))`, projected where each ingredient lives and then gathered.

    First, last and means are projected per word, anchors per window and widths per width. Only max, which
    does not commute with a projection, costs one product per span.
    """

    def __init__(self, settings: ComposedSettings, *, state_width: int, width_limit: int) -> None:
        super().__init__()
        self.size = settings.size
        self.width_limit = width_limit
        self.ingredients = settings.ingredients
        if "width" in self.ingredients:
            self.widths = nn.Embedding(width_limit, settings.width_size)
            # They are drawn from the standard normal distribution.
            self.widths.weight.data *= settings.width_deviation
        sizes = [settings.width_size if name == "width" else state_width for name in self.ingredients]
        self.evidence_size = sum(sizes)
        self.projection = FactoredLinear(sizes, settings.size)
        self.rectify = settings.activation == "relu"
        self.dropout = nn.Dropout(settings.dropout)

    def named_rows(self) -> Rows:
        """One row for each width, if widths are among the ingredients."""
        if "width" not in self.ingredients:
            return {}
        return {"widths.weight": (width_rows(self.widths.num_embeddings),)}

    def forward(self, states: WordStates, spans: Spans) -> SpanVectors:
        """The vectors of candidate spans, of the windows' anchors and the terms of words at their ends."""
        inputs = [self._input(name, states, spans) for name in self.ingredients]
        terms = dict(zip(self.ingredients, self.projection(inputs), strict=True))
        # Gathered one after the other: two tensors as large as the result at a time, however many terms.
        gathered = (self._of_spans(name, term, spans, states) for name, term in terms.items())
        vectors = reduce(torch.add, gathered)
        anchors = self._anchor_terms(states)
        return SpanVectors(
            spans=self._finished(vectors),
            null=self._finished(reduce(torch.add, anchors.values())),
            first=EndTerm(terms["first"], anchors["first"]) if "first" in terms else None,
            last=EndTerm(terms["last"], anchors["last"]) if "last" in terms else None,
        )

    def evidence(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans, evidence size): the ingredients themselves, side by side; for few spans, as it is large."""
        return torch.cat(
            [
                self._of_spans(name, self._input(name, states, spans), spans, states)
                for name in self.ingredients
            ],
            dim=1,
        )

    def _input(self, name: Ingredient, states: WordStates, spans: Spans) -> Tensor:
        """(words | windows | widths | spans, input size): an ingredient where it lives."""
        match name:
            case "first" | "mean":
                return states.start
            case "last":
                return states.end
            case "piece-mean":
                assert states.piece_mean is not None  # build() asks for them
                return states.piece_mean
            case "anchor":
                return states.anchor
            case "width":
                return self.widths.weight
            case "max":
                return self._pooled(states.start, spans, torch.maximum)

    def _anchor_terms(self, states: WordStates) -> dict[Ingredient, Tensor]:
        """(windows | 1, size): the terms of spans of one word whose state is the anchor."""
        inputs = [self.widths.weight[:1] if name == "width" else states.anchor for name in self.ingredients]
        return dict(zip(self.ingredients, self.projection(inputs), strict=True))

    def _finished(self, sums: Tensor) -> Tensor:
        finished: Tensor = self.dropout(torch.relu_(sums) if self.rectify else sums)
        return finished

    def _of_spans(self, name: Ingredient, term: Tensor, spans: Spans, states: WordStates) -> Tensor:
        """(spans, size): the projected term of an ingredient for each span, free to be changed in place."""
        match name:
            case "first":
                return term.index_select(0, spans.first)
            case "last":
                return term.index_select(0, spans.last)
            case "anchor":
                return term.index_select(0, spans.window)
            case "width":
                return term.index_select(0, spans.widths - 1)
            case "mean":
                return self._pooled(term, spans, torch.add) / spans.widths[:, None]
            case "piece-mean":
                # Words count by their pieces, so that the mean is that of the pieces.
                counts = states.piece_count
                assert counts is not None  # build() asks for them
                return self._pooled(term * counts, spans, torch.add) / self._pooled(counts, spans, torch.add)
            case "max":
                return term

    def _pooled(self, values: Tensor, spans: Spans, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """(spans, size): values of words, (words, size), combined in each span."""
        return pooled(values, spans, combine, width_limit=self.width_limit)
