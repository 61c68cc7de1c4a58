"""A BiLSTM over neighbouring spans of one width, as in DSpERT (Zhu et al., 2023, appendix C)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from spanwright.parts.batch import Spans
from spanwright.parts.layers import pad, word_mask
from spanwright.parts.spans.representations.vectors import SpanVectors, Transform
from spanwright.settings.transforms import BiLstmSettings

_OPSET = 20
"""The version of ONNX's operators, which is that of exports."""


class BiLstm(Transform):
    """Lets the spans of one width in a window see each other, from the first to the last and back.

    Spans of one word have a BiLSTM of their own; all other widths share one.
    """

    def __init__(self, settings: BiLstmSettings, *, vector_size: int, width_limit: int) -> None:
        super().__init__()
        self.width_limit = width_limit
        self.size = 2 * settings.hidden
        self.dropout = nn.Dropout(settings.dropout)
        self.single = _lstm(vector_size, settings.hidden)
        self.wide = _lstm(vector_size, settings.hidden)

    def forward(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The vectors of spans, (spans, size); an anchor is a sequence of its own."""
        if torch.compiler.is_exporting():
            return self._in_a_graph(vectors, spans)
        single = (spans.widths == 1).nonzero().squeeze(1)
        wide = (spans.widths > 1).nonzero().squeeze(1)
        parts = [
            self._run(lstm, vectors, spans, at) for lstm, at in ((self.single, single), (self.wide, wide))
        ]
        order = torch.cat([single, wide]).argsort()
        anchors, _ = self.single(self.dropout(vectors.null)[:, None])
        return SpanVectors(torch.cat(parts).index_select(0, order), anchors.squeeze(1), None, None)

    def _run(self, lstm: nn.Module, vectors: SpanVectors, spans: Spans, chosen: Tensor) -> Tensor:
        """(chosen, size): some spans, whose positions are given, each in the sequence of its like."""
        if not len(chosen):
            return vectors.spans.new_zeros(0, self.size)
        window, first, width = (column[chosen] for column in (spans.window, spans.first, spans.widths))
        # First words of windows are packed one after the other, so they also keep windows apart, in order.
        order = (width * (int(first.max()) + 1) + first).argsort()
        sequences = torch.stack([width, window])[:, order]
        _, lengths = torch.unique_consecutive(sequences, dim=1, return_counts=True)
        mask = word_mask(lengths)
        inputs = pad(self.dropout(vectors.spans.index_select(0, chosen[order])), mask)
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
        found: Tensor = states[mask].index_select(0, order.argsort())
        return found

    def _in_a_graph(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The same for graphs, in which all sequences of a window stand in one padded tensor."""
        windows, limit = vectors.null.shape[0], self.width_limit
        sequence, words = spans.window * limit + spans.widths - 1, spans.first.max() + 1
        lengths = _counts(sequence, windows * limit)
        # In a row of all sequences, a span is so far from the first of its own.
        order = (sequence * words + spans.first).argsort()
        place = torch.empty_like(order).scatter(0, order, torch.arange(order.shape[0]))
        position = place - (lengths.cumsum(0) - lengths)[sequence]
        longest: Any = lengths.max().item()
        torch._check(longest > 0)  # type: ignore[no-untyped-call]  # as there are spans
        cells = sequence * longest + position
        size = vectors.spans.shape[1]
        padded = vectors.spans.new_zeros(windows * limit * longest, size)
        grid = padded.index_copy(0, cells, vectors.spans).view(windows, limit, longest, size)
        by_width = lengths.view(windows, limit)
        single = _bilstm(self.single, grid[:, 0], by_width[:, 0])
        states = [single[:, None]]
        if limit > 1:
            wide = _bilstm(self.wide, grid[:, 1:].flatten(0, 1), by_width[:, 1:].flatten())
            states.append(wide.view(windows, limit - 1, longest, self.size))
        found = torch.cat(states, dim=1).flatten(0, 2).index_select(0, cells)
        one = torch.ones(windows, dtype=torch.long)
        return SpanVectors(found, _bilstm(self.single, vectors.null[:, None], one).squeeze(1), None, None)


def _counts(values: Tensor, size: int) -> Tensor:
    """(size,): how often each number below the size is among the values."""
    return values.new_zeros(size).index_add(0, values, torch.ones_like(values))


def _bilstm(lstm: nn.LSTM, padded: Tensor, lengths: Tensor) -> Tensor:
    """(sequences, longest, both directions): an LSTM over padded sequences, as an operator of ONNX."""
    suffixes = ("l0", "l0_reverse")
    inner, outer = (
        torch.stack([_onnx_gates(getattr(lstm, f"weight_{kind}_{suffix}")) for suffix in suffixes])
        for kind in ("ih", "hh")
    )
    bias = torch.stack(
        [
            torch.cat([_onnx_gates(getattr(lstm, f"bias_{kind}_{suffix}")) for kind in ("ih", "hh")])
            for suffix in suffixes
        ]
    )
    sequences, longest, _ = padded.shape
    found: Tensor = torch.onnx.ops.symbolic(
        "LSTM",
        (padded.transpose(0, 1), inner, outer, bias, lengths.int()),
        {"direction": "bidirectional", "hidden_size": lstm.hidden_size},
        dtype=padded.dtype,
        shape=(longest, 2, sequences, lstm.hidden_size),
        version=_OPSET,
    )
    return found.permute(2, 0, 1, 3).flatten(2)


def _onnx_gates(weights: Tensor) -> Tensor:
    """The weights of gates in the order of ONNX: input, output, forget, cell."""
    entering, forget, cell, output = weights.chunk(4)
    return torch.cat([entering, output, forget, cell])


def _lstm(inputs: int, hidden: int) -> nn.LSTM:
    """An LSTM with the usual start: Xavier by gate, and a forget gate that is open."""
    made = nn.LSTM(inputs, hidden, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            gates = parameter.chunk(4)
            if "weight" in name:
                for gate in gates:
                    nn.init.xavier_uniform_(gate)
            else:
                parameter.zero_()
                gates[1].fill_(1.0)
    return made
