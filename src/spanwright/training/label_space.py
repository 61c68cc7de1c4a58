"""The label space of a run: the types of the training documents, and what a model reads about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from spanwright.descriptions import check_used, describe, description_names, read_descriptions, undescribed
from spanwright.labels import LabelSpace, Prototype
from spanwright.settings import Settings
from spanwright.settings.scorers import BiEncoderSettings
from spanwright.text import Document, sentences
from spanwright.training.corpora import shared_types
from spanwright.training.selection import TrainingData

_PROTOTYPES = 200
"""Instances of each type that training draws from."""
_CONTEXT = 120
"""Characters of context that an instance keeps on each side, within its sentence."""


def label_space(
    settings: Settings, data: TrainingData, kept: Sequence[str] = ()
) -> tuple[LabelSpace, list[str]]:
    """The label space that the settings ask for, with the kept types, and notes for the user."""
    train, labels = data.train, _types(settings, data, kept)
    if not isinstance(settings.scorer, BiEncoderSettings) or settings.scorer.types == "atomic":
        return labels, []
    if settings.scorer.types == "prototypes":
        drawn = draw_prototypes(train, labels, seed=settings.training.seed)
        return replace(labels, prototypes=drawn), []
    source = settings.labels.descriptions
    given = read_descriptions(source) if source is not None else {}
    if source is not None and source not in description_names():
        check_used(labels.types, given, source)
    described = describe(labels.types, given)
    guidelines = settings.scorer.types == "guidelines"
    texts = [described[name].guideline if guidelines else described[name].keyword for name in labels.types]
    return replace(labels, descriptions=tuple(texts)), _notes(undescribed(labels.types, given))


def _types(settings: Settings, data: TrainingData, kept: Sequence[str]) -> LabelSpace:
    """The types of the training documents; with several corpora, those of each apart or the shared ones."""
    if settings.corpora is None or settings.corpora.labels == "shared":
        found = LabelSpace.of(data.train).types
        return LabelSpace(tuple(sorted({*found, *kept})), corpora=data.corpora)
    return shared_types(LabelSpace.of(data.train, data.corpora), data.label_map)


def _notes(undescribed_types: list[str]) -> list[str]:
    if not undescribed_types:
        return []
    named = ", ".join(undescribed_types)
    return [
        f"types without a description, read by their names in words: {named}; "
        f"give texts with --descriptions FILE"
    ]


def draw_prototypes(
    documents: Sequence[Document], labels: LabelSpace, *, seed: int
) -> tuple[tuple[Prototype, ...], ...]:
    """Training mentions of each type in their sentences, in an order that the seed decides."""
    places: list[list[tuple[int, int]]] = [[] for _ in labels.types]
    for number, document in enumerate(documents):
        for position, entity in enumerate(document.entities):
            type_ = labels.find(entity.type, labels.corpus_id(document.corpus))
            assert type_ is not None  # the label space has all types of these documents
            places[type_].append((number, position))
    generator = np.random.default_rng(seed)
    return tuple(
        tuple(_prototype(documents[own[drawn][0]], own[drawn][1]) for drawn in order[:_PROTOTYPES])
        for own in places
        for order in (generator.permutation(len(own)),)
    )


def _prototype(document: Document, position: int) -> Prototype:
    """One entity with the text around it, within its sentence."""
    entity = document.entities[position]
    starts = [0, *(start for start, _ in sentences(document)), len(document.text)]
    first = max((start for start in starts if start <= entity.start), default=0)
    sentence_end = next((end for _, end in pairwise(starts) if end >= entity.end), len(document.text))
    before = document.text[max(first, entity.start - _CONTEXT) : entity.start]
    after = document.text[entity.end : min(sentence_end, entity.end + _CONTEXT)]
    return before, document.text[entity.start : entity.end], after
