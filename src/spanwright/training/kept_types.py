"""Types that a training goes on with, though nobody has annotated them in its documents.

What the model that the training starts from finds of them is learnt: in training documents each entity with
the probability that the network gives it, in dev documents as if it were annotated, so that the model which
is chosen knows both the new types and the old ones. Test documents stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from spanwright.artifact import TrainedModel
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document
from spanwright.training.confidence import uncalibrated
from spanwright.training.selection import Documents, TrainingData
from spanwright.training.start import same_name


def kept_types(start: TrainedModel, train: Documents) -> tuple[str, ...]:
    """The types that a model answers with and documents do not annotate, however they are written."""
    annotated = {entity.type for document in train for entity in document.entities}
    return tuple(
        name for name in start.labels.types_of(0) if not any(same_name(name, own) for own in annotated)
    )


def with_kept_types(
    data: TrainingData, start: TrainedModel, kept: Collection[str], *, soft: bool
) -> TrainingData:
    """The data with what the old model finds of the kept types in training and dev documents.

    Unless targets are soft anyway, the annotation is certain, whatever confidences stand in it.
    """
    # Probabilities of the network: after a calibration on dev, they would be those of other texts.
    tagger = Tagger(uncalibrated(start), corpus=start.labels.corpora[0] if start.labels.corpora else None)
    train = data.train if soft else [*map(_certain, data.train)]
    dev = data.evaluation["dev"]
    return replace(
        data,
        train=_with_found(train, tagger.tag(iter(train)), kept),
        evaluation={**data.evaluation, "dev": _with_found(dev, map(_certain, tagger.tag(iter(dev))), kept)},
    )


def _certain(document: Document) -> Document:
    return document.with_entities(tuple(replace(entity, confidence=None) for entity in document.entities))


def _with_found(documents: Documents, found: Iterable[Document], kept: Collection[str]) -> list[Document]:
    """Documents with those of the entities found that are of kept types, where nobody has annotated one."""
    made = []
    for document, other in zip(documents, found, strict=True):
        annotated = {entity.ranges for entity in document.entities}
        more = (each for each in other.entities if each.type in kept and each.ranges not in annotated)
        made.append(document.with_entities((*document.entities, *more)))
    return made
