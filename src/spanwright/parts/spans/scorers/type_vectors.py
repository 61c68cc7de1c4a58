"""What the bi-encoder compares spans with: one state per entity type.

Three sources, after BINDER's Table 5: a text about the type (annotation guideline or keyword) read by the
type encoder, prototypical instances (training mentions between markers) read by the same encoder, or a state
that is learnt for the type alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.type_texts import described_pieces, padded_rows
from spanwright.parts.encoder.backbone import longest_input
from spanwright.parts.part import Part, Role

TEST_PROTOTYPES = 3
"""Instances of each type whose states are averaged at inference (BINDER, section 4)."""


@dataclass(frozen=True, slots=True)
class TypeTexts:
    """Texts of types as padded pieces."""

    ids: Tensor
    """(texts, pieces)."""
    mask: Tensor
    """(texts, pieces): True at real pieces."""
    position: Tensor
    """(texts,): the piece whose state stands for the text."""


class TextReader(Part):
    """Reads texts with a backbone: its own copy, or the one of the text encoder."""

    role: ClassVar[Role | None] = "encoder"

    def __init__(self, backbone: nn.Module, *, shared: bool) -> None:
        super().__init__()
        self.backbone = None if shared else backbone
        # In a tuple, a shared backbone is not registered a second time: its weights are saved once.
        self._shared: tuple[nn.Module, ...] = (backbone,) if shared else ()

    def forward(self, texts: TypeTexts) -> Tensor:
        """(texts, width): the state of each text."""
        backbone = self._shared[0] if self.backbone is None else self.backbone
        device = next(backbone.parameters()).device
        output = backbone(input_ids=texts.ids.to(device), attention_mask=texts.mask.long().to(device))
        hidden: Tensor = output.last_hidden_state
        return hidden[torch.arange(hidden.shape[0], device=device), texts.position.to(device)]


class DescribedTypes(nn.Module):
    """One text per type; its state is that of the first special piece."""

    def __init__(self, reader: TextReader, texts: TypeTexts) -> None:
        super().__init__()
        self.reader = reader
        self.texts = texts

    def forward(self) -> Tensor:
        """(types, width)."""
        states: Tensor = self.reader(self.texts)
        return states


class PrototypeTypes(nn.Module):
    """Instances of each type; training draws one for every batch, inference averages the first three."""

    def __init__(self, reader: TextReader, texts: TypeTexts, counts: Sequence[int]) -> None:
        super().__init__()
        self.reader = reader
        self.texts = texts
        """The instances of all types in a row."""
        self.counts = torch.tensor(list(counts))
        """(types,): instances of each type."""

    def forward(self) -> Tensor:
        """(types, width)."""
        first = self.counts.cumsum(0) - self.counts
        if self.training:
            drawn = (torch.rand(len(self.counts)) * self.counts).long()
            states: Tensor = self.reader(_chosen(self.texts, first + drawn))
            return states
        used = self.counts.clamp_max(TEST_PROTOTYPES)
        type_of_text = torch.arange(len(used)).repeat_interleave(used)
        within = torch.arange(len(type_of_text)) - (used.cumsum(0) - used)[type_of_text]
        states = self.reader(_chosen(self.texts, first[type_of_text] + within))
        total = states.new_zeros(len(used), states.shape[1])
        total = total.index_add(0, type_of_text.to(states.device), states)
        return total / used.to(states.device)[:, None]


class AtomicTypes(nn.Module):
    """A learnt state per type, without any text."""

    def __init__(self, types: int, width: int) -> None:
        super().__init__()
        self.states = nn.Parameter(torch.empty(types, width).normal_(std=0.02))

    def forward(self) -> Tensor:
        """(types, width)."""
        return self.states


def _chosen(texts: TypeTexts, rows: Tensor) -> TypeTexts:
    mask = texts.mask[rows]
    longest = int(mask.sum(1).max())
    return TypeTexts(texts.ids[rows, :longest], mask[:, :longest], texts.position[rows])


def described(texts: Sequence[str], pieces: PieceEncoder, backbone: nn.Module) -> TypeTexts:
    """Pieces of one description per type; only a text longer than the backbone can read is cut."""
    ids, mask = described_pieces(texts, pieces, longest_input(backbone.config))
    return TypeTexts(torch.from_numpy(ids), torch.from_numpy(mask), torch.zeros(len(ids), dtype=torch.long))


def prototypes(
    instances: Sequence[tuple[str, str, str]], pieces: PieceEncoder, backbone: nn.Module
) -> TypeTexts:
    """Pieces of instances (text before, mention, text after), with markers around the mention.

    Of an instance longer than the backbone can read, what is furthest from the mention's beginning is cut.
    """
    start, end = pieces.markers
    room = longest_input(backbone.config) - pieces.special_count - 2
    rows: list[list[int]] = []
    positions: list[int] = []
    for before, mention, after in instances:
        inside = pieces.encode_text(mention)[: room // 2]
        left = pieces.encode_text(before)[-((room - len(inside)) // 2) :]
        right = pieces.encode_text(after)[: room - len(inside) - len(left)]
        positions.append(len(pieces.prefix) + len(left))
        rows.append([*pieces.prefix, *left, start, *inside, end, *right, *pieces.end])
    ids, mask = padded_rows(rows, pieces.padding)
    return TypeTexts(torch.from_numpy(ids), torch.from_numpy(mask), torch.tensor(positions))
