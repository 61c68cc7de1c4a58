"""Names as vectors: the mean of an encoder's states over the pieces of a name, mapped, of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import Tensor, nn

from spanwright.batches.pieces import PieceEncoder
from spanwright.parts.encoder.backbone import from_config, hidden_size, load_pretrained, plain_config

Floats = npt.NDArray[np.float32]
_MOST_PIECES = 24
"""Of a name; of a longer one the first."""
_BATCH = 64


class NameEncoder(nn.Module):
    """A backbone that reads names, and a learnt map of what it reads.

    The backbone stays as it was pretrained: so each name is read once, and learning takes seconds.
    """

    def __init__(self, backbone: nn.Module, pieces: PieceEncoder) -> None:
        super().__init__()
        self.backbone = backbone
        self.pieces = pieces
        size = hidden_size(backbone)
        self.projection = nn.Linear(size, size, bias=False)
        nn.init.eye_(self.projection.weight)

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
    def encode(self, names: Sequence[str]) -> Floats:
        """Unit vectors of names, `(names, size)`."""
        return self.mapped(self.read(names))

    @torch.inference_mode()
    def mapped(self, read: Tensor) -> Floats:
        """Unit vectors of what the backbone has read, `(names, size)`."""
        vectors: Floats = self(read).numpy()
        return vectors

    @torch.inference_mode()
    def read(self, names: Sequence[str]) -> Tensor:
        """What the backbone reads, `(names, size)`, worked out in batches of names of similar length."""
        order = sorted(range(len(names)), key=lambda place: len(names[place]))
        found = torch.empty(len(names), self.projection.in_features)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            found[places] = self._means([names[place] for place in places])
        return found

    def _means(self, names: Sequence[str]) -> Tensor:
        """The mean state of each name, of length 1."""
        ids, mask = self._padded(names)
        states: Tensor = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        return nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)

    def _padded(self, names: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Piece ids and their mask, `(names, pieces)`."""
        encodings = self.pieces.tokenizer.encode_batch_fast(list(names), add_special_tokens=False)
        rows = [self._row(encoding.ids) for encoding in encodings]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [self.pieces.padding] * (longest - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        return ids, mask

    def _row(self, ids: list[int]) -> list[int]:
        inner = ids[:_MOST_PIECES] or [self.pieces.unknown]
        return [*self.pieces.prefix, *inner, *self.pieces.end]
