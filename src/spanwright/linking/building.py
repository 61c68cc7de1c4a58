"""From a lexicon to a linker."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanwright.errors import InputError
from spanwright.lexicons import Lexicon
from spanwright.linking.concepts import SameConcepts, check_names, gather
from spanwright.linking.confidence import Confidence, features, fit
from spanwright.linking.index import NameIndex
from spanwright.linking.linker import ANY_TYPE, Linker, Stages
from spanwright.text import Document

STEPS = 600
"""Of the training of an encoder of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """How the bi-encoder of names is trained."""

    name: str = "minilm"
    """A short name, a folder or a Hugging Face model id."""
    steps: int = STEPS
    """0 takes the pretrained encoder as it is."""
    batch: int = 512
    """Concepts in a step, each with two names."""
    rate: float = 1e-3
    seed: int = 0


def build_linker(
    lexicon: Lexicon,
    *,
    documents: Iterable[Document] = (),
    encoder: EncoderOptions | None = None,
    minimum_confidence: float = 0.0,
    stages: Stages | None = None,
    tell: Callable[[int, float], None] = lambda step, loss: None,
) -> Linker:
    """A linker to the concepts of a lexicon, which also knows the mentions of annotated documents.

    With `encoder`, similar names are searched for by vectors, too; `tell` hears of each step of its training.
    """
    annotated = list(documents)
    check_names(lexicon, annotated)
    types = dict.fromkeys(term.type for term in lexicon.terms()) or (None,)
    named = {type_ or ANY_TYPE: gather(lexicon, annotated, type=type_) for type_ in types}
    indexes = {type_: NameIndex(names) for type_, names in named.items()}
    if encoder is not None:
        _add_vectors(indexes, encoder, tell)
    return Linker(
        indexes,
        SameConcepts(lexicon.terms()),
        Confidence(),
        minimum_confidence=minimum_confidence,
        stages=stages or Stages(),
        digest=digest_of(lexicon, annotated),
    )


def _add_vectors(
    indexes: Mapping[str, NameIndex], options: EncoderOptions, tell: Callable[[int, float], None]
) -> None:
    """Give indexes the vectors of their names, of one encoder."""
    from spanwright.linking.encoder import NameEncoder
    from spanwright.linking.learning import train_encoder
    from spanwright.linking.vectors import NameVectors, distinct_names

    encoder = NameEncoder.pretrained(options.name)
    groups = [distinct_names(index.named.names, index.named.keys) for index in indexes.values()]
    read = [encoder.read(names) for names, _ in groups]
    if options.steps:
        sources = [
            (index, own[vector_of])
            for index, own, (_, vector_of) in zip(indexes.values(), read, groups, strict=True)
        ]
        train_encoder(encoder, sources, options, tell)
    for index, own, (_, vector_of) in zip(indexes.values(), read, groups, strict=True):
        index.vectors = NameVectors.of(encoder.mapped(own), vector_of, encoder)


def calibrated(linker: Linker, documents: Sequence[Document]) -> Linker:
    """The linker with confidences that fit annotated documents, which it must not have learnt names from."""
    rows, right = [], []
    for document, links in linker.links(documents):
        for entity, link in zip(document.entities, links, strict=True):
            if entity.concepts and link.candidates:
                rows.append(features(link.candidates, link.stage))
                best = linker.same.all(link.candidates[0].concepts)
                right.append(best == linker.same.all(entity.concepts))
    if not rows:
        raise InputError(
            "the documents to calibrate on have no entity with a concept that has a candidate; expected a "
            "corpus with concept ids of the lexicon"
        )
    return linker.with_confidence(fit(np.array(rows), np.array(right, dtype=np.float64)))


def digest_of(lexicon: Lexicon, documents: Iterable[Document]) -> str:
    """What tells a lexicon, with the annotated documents, from any other."""
    found = hashlib.sha256()
    for term in lexicon.terms():
        found.update("\t".join((term.type or "", "|".join(term.ids), *term.names, "\n")).encode())
    for document in documents:
        for entity in document.entities:
            line = (entity.type, "|".join(entity.concepts), document.mention(entity), "\n")
            found.update("\t".join(line).encode())
    return found.hexdigest()
