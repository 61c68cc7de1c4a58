"""What auto-encoders of spans need beside the model: a vocabulary, word vectors and texts to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from spanwright.batches.batch import Array, Batch, Rewrites
from spanwright.batches.writer.gold_spans import spans_of_golds
from spanwright.batches.writer.vocabulary import Vocabulary
from spanwright.lexicons import read_lexicon
from spanwright.lexicons.synonyms import Synonyms
from spanwright.settings.auxiliaries import SpanVaeSettings
from spanwright.text import Document
from spanwright.training.data import Split
from spanwright.training.writer.rewriting import Rewriting, gold_rewrites
from spanwright.training.writer.word_vectors import read_word_vectors, vector_table

CORPUS = "corpus"
"""The source of synonyms that stands for the concept ids of the training corpus."""


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
