"""Many words to one vector: the shallow aggregations of spans (appendix A of DSpERT)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.spans.representations.attention import Inside, span_attention
from spanwright.settings.representations import SpanPooling


def pooled(values: Tensor, spans: Spans, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """(spans, size): the values, (words, size), of each span's words, combined from its first to its last.

    The running table of a width holds every run of that many packed words, by its first. Runs that cross
    windows are in it too; no span asks for them.
    """
    widths = spans.widths
    by_width = widths.argsort(stable=True)
    # Without spans one width of none is left, so that there is something to concatenate.
    counts = widths.bincount(minlength=2)[1:].tolist()
    running, rows = values, []
    for width, firsts in enumerate(torch.split(spans.first[by_width], counts), start=1):
        if width > 1:
            running = combine(running[:-1], values[width - 1 :])
        rows.append(running.index_select(0, firsts))
    return torch.cat(rows).index_select(0, by_width.argsort())


def span_chunks(spans: Spans, size: int) -> list[Spans]:
    """The spans in their order, so many at a time."""
    columns = (torch.split(column, size) for column in (spans.window, spans.first, spans.last))
    return [Spans(*part) for part in zip(*columns, strict=True)]


class Aggregation(nn.Module):
    """The maximum or the mean of a span's words, or their mean weighted by an attention.

    Both attentions weigh a word h by `softmax(u . tanh(W h + b))`. The additive one of the paper reads
    `W [h; v]` with a learnt v, of which the part that v adds is the same for all words: the bias b. The
    multiplicative one has none.
    """

    def __init__(self, kind: SpanPooling, *, width: int, chunk: int) -> None:
        super().__init__()
        self.kind = kind
        self.chunk = chunk
        """Spans whose words are gathered at a time."""
        if kind in ("multiplicative", "additive"):
            mixed = nn.Linear(width, width, bias=kind == "additive")
            self.weigh = nn.Sequential(mixed, nn.Tanh(), nn.Linear(width, 1, bias=False))

    def forward(self, words: Tensor, spans: Spans) -> Tensor:
        """(spans, width): word states (words, width) put together."""
        if self.kind == "max":
            return pooled(words, spans, torch.maximum)
        if self.kind == "mean":
            return pooled(words, spans, torch.add) / spans.widths[:, None]
        scores = self.weigh(words)
        return torch.cat([self._attended(scores, words, part) for part in span_chunks(spans, self.chunk)])

    def _attended(self, scores: Tensor, words: Tensor, spans: Spans) -> Tensor:
        """(spans, width): the score of a word, (words, 1), is its key, and every span asks for 1 of it."""
        query = words.new_ones(len(spans), 1, 1)
        return span_attention(query, scores[:, None], words[:, None], Inside.of(spans)).squeeze(1)
