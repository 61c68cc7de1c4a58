"""What auto-encoders of spans need beside the model: a vocabulary, word vectors and texts to learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from spanwright.arrays import Booleans, Integers
from spanwright.batches.batch import Array, Batch, Rewrites
from spanwright.batches.writer import (
    END,
    LONGEST,
    PAD,
    UNKNOWN,
    Vocabulary,
    Words,
    gold_spans,
    spans_of_golds,
)
from spanwright.errors import InputError
from spanwright.lexicons import read_lexicon
from spanwright.lexicons.synonyms import Synonyms
from spanwright.settings.auxiliaries import SpanVaeSettings
from spanwright.text import Document
from spanwright.training.data import Split
from spanwright.training.writer.word_vectors import read_word_vectors, vector_table

CORPUS = "corpus"
"""The source of synonyms that stands for the concept ids of the training corpus."""
Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """What to write from each gold span of the training split."""

    rewriting: Rewriting
    notes: tuple[str, ...] = ()
    """What a user should know before training."""

    def rewrites(self, batch: Batch[Array], draw: tuple[int, ...]) -> Rewrites[Array]:
        """The texts to learn from the gold spans of a batch."""
        spans, places = spans_of_golds(batch)
        document, first, last = places.T
        return Rewrites(spans, *self.rewriting.of(document, first, last, draw))


def prepare_writing(
    settings: SpanVaeSettings, train: Sequence[Document], split: Split, vocabulary: Vocabulary
) -> Writing:
    """Collect synonyms from the sources that settings name, and number all texts."""
    lexicons = [read_lexicon(source) for source in settings.synonyms if source != CORPUS]
    synonyms = Synonyms(train if CORPUS in settings.synonyms else (), lexicons)
    limit = settings.synonyms_per_mention
    rewriting = gold_rewrites(
        split, vocabulary, synonyms, synonyms_per_mention=None if limit == "all" else limit
    )
    notes = [line for lexicon in lexicons for line in lexicon.log.summary()]
    if settings.synonyms:
        notes.append(_coverage_note(rewriting))
    return Writing(rewriting, tuple(notes))


def word_vectors(settings: SpanVaeSettings, vocabulary: Vocabulary) -> Tensor | None:
    """(vocabulary, word size): first embeddings, with rows of NaN for words that the file lacks."""
    if settings.vectors is None:
        return None
    found, size = read_word_vectors(settings.vectors, vocabulary.entries)
    special = torch.full((len(vocabulary) - len(vocabulary.entries), size), float("nan"))
    return torch.cat([special, torch.from_numpy(vector_table(vocabulary.entries, found, size))])


def _coverage_note(rewriting: Rewriting) -> str:
    found = rewriting.coverage()
    return (
        f"synonyms: {found.spans_covered} of {found.spans} gold spans have some ({100 * found.share:.1f} %); "
        f"{100 * found.unknown_share:.1f} % of their words are not in the training texts"
    )


@dataclass(frozen=True, slots=True)
class RaggedRows:
    """Rows of different lengths in one flat array."""

    values: npt.NDArray[np.int32]
    offsets: Integers
    """(rows + 1,): where each row begins in `values`."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> RaggedRows:
        """Rows of numbers."""
        listed = list(rows)
        flat = (number for row in listed for number in row)
        return cls(np.fromiter(flat, np.int32), np.cumsum([0, *map(len, listed)], dtype=np.int64))

    @property
    def lengths(self) -> Integers:
        """(rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: Integers) -> tuple[Integers, Integers, Integers]:
        """The values of chosen rows, and for each the position of its row in the choice and its own there."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        row = np.repeat(np.arange(len(rows)), lengths)
        column = np.arange(len(row)) - (np.cumsum(lengths) - lengths)[row]
        return self.values[starts[row] + column].astype(np.int64), row, column


@dataclass(frozen=True, slots=True)
class SynonymCoverage:
    """How many gold spans have synonyms, and how much of these the vocabulary lacks."""

    spans: int
    spans_covered: int
    synonyms: int
    """Of all spans: a synonym of two spans counts twice."""
    words: int
    """Of these synonyms, as far as they are written."""
    words_unknown: int

    @property
    def share(self) -> float:
        """The share of gold spans that have synonyms."""
        return self.spans_covered / self.spans if self.spans else 0.0

    @property
    def unknown_share(self) -> float:
        """The share of unknown words among those of synonyms."""
        return self.words_unknown / self.words if self.words else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The counts and shares, for JSON."""
        return asdict(self) | {"share": self.share, "unknown_share": self.unknown_share}


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The texts to learn from each gold span of a split."""

    keys: Integers
    """(spans,): document, first and last word of each span as one number, ascending."""
    base: int
    """More than any position of a word: what `keys` count by."""
    own: Integers
    """(spans,): the text of each span's own words."""
    group: Integers
    """(spans,): the group of each span's synonyms."""
    groups: RaggedRows
    """The texts of each group; spans with the same synonyms share one."""
    texts: RaggedRows
    """The numbers of the words of each text, then `END`."""
    synonyms_per_mention: int | None
    """How many synonyms of a span are drawn for a batch; None takes all."""

    def of(
        self, document: Integers, first: Integers, last: Integers, draw: tuple[int, ...]
    ) -> tuple[Integers, Booleans, Integers]:
        """The columns `source`, `synonym` and `words` of `Rewrites` for the gold spans of a batch.

        `document`, `first` and `last` are (spans,), in words of the document. The own words of all spans come
        first, then the synonyms, or those of them that `draw` (seed, epoch and batch) decides on.
        """
        spans = self._find(document, first, last)
        synonyms, source, _ = self.groups.take(self.group[spans])
        if self.synonyms_per_mention is not None:
            kept = _drawn(source, self.synonyms_per_mention, draw)
            synonyms, source = synonyms[kept], source[kept]
        numbers, row, column = self.texts.take(np.concatenate([self.own[spans], synonyms]))
        rewrites = len(spans) + len(source)
        words = np.full((rewrites, column.max(initial=-1) + 1), PAD, dtype=np.int64)
        words[row, column] = numbers
        return np.concatenate([np.arange(len(spans)), source]), np.arange(rewrites) >= len(spans), words

    def coverage(self) -> SynonymCoverage:
        """How many gold spans have synonyms, and how many words of these are unknown."""
        texts, _, _ = self.groups.take(self.group)
        unknown = np.add.reduceat(self.texts.values == UNKNOWN, self.texts.offsets[:-1], dtype=np.int64)
        return SynonymCoverage(
            spans=len(self.keys),
            spans_covered=int((self.groups.lengths[self.group] > 0).sum()),
            synonyms=len(texts),
            words=int((self.texts.lengths[texts] - 1).sum()),
            words_unknown=int(unknown[texts].sum()),
        )

    def _find(self, document: Integers, first: Integers, last: Integers) -> Integers:
        """The positions of spans among the gold ones."""
        keys = (document * self.base + first) * self.base + last
        positions = np.searchsorted(self.keys, keys)
        absent = (np.append(self.keys, -1)[positions] != keys) | (last >= self.base)
        if absent.any():
            where = [int(column[absent][0]) for column in (document, first, last)]
            raise InputError(
                f"document {where[0]}: words {where[1]} to {where[2]} are not a gold span; expected the "
                f"{len(self.keys)} gold spans of the split that the rewriting was made for"
            )
        return positions


def gold_rewrites(
    split: Split,
    vocabulary: Vocabulary,
    synonyms: Synonyms,
    *,
    longest: int = LONGEST,
    synonyms_per_mention: int | None = None,
) -> Rewriting:
    """Number the texts to learn from the gold spans of a split; of longer ones the first words are kept."""
    texts: dict[Numbers, int] = {}
    groups: dict[Numbers, int] = {}

    def position(words: Words) -> int:
        return texts.setdefault((*vocabulary.numbers(words[:longest]), END), len(texts))

    base = max((len(prepared.words) for prepared in split.documents), default=0) + 1
    rows: list[tuple[int, int, int]] = []
    for span in gold_spans(split.documents, split.golds, vocabulary, synonyms):
        members = tuple(position(words) for words in span.synonyms)
        key = (span.document * base + span.first) * base + span.last
        rows.append((key, position(span.words), groups.setdefault(members, len(groups))))
    keys, own, group = np.asarray(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    return Rewriting(
        keys, base, own, group, RaggedRows.of(groups), RaggedRows.of(texts), synonyms_per_mention
    )


def _drawn(source: Integers, limit: int, draw: tuple[int, ...]) -> Integers:
    """Sorted positions of at most so many random entries of each source; sources are in order."""
    # Adding less than 1 shuffles the entries of each source among themselves.
    order = np.argsort(source + np.random.default_rng(draw).random(len(source)))
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    return np.sort(order[rank < limit])
