"""The text encoder: a Hugging Face backbone that gives every word a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Batch
from spanwright.parts.encoder.backbone import hidden_size
from spanwright.parts.part import Part, Role, Rows
from spanwright.settings.encoder import PiecePooling


class Encoder(Part):
    """Runs the backbone over padded pieces and gathers the states of packed words."""

    role: ClassVar[Role | None] = "encoder"

    def __init__(
        self,
        backbone: nn.Module,
        pooling: PiecePooling,
        *,
        depth: int = 0,
        piece_means: bool = False,
        corpora: int = 0,
        corpus_from_end: int = 1,
    ) -> None:
        """With `corpora`, a learnt vector of each stands in its windows, so far from their end."""
        super().__init__()
        self.piece_means = piece_means
        """Whether the means of the states of words' pieces are handed on as well."""
        self.backbone = backbone
        self.pooling = pooling
        self.depth = depth
        """Of how many top blocks the inputs are handed on as well."""
        embeddings: Any = backbone.get_input_embeddings() if corpora else None  # type: ignore[operator]
        self.corpora = CorpusTokens(embeddings.weight, corpora, corpus_from_end) if corpora else None

    def named_rows(self) -> Rows:
        """One row for each corpus that has a vector."""
        if self.corpora is None:
            return {}
        return {"corpora.vectors": ([("corpus", number) for number in range(len(self.corpora.vectors))],)}

    @property
    def width(self) -> int:
        """Size of a state."""
        return hidden_size(self.backbone)

    @property
    def config(self) -> Any:
        """The backbone's configuration."""
        return self.backbone.config

    def forward(self, batch: Batch) -> WordStates:
        """Word states of a batch."""
        more = {"output_hidden_states": True} if self.depth else {}
        output = self.backbone(**self.pieces(batch), attention_mask=batch.piece_mask.long(), **more)
        # The last of all states is the output of the top block.
        inputs = output.hidden_states[-1 - self.depth : -1] if self.depth else ()
        return self.of_words(output.last_hidden_state, inputs, batch)

    def of_words(self, hidden: Tensor, inputs: Sequence[Tensor], batch: Batch) -> WordStates:
        """States of words from those of pieces, (windows, pieces, width), at the top and below top blocks."""
        start, end = self._word_states(hidden, batch)
        layers = tuple(self._word_states(states, batch)[0] for states in inputs)
        if not self.piece_means:
            return WordStates(start, end, anchor=hidden[:, 0], layers=layers)
        means, counts = _pool(hidden.flatten(0, 1), batch, "mean"), _piece_counts(batch)[:, None]
        return WordStates(start, end, hidden[:, 0], layers, means, counts.to(hidden.dtype))

    def pieces(self, batch: Batch) -> dict[str, Tensor]:
        """What the backbone reads: ids of pieces or, with vectors of corpora among them, embeddings."""
        if self.corpora is None:
            return {"input_ids": batch.piece_ids}
        backbone: Any = self.backbone
        embedded = backbone.get_input_embeddings()(batch.piece_ids)
        return {"inputs_embeds": self.corpora(embedded, batch)}

    def _word_states(self, hidden: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Start and end states (words, width) from piece states (windows, pieces, width)."""
        pieces = hidden.flatten(0, 1)
        if self.pooling in ("ends", "first"):
            start = pieces.index_select(0, batch.first_piece)
            return start, pieces.index_select(0, batch.last_piece) if self.pooling == "ends" else start
        pooled = _pool(pieces, batch, "mean" if self.pooling == "mean" else "amax")
        return pooled, pooled


class CorpusTokens(nn.Module):
    """Vectors by which the encoder reads which corpus a window is from.

    They stand in place of a piece, but are weights of their own: they learn also where the backbone is
    frozen, and its vocabulary stays as it is.
    """

    def __init__(self, embeddings: Tensor, corpora: int, from_end: int) -> None:
        """`embeddings` (pieces, size) are those of the backbone."""
        super().__init__()
        self.from_end = from_end
        # As far from each other as the vectors of pieces are.
        weights = embeddings.detach().float()
        self.vectors = nn.Parameter(weights.new_empty(corpora, weights.shape[1]).normal_() * weights.std())

    def forward(self, embedded: Tensor, batch: Batch) -> Tensor:
        """(windows, pieces, size): embedded pieces with the vector of its corpus in each window."""
        position = batch.piece_mask.sum(1) - self.from_end
        there = torch.arange(embedded.shape[1], device=embedded.device) == position[:, None]
        own = self.vectors[batch.corpus].to(embedded.dtype)
        return torch.where(there[:, :, None], own[:, None], embedded)


def _pool(pieces: Tensor, batch: Batch, reduction: Literal["mean", "amax"]) -> Tensor:
    """(words, width): the mean or elementwise maximum over the pieces of each word."""
    # In one more row is what belongs to no word: special pieces and padding.
    rows = pieces.new_zeros(batch.first_piece.shape[0] + 1, pieces.shape[1])
    word = _word_of_piece(batch, pieces.shape[0])
    if reduction == "mean":
        return rows.index_add(0, word, pieces)[:-1] / _piece_counts(batch)[:, None]
    index = word[:, None].expand_as(pieces)
    return rows.scatter_reduce(0, index, pieces, reduction, include_self=False)[:-1]


def _word_of_piece(batch: Batch, pieces: int) -> Tensor:
    """(pieces,): the packed word of each of the flattened pieces; the number of words where there is none."""
    words, last = batch.first_piece.shape[0], batch.last_piece
    begins = last.new_zeros(pieces).index_add(0, batch.first_piece, torch.ones_like(last))
    word = begins.cumsum(0) - 1
    ended = torch.arange(pieces, device=last.device) > last[word.clamp(min=0)]
    return torch.where((word < 0) | ended, words, word)


def _piece_counts(batch: Batch) -> Tensor:
    """(words,): how many pieces each word has."""
    return batch.last_piece - batch.first_piece + 1


@dataclass(frozen=True, slots=True)
class WordStates:
    """Encoder states of packed words."""

    start: Tensor
    """(words, width): the state of each word where it begins a span."""
    end: Tensor
    """(words, width): the state of each word where it ends a span."""
    anchor: Tensor
    """(windows, width): the state of the window's first special piece, such as [CLS]."""
    layers: tuple[Tensor, ...] = ()
    """(words, width) each: what the top blocks of the encoder read, lowest first; of as many blocks as the
    representation asks for."""
    piece_mean: Tensor | None = None
    """(words, width): the mean of the states of each word's pieces, where the representation asks for it."""
    piece_count: Tensor | None = None
    """(words, 1): how many pieces each word has; with the means."""
