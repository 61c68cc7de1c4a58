"""A BiLSTM over neighbouring spans of one width, as in DSpERT (Zhu et al., 2023, appendix C)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from spanwright.parts.batch import Spans
from spanwright.parts.layers import pad, word_mask
from spanwright.parts.spans.representations.vectors import SpanVectors, Transform
from spanwright.settings.transforms import BiLstmSettings


class BiLstm(Transform):
    """Lets the spans of one width in a window see each other, from the first to the last and back.

    Spans of one word have a BiLSTM of their own; all other widths share one.
    """

    def __init__(self, settings: BiLstmSettings, *, vector_size: int) -> None:
        super().__init__()
        self.size = 2 * settings.hidden
        self.dropout = nn.Dropout(settings.dropout)
        self.single = _lstm(vector_size, settings.hidden)
        self.wide = _lstm(vector_size, settings.hidden)

    def forward(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The vectors of spans, (spans, size); an anchor is a sequence of its own."""
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
        # First words of windows are packed one behind the other, so they also tell windows apart in order.
        order = (width * (int(first.max()) + 1) + first).argsort()
        sequences = torch.stack([width, window])[:, order]
        _, lengths = torch.unique_consecutive(sequences, dim=1, return_counts=True)
        mask = word_mask(lengths)
        inputs = pad(self.dropout(vectors.spans.index_select(0, chosen[order])), mask)
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
        found: Tensor = states[mask].index_select(0, order.argsort())
        return found


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
