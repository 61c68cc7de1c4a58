"""The word tagger of Bundling Learning (Ji et al.): BIO tags beside the span scorer, on the same encoder.

Tags say one layer of entities. Tag 0 is O; type t has the tags 1 + 2t (B, its first word) and 2 + 2t (I, a
further word). Entities of any width can be tagged.

- `softmax` judges each word alone: cross entropy of the words.
- `crf` judges the path of tags through a window: its negative log likelihood.

Either answers with its likeliest legal path, in which I follows only B or I of its type.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.batch import Batch, Mentions, window_of_word
from spanwright.parts.beside.crf import LinearChain, best_paths
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import pad, word_mask
from spanwright.parts.part import Part, Role, Row, Rows
from spanwright.parts.spans.classes import NEVER, OwnTypes
from spanwright.parts.spans.predictions import Predictions
from spanwright.settings.auxiliaries import TAGS, TaggerSettings


class WordTagger(Part):
    """`W dropout(state) + b` for every word, read as tags."""

    role: ClassVar[Role | None] = "auxiliary"

    def __init__(self, settings: TaggerSettings, *, state_width: int, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus; one number where all have the same types."""
        super().__init__()
        tags = 1 + 2 * sum(sizes)
        self.own = OwnTypes(sizes)
        self.dropout = nn.Dropout(settings.dropout)
        self.projection = nn.Linear(state_width, tags)
        self.rule: _WordByWord | _Path = _WordByWord() if settings.kind == "softmax" else _Path(tags)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {TAGS}

    def named_rows(self) -> Rows:
        """One row for each tag; with a CRF also its borders, and rows and columns of its moves."""
        tags: list[Row] = [("outside", 0)]
        for type_ in range(self.own.mask.shape[1]):
            tags += [("begin", type_), ("inside", type_)]
        chain = {"start": (tags,), "end": (tags,), "transitions": (tags, tags)}
        of_rule = {f"rule.chain.{name}": axes for name, axes in chain.items()}
        own: Rows = {"projection.weight": (tags,), "projection.bias": (tags,)}
        return own | of_rule if isinstance(self.rule, _Path) else own

    def forward(self, states: WordStates) -> Tensor:
        """(words, tags): emissions of packed words."""
        emissions: Tensor = self.projection(self.dropout(states.start))
        return emissions

    def loss(self, emissions: Tensor, batch: Batch) -> Tensor:
        """Softmax: mean cross entropy of the words. CRF: mean negative log likelihood of the windows."""
        targets = painted(batch.mentions, len(emissions))
        return self.rule.loss(self._masked(emissions, batch), targets, batch.word_counts)

    def predict(self, emissions: Tensor, batch: Batch) -> Predictions:
        """The tagged entities that their window owns; confidence is the mean probability of their tags."""
        tags, probabilities = self.rule.choose(self._masked(emissions, batch), batch.word_counts)
        first, last = entity_ends(tags, batch.word_counts)
        window = window_of_word(batch)[first]
        # Entities cover every word that is not O, so what is left of the row is entity after entity.
        confidence = _means(probabilities[~_is_outside(tags)], last - first + 1)
        owned = batch.owns(window, first, last)
        first, confidence = first[owned], confidence[owned]
        return Predictions(
            window[owned], first, last[owned], _types(tags[first]), confidence, rank=confidence
        )

    def _masked(self, emissions: Tensor, batch: Batch) -> Tensor:
        """(words, tags): emissions that give the tags of other corpora a probability of exactly 0."""
        own = self.own.of_windows(batch)
        if own is None:
            return emissions
        # O belongs to all corpora, and each type has two tags.
        tags = torch.cat([own.new_ones(len(own), 1), own.repeat_interleave(2, dim=1)], dim=1)
        return emissions.masked_fill(~tags[window_of_word(batch)], NEVER)


class _WordByWord(nn.Module):
    """Each word has its own distribution over tags."""

    def loss(self, emissions: Tensor, targets: Tensor, word_counts: Tensor) -> Tensor:
        total = functional.cross_entropy(emissions, targets, reduction="sum")
        return total / max(1, len(targets))

    def choose(self, emissions: Tensor, word_counts: Tensor) -> tuple[Tensor, Tensor]:
        """(words,) each: the tag of each packed word on the best legal path, and its probability."""
        scores = emissions.log_softmax(1)
        tags = scores.argmax(1)
        if not _all_legal(tags, word_counts):
            mask = word_mask(word_counts)
            free, moves = (legal.float().log() for legal in legal_moves(scores.shape[1], scores.device))
            paths, _ = best_paths(pad(scores, mask), mask, free, moves, torch.zeros_like(free))
            tags = paths[mask]
        return tags, scores.gather(1, tags[:, None]).squeeze(1).exp()


class _Path(nn.Module):
    """Each window has a distribution over paths of tags."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.chain = LinearChain(tags)

    def loss(self, emissions: Tensor, targets: Tensor, word_counts: Tensor) -> Tensor:
        mask = word_mask(word_counts)
        likelihood = self.chain.log_likelihood(pad(emissions, mask), pad(targets, mask), mask)
        return -likelihood.sum() / max(1, len(word_counts))

    def choose(self, emissions: Tensor, word_counts: Tensor) -> tuple[Tensor, Tensor]:
        """(words,) each: the tag of each packed word on the best legal path, and its marginal probability."""
        mask = word_mask(word_counts)
        padded = pad(emissions, mask)
        allowed_start, allowed = legal_moves(emissions.shape[1], emissions.device)
        paths, _ = self.chain.viterbi(padded, mask, allowed_start, allowed)
        tags = paths[mask]
        marginals = self.chain.marginals(padded, mask)[mask]
        return tags, marginals.gather(1, tags[:, None]).squeeze(1)


def painted(mentions: Mentions, words: int) -> Tensor:
    """(words,): the gold tag of each packed word, from the outermost mentions.

    A mention whose beginning the window cuts off begins with I, as its first visible word is a further word.
    """
    first, last = mentions.first[mentions.outermost], mentions.last[mentions.outermost]
    further = 2 + 2 * mentions.type[mentions.outermost]
    # Outermost mentions share no word: switch a tag on where one begins, and off behind its end.
    switches = further.new_zeros(words + 1).index_add_(0, first, further).index_add_(0, last + 1, -further)
    tags = switches[:-1].cumsum(0)
    tags[first[mentions.starts[mentions.outermost]]] -= 1
    return tags


def legal_moves(tags: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Masks of the tags that may begin a window (tags,) and of legal moves from tag to tag (tags, tags)."""
    every = torch.arange(tags, device=device)
    free = _is_outside(every) | _is_begin(every)
    types = _types(every)
    return free, free | (types[:, None] == types)


def _all_legal(tags: Tensor, word_counts: Tensor) -> bool:
    """Whether no I stands where it continues nothing; then the best tags are the best legal path."""
    first, _ = entity_ends(tags, word_counts)
    return bool(_is_begin(tags[first]).all())


def entity_ends(tags: Tensor, word_counts: Tensor) -> tuple[Tensor, Tensor]:
    """(entities,) each: packed first and last words of the entities that tags (words,) say, in order.

    The label combiner: B begins an entity, and so does an I that cannot continue the entity before it, since
    there is none, it has another type or it stands in another window.
    """
    types = _types(tags)
    before = types.roll(1)
    window_starts = (word_counts.cumsum(0) - word_counts)[word_counts > 0]
    before[window_starts] = -1
    outside = _is_outside(tags)
    begins = ~outside & (_is_begin(tags) | (types != before))
    # An entity ends where the next word does not continue it; behind the last word stands the first, which
    # continues nothing.
    ends = ~outside & (begins | outside).roll(-1)
    return begins.nonzero().squeeze(1), ends.nonzero().squeeze(1)


def _is_outside(tags: Tensor) -> Tensor:
    return tags == 0


def _is_begin(tags: Tensor) -> Tensor:
    return tags % 2 == 1


def _types(tags: Tensor) -> Tensor:
    """The type id of each tag; -1 for O."""
    return (tags - 1).div(2, rounding_mode="floor")


def _means(values: Tensor, widths: Tensor) -> Tensor:
    """(runs,): means over runs of values; the widths of the runs say where each ends."""
    run = torch.arange(len(widths), device=widths.device).repeat_interleave(widths)
    return values.new_zeros(len(widths)).index_add_(0, run, values) / widths
