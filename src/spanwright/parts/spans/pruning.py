"""Candidate pruning: a cheap look at the ends of all spans decides which few are worth a deep one."""

from __future__ import annotations

from collections.abc import Set

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.batch import Batch, Spans
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import RARE
from spanwright.parts.part import Part, Rows, width_rows
from spanwright.settings.data import PruningSettings

PRUNING = "pruning"
"""The loss term of the pruner."""


class Pruner(Part):
    """Scores spans by their ends, `a . first + b . last + (A first) . (B last) + c_width`.

    Words are projected once; a span costs one product of two small vectors. It is trained, jointly with the
    rest, to tell golds from all other candidates.
    """

    def __init__(self, settings: PruningSettings, *, state_width: int, width_limit: int) -> None:
        super().__init__()
        self.settings = settings
        # The last number of each projection is the word's own score at that end.
        self.first = nn.Linear(state_width, settings.size + 1)
        self.last = nn.Linear(state_width, settings.size + 1)
        self.widths = nn.Embedding(width_limit, 1)
        nn.init.constant_(self.widths.weight, -RARE)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {PRUNING}

    def named_rows(self) -> Rows:
        """One row for each width."""
        return {"widths.weight": (width_rows(self.widths.num_embeddings),)}

    def forward(self, states: WordStates, spans: Spans) -> Tensor:
        """(spans,): the logit of being an entity."""
        first = self.first(states.start).index_select(0, spans.first)
        last = self.last(states.end).index_select(0, spans.last)
        products = (first[:, :-1] * last[:, :-1]).sum(1) * self.settings.size**-0.5
        logits: Tensor = products + first[:, -1] + last[:, -1] + self.widths(spans.widths - 1).squeeze(1)
        return logits

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Binary cross entropy of all candidates, summed and divided by the number of windows."""
        golds, targets = batch.golds, torch.zeros_like(logits)
        if golds.probability is None:
            targets[golds.span] = 1
        else:
            # A span is an entity as likely as it is of any type.
            targets.index_add_(0, golds.span, golds.probability).clamp_(max=1)
        total = functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum")
        return total / len(batch.word_counts)

    def kept(self, logits: Tensor, batch: Batch) -> Tensor:
        """(spans,): True for the best candidates of each window."""
        window = batch.spans.window
        order = _order(logits, descending=True)
        order = order[_order(window[order])]
        counts = torch.zeros_like(batch.word_counts).index_add(0, window, torch.ones_like(window))
        starts = counts.cumsum(0) - counts
        rank = torch.empty_like(order)
        rank[order] = torch.arange(order.shape[0], device=order.device) - starts[window[order]]
        allowed = (batch.word_counts * self.settings.keep).ceil().long()
        return rank < allowed[window]

    def pruned(self, logits: Tensor, batch: Batch) -> Batch:
        """The batch with its best candidates, and with all that have a share of an entity's target."""
        kept = self.kept(logits.detach(), batch)
        kept[batch.golds.span] = True
        if batch.neighbours is not None:
            kept[batch.neighbours.span] = True
        return batch.keeping(kept)


def _order(values: Tensor, *, descending: bool = False) -> Tensor:
    """(values,): positions of sorted values, equal ones in their order, as graphs have it anyway."""
    if torch.compiler.is_exporting():
        return values.argsort(descending=descending)
    return values.argsort(descending=descending, stable=True)
