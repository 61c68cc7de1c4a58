"""Many words to one vector: the shallow aggregations of spans (appendix A of DSpERT)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Spans
from spanwright.parts.spans.representations.attention import Inside, span_attention
from spanwright.settings.representations import SpanPooling


def pooled(
    values: Tensor, spans: Spans, combine: Callable[[Tensor, Tensor], Tensor], *, width_limit: int
) -> Tensor:
    """(spans, size): the values, (words, size), of each span's words, combined from its first to its last.

    The running table of a width holds every run of that many packed words, by its first. Runs that cross
    windows are in it too; no span asks for them.
    """
    if torch.compiler.is_exporting():
        return _pooled_by_limit(values, spans, combine, width_limit)
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


def _pooled_by_limit(
    values: Tensor, spans: Spans, combine: Callable[[Tensor, Tensor], Tensor], width_limit: int
) -> Tensor:
    """The same for graphs, which have a fixed number of steps: a table for each width up to the limit."""
    words = values.shape[0]
    running, tables = values, [values]
    for width in range(1, width_limit):
        # Beyond the end the last word stands again, in runs that no span asks for.
        shifted = (torch.arange(words) + width).clamp(max=words - 1)
        running = combine(running, values.index_select(0, shifted))
        tables.append(running)
    return torch.cat(tables).index_select(0, (spans.widths - 1) * words + spans.first)


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

    def __init__(self, kind: SpanPooling, *, width: int, width_limit: int, chunk: int) -> None:
        super().__init__()
        self.kind = kind
        self.width_limit = width_limit
        self.chunk = chunk
        """Spans whose words are gathered at a time."""
        if kind in ("multiplicative", "additive"):
            mixed = nn.Linear(width, width, bias=kind == "additive")
            self.weigh = nn.Sequential(mixed, nn.Tanh(), nn.Linear(width, 1, bias=False))

    def forward(self, words: Tensor, spans: Spans) -> Tensor:
        """(spans, width): word states (words, width) put together."""
        if self.kind == "max":
            return pooled(words, spans, torch.maximum, width_limit=self.width_limit)
        if self.kind == "mean":
            return pooled(words, spans, torch.add, width_limit=self.width_limit) / spans.widths[:, None]
        # Where products have 16 bits, the sum over words keeps those of the states.
        scores = self.weigh(words).to(words.dtype)
        if torch.compiler.is_exporting():
            return self._attended(scores, words, spans)
        return torch.cat([self._attended(scores, words, part) for part in span_chunks(spans, self.chunk)])

    def _attended(self, scores: Tensor, words: Tensor, spans: Spans) -> Tensor:
        """(spans, width): the score of a word, (words, 1), is its key, and every span asks for 1 of it."""
        query = words.new_ones(spans.first.shape[0], 1, 1)
        inside = Inside.of(spans, self.width_limit)
        return span_attention(query, scores[:, None], words[:, None], inside).squeeze(1)
