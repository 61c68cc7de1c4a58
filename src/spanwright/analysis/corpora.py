"""How a model of several corpora sees their labels: those of one meaning near to each other, or not.

Two kinds of vectors show it (CVAE-NER, Figures 3 and 4): the conditions that a conditional auto-encoder has
learnt for the labels of each corpus, and the vectors of entities. What a label means is its shared type by
the label map of the model; a type that has none means something of its own. Without a map, types of the same
name mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spanwright.analysis.projections import check_packages, neighbour_layout
from spanwright.analysis.spans import NO_ENTITY, collect_spans, unit_vectors
from spanwright.arrays import Floats32, Integers
from spanwright.artifact import TrainedModel
from spanwright.errors import InputError
from spanwright.parts.beside.conditional import condition_table, shared_rows
from spanwright.parts.spans.classes import Classes
from spanwright.text import Document


@dataclass(frozen=True, slots=True, eq=False)
class CorpusLabels:
    """The labels of all corpora of a model in a row, corpus after corpus, each after its `NO_ENTITY`."""

    corpora: tuple[str, ...]
    names: tuple[str, ...]
    """The name of each label in its corpus."""
    corpus: Integers
    """(labels,): the position of its corpus."""
    meaning: Integers
    """(labels,): the position of its meaning; a number of its own beyond them if it has no shared type."""
    meanings: tuple[str, ...]
    """`NO_ENTITY` and the shared types; without a label map, the names of all types."""
    of_type: Integers
    """(types,): the label of each type of the model."""
    mapped: bool
    """Whether a label map says what labels mean."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """Mean cosines of pairs of vectors; None where there is no pair."""

    same: float | None
    """Of one meaning, from different corpora."""
    different: float | None
    """Of different meanings, from any corpora."""
    different_across: float | None
    """Of different meanings, from different corpora."""
    by_meaning: dict[str, float]
    """`same` of each meaning that two corpora have."""


@dataclass(frozen=True, slots=True, eq=False)
class CorpusVectors:
    """Vectors that each have a label of a corpus, and where they lie in a plane."""

    vectors: Floats32
    """(vectors, size)."""
    corpus: Integers
    """(vectors,): the position of the corpus."""
    label: Integers
    """(vectors,): the position among the labels of all corpora."""
    layout: Floats32
    """(vectors, 2): a plane in which near vectors stay near."""
    nearness: Nearness


@dataclass(frozen=True, slots=True, eq=False)
class CorporaInspection:
    """What a model makes of the labels and the entities of its corpora."""

    labels: CorpusLabels
    seed: int
    conditions: CorpusVectors | None
    """One vector for each label; None for a model without."""
    conditions_before: Nearness | None
    """Of the conditions before training; None where they began as random numbers."""
    entities: CorpusVectors | None
    """None where no documents were given."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON, without vectors and points."""
        conditions, before, entities = self.conditions, self.conditions_before, self.entities
        return {
            "seed": self.seed,
            "corpora": list(self.labels.corpora),
            "meanings": list(self.labels.meanings),
            "label_map": self.labels.mapped,
            "conditions": conditions
            and {
                "labels": len(conditions.label),
                "before": before and asdict(before),
                "after": asdict(conditions.nearness),
            },
            "entities": entities and {"count": self.entity_counts(), "cosines": asdict(entities.nearness)},
        }

    def entity_counts(self) -> dict[str, int]:
        """How many entities of each corpus were looked at."""
        if self.entities is None:
            return {}
        counts = np.bincount(self.entities.corpus, minlength=len(self.labels.corpora)).tolist()
        return dict(zip(self.labels.corpora, counts, strict=True))


def inspect_corpora(
    model: TrainedModel, documents: Sequence[Document] = (), *, spans: int = 300, seed: int = 0
) -> CorporaInspection:
    """Look at the conditions of a model, if it kept them, and at up to `spans` gold entities of each corpus.

    The documents say of which corpus they are.
    """
    check_packages()
    labels = corpus_labels(model)
    reason = lack_of_conditions(model)
    if reason is not None and not documents:
        raise InputError(
            f"there is nothing to look at: {reason}; give documents with gold entities (--corpora FILE)"
        )
    return CorporaInspection(
        labels=labels,
        seed=seed,
        conditions=None if reason is not None else _conditions(model, labels, seed),
        conditions_before=None if reason is not None else _conditions_before(model, labels),
        entities=_entities(model, labels, documents, spans, seed) if documents else None,
    )


def corpus_labels(model: TrainedModel) -> CorpusLabels:
    """The labels of a model that was trained on several corpora; others are refused."""
    known = model.labels
    if len(known.corpora) < 2:
        raise InputError(
            "the model does not tell corpora apart; expected models that were trained on several together: "
            "spanwright train cvae --corpora FILE"
        )
    classes, given = Classes(known.sizes), known.shared or known.types
    shared, count = shared_rows(known.sizes, given)
    types = classes.type_of.tolist()
    meant = {label: given[type_] for label, type_ in zip(shared, types, strict=True) if type_ >= 0}
    return CorpusLabels(
        corpora=known.corpora,
        names=tuple(known.types[type_] if type_ >= 0 else NO_ENTITY for type_ in types),
        corpus=(~classes.foreign).long().argmax(dim=0).numpy(),
        meaning=np.array([count + row if label is None else label for row, label in enumerate(shared)]),
        meanings=(NO_ENTITY, *(meant[label] for label in range(1, count))),
        of_type=classes.of_type.numpy(),
        mapped=bool(known.shared),
    )


def lack_of_conditions(model: TrainedModel) -> str | None:
    """Why a model has no conditions of the labels of corpora to look at; None if it has them."""
    if model.network.spans is None or model.network.spans.conditioned is None:
        return (
            "the model has no conditional auto-encoder (models keep theirs with "
            "--set auxiliaries.cvae.keep=true)"
        )
    if not model.labels.corpus:
        return "the corpora of the model have their types in common, so that no label belongs to a corpus"
    return None


def _conditions(model: TrainedModel, labels: CorpusLabels, seed: int) -> CorpusVectors:
    assert model.network.spans is not None and model.network.spans.conditioned is not None
    table = model.network.spans.conditioned.cvae.condition.weight.detach().float().cpu().numpy()
    return _laid_out(table, labels.corpus, np.arange(len(labels.names)), labels, seed)


def _conditions_before(model: TrainedModel, labels: CorpusLabels) -> Nearness | None:
    """Of the table that training began with, made a second time; random numbers are not to be had again."""
    settings, known = model.settings.auxiliaries.cvae, model.labels
    assert settings is not None
    if settings.condition == "random":
        return None
    table = condition_table(settings.condition, *shared_rows(known.sizes, known.shared or known.types))
    return nearness(table.numpy(), labels.corpus, labels.meaning, labels.meanings)


def _entities(
    model: TrainedModel, labels: CorpusLabels, documents: Sequence[Document], spans: int, seed: int
) -> CorpusVectors:
    """The vectors of up to `spans` gold entities of each corpus that documents are of."""
    by_corpus: dict[str, list[Document]] = {name: [] for name in labels.corpora}
    for document in documents:
        if document.corpus not in by_corpus:
            raise InputError(
                f"document {document.id!r} is of the corpus {document.corpus!r}; expected those of the "
                f"model: {', '.join(labels.corpora)}"
            )
        by_corpus[document.corpus].append(document)
    found = [
        (*_vectors(model, name, own, spans, seed), position)
        for position, (name, own) in enumerate(by_corpus.items())
        if own
    ]
    corpus = np.concatenate([np.full(len(types), position) for _, types, position in found])
    types = np.concatenate([types for _, types, _ in found])
    vectors = np.concatenate([vectors for vectors, _, _ in found])
    return _laid_out(vectors, corpus, labels.of_type[types], labels, seed)


def _vectors(
    model: TrainedModel, corpus: str, documents: Sequence[Document], spans: int, seed: int
) -> tuple[Floats32, Integers]:
    """(entities, size) and (entities,): vectors and types of gold entities of one corpus."""
    try:
        sample = collect_spans(model, documents, spans=spans, seed=seed)
    except InputError as error:
        raise InputError(f"corpus {corpus!r}: {error}") from None
    return sample.vectors[sample.is_entity], sample.type[sample.is_entity]


def _laid_out(
    vectors: Floats32, corpus: Integers, label: Integers, labels: CorpusLabels, seed: int
) -> CorpusVectors:
    found = nearness(vectors, corpus, labels.meaning[label], labels.meanings)
    return CorpusVectors(vectors, corpus, label, neighbour_layout(vectors, seed), found)


def nearness(vectors: Floats32, corpus: Integers, meaning: Integers, meanings: Sequence[str]) -> Nearness:
    """Mean cosines of vectors (vectors, size), by their corpus and meaning, (vectors,) each.

    The cosines of all pairs of two groups add up to the product of the sums of their unit vectors.
    """
    groups, member = np.unique(np.stack([corpus, meaning], axis=1), axis=0, return_inverse=True)
    member = member.reshape(-1)
    sums = np.zeros((len(groups), vectors.shape[1]))
    np.add.at(sums, member, unit_vectors(vectors))
    sizes = np.bincount(member)
    totals, pairs = sums @ sums.T, np.outer(sizes, sizes)
    across, different = (column[:, None] != column for column in groups.T)
    same = ~different & across

    def mean(chosen: Any) -> float | None:
        count = int(pairs[chosen].sum())
        return float(totals[chosen].sum() / count) if count else None

    own = {name: mean(same & (groups[:, 1] == number)) for number, name in enumerate(meanings)}
    return Nearness(
        same=mean(same),
        different=mean(different),
        different_across=mean(different & across),
        by_meaning={name: value for name, value in own.items() if value is not None},
    )
