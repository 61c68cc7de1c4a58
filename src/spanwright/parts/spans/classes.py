"""The classes that a span can have: each corpus has one for no entity, and one for each of its types.

They stand corpus after corpus, no entity first. With one corpus, or with types that all corpora have in
common, this is the usual row of no entity and all types.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from spanwright.parts.batch import Batch
from spanwright.parts.part import Row

NEVER = -1e30
"""A logit whose probability is exactly 0. Not infinite, so that a target of 0 does not make it no number."""


class Classes(nn.Module):
    """Which class each type has, and which classes belong to which corpus."""

    none: Tensor
    """(corpora,): the class of spans that are no entity."""
    of_type: Tensor
    """(types,): the class of each type."""
    type_of: Tensor
    """(classes,): the type of each class; -1 for no entity."""
    foreign: Tensor
    """(corpora, classes): True where a class belongs to another corpus."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        for name, tensor in _tables(sizes).items():
            # The label space says it all: saved models need not repeat it.
            self.register_buffer(name, tensor, persistent=False)

    def __len__(self) -> int:
        return len(self.type_of)

    @property
    def rows(self) -> list[Row]:
        """What each class stands for: a type, or no entity of a corpus."""
        found: list[Row] = [("type", type_) for type_ in self.type_of.tolist()]
        for corpus, class_ in enumerate(self.none.tolist()):
            found[class_] = ("none", corpus)
        return found

    @property
    def several(self) -> bool:
        """Whether corpora have classes of their own."""
        return len(self.none) > 1

    def none_of_spans(self, batch: Batch) -> Tensor:
        """(spans,): the class of no entity in the corpus of each candidate."""
        if not self.several:
            return torch.zeros_like(batch.spans.first)
        return self.none[batch.corpus_of_span]

    def targets(self, batch: Batch) -> Tensor:
        """(spans,): the gold class of each candidate. Of several types on one span, the last is learnt."""
        targets = self.none_of_spans(batch)
        targets[batch.golds.span] = self.of_type[batch.golds.type]
        return targets

    def probabilities(self, batch: Batch) -> Tensor:
        """(spans, classes): the probability of each class where golds are not certain."""
        golds = batch.golds
        assert golds.probability is not None  # only soft targets ask for this
        targets = golds.probability.new_zeros(len(batch.spans), len(self))
        targets[golds.span, self.of_type[golds.type]] = golds.probability
        return self.completed(targets, batch)

    def completed(self, targets: Tensor, batch: Batch) -> Tensor:
        """(spans, classes): probabilities of types, and no entity has the rest; types above 1 share 1."""
        targets = targets / targets.sum(dim=1, keepdim=True).clamp(min=1)
        rest = 1 - targets.sum(dim=1, keepdim=True)
        return targets.scatter(1, self.none_of_spans(batch)[:, None], rest)

    def masked(self, logits: Tensor, batch: Batch) -> Tensor:
        """(spans, classes): logits that give the classes of other corpora a probability of exactly 0."""
        if not self.several:
            return logits
        return logits.masked_fill(self.foreign[batch.corpus_of_span], NEVER)


def _tables(sizes: Sequence[int]) -> dict[str, Tensor]:
    """The tensors of `Classes` by name; numbers also where a network is only planned, without memory."""
    with torch.device("cpu"):
        corpus = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes) + 1)
        none = torch.tensor([0, *sizes[:-1]]).cumsum(0) + torch.arange(len(sizes))
        is_type = torch.ones(len(corpus), dtype=torch.bool).index_fill(0, none, False)
        return {
            "none": none,
            "of_type": is_type.nonzero().squeeze(1),
            "type_of": torch.where(is_type, is_type.cumsum(0) - 1, -1),
            "foreign": corpus != torch.arange(len(sizes))[:, None],
        }


class OwnTypes(nn.Module):
    """Which types belong to which corpus, for parts that judge each type on its own."""

    mask: Tensor
    """(corpora, types): True where a type belongs to the corpus."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        with torch.device("cpu"):  # numbers also where a network is only planned, without memory
            corpus = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
            mask = corpus == torch.arange(len(sizes))[:, None]
        self.register_buffer("mask", mask, persistent=False)

    def of_windows(self, batch: Batch) -> Tensor | None:
        """(windows, types): True at the types of each window's corpus; None where all have the same types."""
        return self.mask[batch.corpus] if len(self.mask) > 1 else None
