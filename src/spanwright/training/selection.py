"""Which documents a run trains on and is scored on, with which types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from spanwright.corpora.label_map import LabelMap
from spanwright.corpora.overlap import Leaks, find_leaks
from spanwright.corpora.stored import DocumentView, StoredDocuments, without
from spanwright.errors import InputError, counted
from spanwright.formats import files
from spanwright.settings import Settings
from spanwright.settings.data import CorporaSettings
from spanwright.text import Document
from spanwright.training.corpora import (
    AUTO,
    chosen_map,
    corpus_names,
    count_by_corpus,
    evaluation_splits,
    of_corpora,
    with_shared_types,
)

Documents = Sequence[Document]
DocumentSource = str | Path | Iterable[str | Path | Document | files.Corpus]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The documents of a run."""

    train: Documents
    """Without those that stand in evaluation data, unless settings keep them."""
    evaluation: Mapping[str, Documents]
    """Documents of `dev` and, when given, `test`; with several corpora also of each, as `dev BC5CDR`."""
    deciding: tuple[str, ...]
    """The splits whose mean F1 chooses the model."""
    leaked: Mapping[str, int]
    """By corpus: training documents that stand in evaluation data."""
    corpora: tuple[str, ...] = ()
    """The names of the corpora, the targets first; none where they are not told apart."""
    targets: tuple[str, ...] = ()
    label_map: LabelMap | None = None
    warnings: tuple[str, ...] = ()
    """What a user should know of the choice."""

    @property
    def dev_splits(self) -> list[str]:
        """The splits that together have the dev documents of all corpora, each once."""
        others = (f"dev {name}" for name in self.corpora if name not in self.targets)
        return ["dev", *(split for split in others if split in self.evaluation)]

    def dev_split(self, corpus: str) -> str:
        """The name of the split that has the dev documents of a corpus, if there are any."""
        return "dev" if self.targets == (corpus,) else f"dev {corpus}"

    @property
    def target_documents(self) -> Documents:
        """The training documents of the target corpora."""
        return of_corpora(self.train, self.targets) if self.corpora else self.train


def documents_of(source: DocumentSource, warnings: list[str]) -> Documents:
    """The documents of files, or those given; what was wrong in the files goes to the warnings."""
    if isinstance(source, StoredDocuments | DocumentView):
        return source
    items = [source] if isinstance(source, str | Path | files.Corpus) else list(source)
    documents: list[Document] = []
    for item in items:
        if isinstance(item, Document):
            documents.append(item)
            continue
        corpus = item if isinstance(item, files.Corpus) else files.read(item)
        corpus.check_to_train()
        documents += corpus
        if problems := corpus.problems:
            place = "" if corpus is item else f"{item}: "
            warnings.append(
                f"{place}{counted(len(problems), 'problem')} in reading, the first: {problems[0]}"
            )
    return documents


def select(settings: Settings, train: Documents, dev: Documents, test: Documents) -> TrainingData:
    """What settings choose of the documents that are there."""
    if not train or not dev:
        raise InputError(f"the {'dev' if train else 'training'} corpus is empty: no document could be read")
    splits = {"dev": dev, "test": test} if test else {"dev": dev}
    keep = settings.training.leaked == "keep"
    if settings.corpora is not None:
        return _of_several(settings.corpora, train, splits, keep)
    leaks = find_leaks(train, chain(dev, test))
    kept = train if keep else list(without(train, leaks.shared))
    _refuse_untaught(kept)
    return TrainingData(kept, splits, ("dev",), {"": len(leaks.shared)}, warnings=_warnings(train, leaks))


def _of_several(
    settings: CorporaSettings, train: Documents, splits: Mapping[str, Documents], keep: bool
) -> TrainingData:
    names = corpus_names(settings, {"train": train, **splits})
    train = of_corpora(train, names)
    targets = settings.targets(names)
    # Of all evaluation documents, also those of corpora that this run is not scored on.
    leaks = find_leaks(train, chain.from_iterable(splits.values()))
    leaked = count_by_corpus(DocumentView(train, leaks.shared))
    warnings = _warnings(train, leaks)
    kept = train if keep else without(train, leaks.shared)
    evaluation = evaluation_splits(targets, names, splits)
    _refuse_untaught(kept)
    _refuse_empty_targets(settings, kept, splits["dev"])
    chosen = chosen_map(settings, names, kept)
    if settings.labels == "shared" and chosen is not None:
        kept = with_shared_types(kept, chosen, evaluated=False)
        _refuse_untaught(kept)
        evaluation = {
            name: with_shared_types(documents, chosen, evaluated=True)
            for name, documents in evaluation.items()
        }
    single = tuple(split for name in targets if (split := f"dev {name}") in evaluation)
    return TrainingData(
        train=kept,
        evaluation=evaluation,
        deciding=single or ("dev",),
        leaked={name: leaked.get(name, 0) for name in names},
        corpora=names,
        targets=targets,
        label_map=chosen,
        warnings=warnings,
    )


def _warnings(train: Documents, leaks: Leaks) -> tuple[str, ...]:
    """That documents are trained on although their ids are those of evaluation documents, if some are."""
    if not leaks.namesakes:
        return ()
    return (
        f"{len(leaks.namesakes)} training documents have the id of a dev or test document but another text, "
        f"such as {train[leaks.namesakes[0]].id!r}: they are trained on. If they are passages of the same "
        f"articles, split the corpus again with `spanwright corpus split`, which keeps these together",
    )


def _refuse_empty_targets(settings: CorporaSettings, kept: Documents, dev: Documents) -> None:
    """Refuse a target that cannot choose a model, or whose types no model could learn."""
    for name in settings.target:
        if not of_corpora(dev, [name]):
            raise InputError(f"corpora.target names {name!r}, but there is no dev document of this corpus")
        # With shared types of another source, a target may learn from the other corpora alone.
        needed = settings.labels == "own" or settings.map == AUTO
        if needed and not any(document.entities for document in of_corpora(kept, [name])):
            raise InputError(
                f"corpora.target names {name!r}, but no training document of this corpus has an entity and "
                f"stands outside the evaluation data"
            )


def _refuse_untaught(kept: Documents) -> None:
    """Refuse training documents that teach nothing."""
    if not kept:
        raise InputError(
            "every training document also stands in the evaluation data; give other files, or train on them "
            "all the same with --set training.leaked=keep"
        )
    if not any(document.entities for document in kept):
        raise InputError(
            f"the training corpus has no entity in its {counted(len(kept), 'document')}: nothing can "
            f"be learnt from it"
        )
