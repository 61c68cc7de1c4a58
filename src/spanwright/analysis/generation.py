"""What the auto-encoders of a model write from the spans of entities: their words again, and a synonym.

Texts are written greedily from the means of posteriors, so they are the same every time. Joint-IB (Nguyen et
al., 2023, section 5.3) judges those of gold spans by BLEU of order 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from spanwright.arrays import Integers
from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Array, Batch
from spanwright.batches.prepare import PreparedDocument, gold_words
from spanwright.batches.writer import (
    LONGEST,
    GoldSpan,
    SynonymSource,
    Vocabulary,
    Words,
    gold_spans,
    spans_of_golds,
)
from spanwright.errors import InputError
from spanwright.evaluation import corpus_bleu
from spanwright.lexicons.synonyms import Synonyms
from spanwright.parts.batch import to_tensors
from spanwright.parts.beside.writer.auto_encoders import SpanVae
from spanwright.predicting.tagger import Tagger
from spanwright.settings.auxiliaries import SYNONYMS
from spanwright.text import Document

_ORDER = 2
"""Of the n-grams that BLEU counts."""
SpanPlace = tuple[int, ...]
"""Document, first and last word of a span."""


@dataclass(frozen=True, slots=True)
class WrittenSpan:
    """A span, and what a model writes of it."""

    document: str
    """The id of its document."""
    start: int
    end: int
    """Its characters there, half open."""
    text: str
    types: tuple[str, ...]
    """The types of its entities."""
    span: GoldSpan
    """Its words and those of its synonyms."""
    reconstruction: Words
    """Its words as the model writes them."""
    synonym: Words | None
    """A synonym that the model makes up; None where it learnt none."""


@dataclass(frozen=True, slots=True)
class WritingScores:
    """How good written texts are, compared with references."""

    bleu: float
    """Of order 2, over all texts."""
    empty: int
    """Texts without a word."""
    words: int
    """Words of the references."""
    words_unknown: int
    """Those that are not in the model's vocabulary, so that it cannot write them."""

    @property
    def unknown_share(self) -> float:
        """The share of unknown words among those of references."""
        return self.words_unknown / self.words if self.words else 0.0


@dataclass(frozen=True, slots=True)
class GenerationScores:
    """How well a model writes the words of spans and their synonyms."""

    spans: int
    one_word: int
    """Spans of one word, in which BLEU finds no pair of words."""
    with_synonyms: int
    """Spans that have synonyms; for the others their own words are what a synonym is compared with."""
    reconstruction: WritingScores
    synonyms: WritingScores | None
    """None where the model learnt no synonyms, or no span has any."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        values = asdict(self)
        for name in ("reconstruction", "synonyms"):
            scores = getattr(self, name)
            values[name] = scores and {**values[name], "unknown_share": scores.unknown_share}
        return values


def writes_synonyms(model: TrainedModel) -> bool:
    """Whether the auto-encoders of a model learnt synonyms."""
    return SYNONYMS in _writer(model).names


def rewritten(
    model: TrainedModel, documents: Sequence[Document], synonyms: SynonymSource | None = None
) -> list[WrittenSpan]:
    """Write again the spans of the entities that documents have, in order, whoever has put them there.

    Entities that are no candidate span of the model (too wide, cutting a word, of a type it does not know)
    are left out. `synonyms` says what synonyms are compared with.
    """
    prepared = Tagger(model).prepare(documents)
    golds = [gold_words(item, model.labels).rows for item in prepared]
    written = _write(model, prepared, golds)
    found = []
    for span in gold_spans(prepared, golds, model.vocabulary, synonyms or Synonyms()):
        texts = written.get((span.document, span.first, span.last))
        if texts is not None:
            types = _types(model, golds[span.document], span)
            found.append(_placed(prepared[span.document], span, types, texts))
    return found


def left_out(documents: Sequence[Document], written: Sequence[WrittenSpan]) -> int:
    """How many spans of entities were not written again."""
    return sum(len({entity.ranges for entity in document.entities}) for document in documents) - len(written)


def score_written(written: Sequence[WrittenSpan], vocabulary: Vocabulary) -> GenerationScores:
    """BLEU and counts of what was written from gold spans."""
    if not written:
        raise InputError(
            "no entity to write; expected documents with entities that are candidate spans of the model"
        )
    covered = sum(bool(each.span.synonyms) for each in written)
    synonyms = [each.synonym for each in written if each.synonym is not None]
    return GenerationScores(
        spans=len(written),
        one_word=sum(len(each.span.words) == 1 for each in written),
        with_synonyms=covered,
        reconstruction=_scores(
            [each.reconstruction for each in written], [(each.span.words,) for each in written], vocabulary
        ),
        synonyms=_scores(synonyms, [each.span.synonym_references for each in written], vocabulary)
        if covered and synonyms
        else None,
    )


def _scores(
    texts: Sequence[Words], references: Sequence[tuple[Words, ...]], vocabulary: Vocabulary
) -> WritingScores:
    words = [word for own in references for reference in own for word in reference]
    return WritingScores(
        bleu=corpus_bleu(texts, references, _ORDER),
        empty=sum(not text for text in texts),
        words=len(words),
        words_unknown=sum(word not in vocabulary for word in words),
    )


def _writer(model: TrainedModel) -> SpanVae:
    if model.network.writer is None:
        raise InputError(
            "the model has no auto-encoders to write with; expected models that were trained with them and "
            "kept them: spanwright train joint-ib ... --set auxiliaries.span_vae.keep=true"
        )
    return model.network.writer


@torch.inference_mode()
def _write(
    model: TrainedModel, prepared: Sequence[PreparedDocument], golds: Sequence[Integers]
) -> dict[SpanPlace, list[Words]]:
    """The reconstruction and, where the model learnt some, the synonym of each candidate among the golds."""
    kinds = (False, True) if writes_synonyms(model) else (False,)
    written: dict[SpanPlace, list[Words]] = {}
    for batch in Tagger(model).batches(prepared, golds):
        if len(batch.golds.span):
            places, numbers = _numbers(model, batch, kinds)
            texts = [[tuple(model.vocabulary.words(row)) for row in rows] for rows in numbers]
            written |= {tuple(place): list(own) for place, *own in zip(places, *texts, strict=True)}
    return written


def _numbers(
    model: TrainedModel, batch: Batch[Array], kinds: Sequence[bool]
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """(spans, 3) and (kinds, spans, longest): places of golds, and the numbers of words written from them."""
    network, writer = model.network, _writer(model)
    spans, places = spans_of_golds(batch)
    states = network.encoder(to_tensors(batch, network.device))
    evidence = network.evidence(states, to_tensors(spans, network.device))
    written = [writer.rewrite(evidence, synonym=synonym, longest=LONGEST).tolist() for synonym in kinds]
    return places.tolist(), written


def _types(model: TrainedModel, rows: Integers, span: GoldSpan) -> tuple[str, ...]:
    same = (rows[:, 0] == span.first) & (rows[:, 1] == span.last)
    return tuple(model.labels.types[type_] for type_ in rows[same, 2].tolist())


def _placed(
    prepared: PreparedDocument, span: GoldSpan, types: tuple[str, ...], texts: Sequence[Words]
) -> WrittenSpan:
    start, end = int(prepared.words[span.first, 0]), int(prepared.words[span.last, 1])
    return WrittenSpan(
        document=prepared.document.id,
        start=start,
        end=end,
        text=prepared.document.text[start:end],
        types=types,
        span=span,
        reconstruction=texts[0],
        synonym=texts[1] if len(texts) > 1 else None,
    )
