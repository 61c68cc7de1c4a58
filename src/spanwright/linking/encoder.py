"""Names as vectors: the mean of an encoder's states over the pieces of a name, mapped, of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from spanwright.arrays import Floats32
from spanwright.batches.pieces import PieceEncoder
from spanwright.parts.encoder.backbone import from_config, hidden_size, load_pretrained, plain_config
from spanwright.parts.precision import gains_by_bf16

_MOST_PIECES = 24
"""Of a name; of a longer one the first."""
_BATCH = 64
"""Names that are read together."""
_CHUNK = 10_000
"""Names that are cut into pieces together."""


class NameEncoder(nn.Module):
    """A backbone that reads names, and a learnt map of what it reads.

    The backbone stays as it was pretrained: so each name is read once, and learning takes seconds. It
    computes in 16 bits where the processor has instructions for that, which takes less than half the time.
    """

    def __init__(self, backbone: nn.Module, pieces: PieceEncoder) -> None:
        super().__init__()
        self.backbone = backbone
        self.pieces = pieces
        size = hidden_size(backbone)
        self.projection = nn.Linear(size, size, bias=False)
        nn.init.eye_(self.projection.weight)
        self._in_16_bits = gains_by_bf16(torch.device("cpu"))

    @classmethod
    def pretrained(cls, name: str) -> NameEncoder:
        """With the weights of a pretrained encoder, by short name, folder or Hugging Face model id."""
        return cls(*load_pretrained(name)).eval()

    @classmethod
    def stored(cls, config: dict[str, Any], weights: Path, tokenizer: Path) -> NameEncoder:
        """With the weights and the tokenizer that `write` has written."""
        encoder = cls(from_config(config), PieceEncoder.from_file(tokenizer))
        encoder.load_state_dict(safetensors.torch.load_file(weights))
        return encoder.eval()

    def write(self, weights: Path, tokenizer: Path) -> dict[str, Any]:
        """Write weights and tokenizer to files; the configuration of the backbone."""
        stored = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        safetensors.torch.save_file(stored, weights)
        self.pieces.tokenizer.save(str(tokenizer))
        return plain_config(self.backbone.config)

    def forward(self, read: Tensor) -> Tensor:
        """Unit vectors, `(names, size)`, of what the backbone has read."""
        return nn.functional.normalize(self.projection(read), dim=-1)

    @torch.inference_mode()
    def encode(self, names: Sequence[str]) -> Floats32:
        """Unit vectors of names, `(names, size)`."""
        return self.mapped(self.read(names))

    @torch.inference_mode()
    def mapped(self, read: Tensor) -> Floats32:
        """Unit vectors of what the backbone has read, `(names, size)`."""
        vectors: Floats32 = self(read).numpy()
        return vectors

    @torch.inference_mode()
    def read(self, names: Sequence[str]) -> Tensor:
        """What the backbone reads, `(names, size)`, in batches of names of about as many pieces."""
        rows = [
            row
            for start in range(0, len(names), _CHUNK)
            for row in self._pieces(names[start : start + _CHUNK])
        ]
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        found = torch.empty(len(rows), self.projection.in_features)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            found[places] = self._means([rows[place] for place in places])
        return found

    def _pieces(self, names: Sequence[str]) -> list[list[int]]:
        """The ids of each name's pieces, with those that the backbone expects at both ends."""
        encodings = self.pieces.tokenizer.encode_batch_fast(list(names), add_special_tokens=False)
        inner = (encoding.ids[:_MOST_PIECES] or [self.pieces.unknown] for encoding in encodings)
        return [[*self.pieces.prefix, *ids, *self.pieces.end] for ids in inner]

    def _means(self, rows: Sequence[list[int]]) -> Tensor:
        """The mean state of each row of pieces, of length 1, `(rows, size)`."""
        longest = max(map(len, rows))
        ids = torch.tensor([row + [self.pieces.padding] * (longest - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._in_16_bits):
            states: Tensor = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        weights = mask.unsqueeze(-1).to(states.dtype)
        return nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)
