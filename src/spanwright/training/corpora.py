"""Several corpora in one training: whose documents, whose types, in which proportions.

A document says by its `corpus` where it is from. The types of corpora differ in what they mean, even where
their names are the same: so each corpus has types of its own (`labels = "own"`), or a label map says which
shared type each of them is (`labels = "shared"`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.batches.order import Portion
from spanwright.corpora.label_map import LabelMap, load_map
from spanwright.corpora.stored import DocumentView, view
from spanwright.corpora.suggest_map import suggest_map
from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.settings.data import CorporaSettings
from spanwright.text import Document, Entity

Documents = Sequence[Document]
AUTO = "auto"


def corpus_names(settings: CorporaSettings, splits: Mapping[str, Documents]) -> tuple[str, ...]:
    """The names of the training corpora, the targets first.

    Refuses documents without a name, and names of corpora that are not there.
    """
    present = {split: _names(split, documents) for split, documents in splits.items()}
    found = sorted(present["train"])
    named = {"corpora.target": settings.target, "corpora.weights": tuple(settings.weights)}
    for key, given in named.items():
        if unknown := [name for name in given if name not in found]:
            raise InputError(f"{key} names {unknown[0]!r}; expected the training corpora: {', '.join(found)}")
    if len(set(settings.target)) < len(settings.target):
        raise InputError(f"corpora.target is {list(settings.target)}; name each corpus once")
    for split, names in present.items():
        if foreign := sorted(names - set(found)):
            raise InputError(
                f"{split} has documents of the corpus {foreign[0]!r}, which is not trained on; expected "
                f"{', '.join(found)}"
            )
    if settings.train == "target":
        return settings.targets(found)
    return (*settings.target, *(name for name in found if name not in settings.target))


def _names(split: str, documents: Documents) -> set[str]:
    """The corpora of documents."""
    names: set[str] = set()
    for document in documents:
        if not document.corpus:
            raise InputError(
                f"{split} document {document.id!r} does not say which corpus it is from, but "
                f"several are trained together: give them by name (--corpora FILE), or set corpora=false"
            )
        names.add(document.corpus)
    return names


def of_corpora(documents: Documents, names: Sequence[str]) -> Documents:
    """The documents of some corpora; nothing is copied."""
    return view(documents, lambda document: document.corpus in names)


def evaluation_splits(
    targets: Sequence[str], names: Sequence[str], splits: Mapping[str, Documents]
) -> dict[str, Documents]:
    """What a model is scored on: the targets as `dev` and `test`, then each single corpus, as `dev BC5CDR`.

    A single target is not scored twice.
    """
    found = {split: of_corpora(documents, targets) for split, documents in splits.items()}
    for name in names:
        if (name,) != tuple(targets):
            found |= {f"{split} {name}": of_corpora(documents, [name]) for split, documents in splits.items()}
    return {split: documents for split, documents in found.items() if documents}


def chosen_map(settings: CorporaSettings, names: Sequence[str], train: Documents) -> LabelMap | None:
    """The label map that the settings name, or that the training documents suggest."""
    if settings.map is None:
        if settings.labels == "shared":
            raise InputError("corpora.labels is 'shared', but there is no label map: set corpora.map")
        return None
    if settings.map != AUTO:
        found = load_map(settings.map)
        _check_map(found, names, train)
        return found
    if len(settings.target) != 1:
        raise InputError(
            f"corpora.map is 'auto', which maps all types onto those of one target, but corpora.target "
            f"is {list(settings.target)}; expected the name of one corpus"
        )
    return suggested(settings.target[0], names, train)


def suggested(target: str, names: Sequence[str], train: Documents) -> LabelMap:
    """A label map onto the types of the target, found in the corpora themselves."""
    own = list(of_corpora(train, [target]))
    types = LabelSpace.of(own).types
    maps: dict[str, dict[str, str | None]] = {target: {type_: type_ for type_ in types}}
    for name in names:
        others = list(of_corpora(train, [name]))
        if name != target:
            annotated = any(document.entities for document in others)
            suggestions = suggest_map(others, own) if annotated else []
            maps[name] = {found.type: found.target for found in suggestions}
    return LabelMap(types, maps)


def _check_map(chosen: LabelMap, names: Sequence[str], train: Documents) -> None:
    """Refuse a map that lacks a corpus or a type, and say all that is missing at once."""
    if lacking := [name for name in names if name not in chosen.corpora]:
        raise InputError(
            f"the label map lacks the corpora {', '.join(lacking)}; it has {', '.join(chosen.corpora)}"
        )
    unknown = Counter(
        f"{entity.type} of {document.corpus}"
        for document in train
        for entity in document.entities
        if entity.type not in chosen.targets(document.corpus)
    )
    if unknown:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(unknown.items()))
        raise InputError(f'the label map lacks the types {listed}; map each to a shared type, or to ""')


def with_shared_types(documents: Documents, chosen: LabelMap, *, evaluated: bool) -> Documents:
    """Documents with the types of the label map.

    Of those that are trained on, entities without a shared type are left out. Of those that a model is scored
    on they stay, so that they count as missed.
    """
    return DocumentView(documents, change=lambda document: _mapped(document, chosen, evaluated))


def _mapped(document: Document, chosen: LabelMap, evaluated: bool) -> Document:
    targets = chosen.targets(document.corpus)
    changes: dict[Entity, Entity] = {}
    entities: dict[object, Entity] = {}
    for entity in document.entities:
        target = targets.get(entity.type) or (_unshared(entity.type, document, chosen) if evaluated else None)
        if target is not None:
            shared = replace(entity, type=target)
            changes[entity] = entities.setdefault(shared.key, shared)
    return document.with_changed_entities(changes)


def _unshared(type_: str, document: Document, chosen: LabelMap) -> str:
    """The name of a type that is no shared one, even if a shared type is called the same."""
    return f"{type_} of {document.corpus}" if type_ in chosen.types else type_


def shared_types(labels: LabelSpace, chosen: LabelMap | None) -> LabelSpace:
    """The label space with the shared type of each of its types."""
    if chosen is None or not labels.corpus:
        return labels
    targets = (chosen.targets(labels.corpora[corpus]).get(name) or "" for name, corpus in labels.keys)
    return replace(labels, shared=tuple(targets))


def portions(settings: CorporaSettings, corpus: Integers, names: Sequence[str]) -> tuple[Portion, ...]:
    """What an epoch takes of each corpus; `corpus` (windows,) are positions in `names`."""
    if not len(corpus):
        return ()
    positions = [np.flatnonzero(corpus == number) for number in range(len(names))]
    sizes = np.asarray([len(own) for own in positions], dtype=np.float64)
    weights = np.asarray([settings.weights.get(name, 1.0) for name in names])
    shares = _shares(sizes, settings.sampling) * weights
    # An epoch is as long as all windows with their weights, whatever the sampling.
    counts = np.rint(shares / shares.sum() * (sizes * weights).sum()).astype(int)
    return tuple(
        Portion(own, max(1, int(count))) for own, count in zip(positions, counts, strict=True) if len(own)
    )


def _shares(sizes: Floats, sampling: str | float) -> Floats:
    if sampling == "proportional":
        return sizes
    if sampling == "equal":
        return (sizes > 0).astype(np.float64)
    # Of the largest, so that no power overflows.
    shares: Floats = np.power(sizes / sizes.max(), 1 / float(sampling))
    return shares


def count_by_corpus(documents: Iterable[Document]) -> dict[str, int]:
    """How many documents each corpus has."""
    return dict(Counter(document.corpus or "" for document in documents))
