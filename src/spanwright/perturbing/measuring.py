"""How much F1 a model loses where texts are perturbed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.evaluation import Counts, evaluate
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS, perturb
from spanwright.text import Document

Tag = Callable[[list[Document]], Iterable[Document]]


@dataclass(frozen=True, slots=True)
class Robustness:
    """The scores of a model on documents that were changed in one way."""

    name: str
    counts: Counts
    lost: float
    """F1 on the untouched documents minus F1 on these, from -1 to 1."""
    texts_changed: int
    mentions_changed: int

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "counts": self.counts.to_dict()}


def measurable(*, with_training: bool) -> list[str]:
    """The names of all perturbations that can be made, with training documents or without."""
    return [name for name in PERTURBATIONS if with_training or name not in NEED_TRAINING]


def measure(
    tag: Tag,
    documents: Sequence[Document],
    names: Iterable[str] | None = None,
    *,
    seed: int = 0,
    training: Sequence[Document] = (),
) -> list[Robustness]:
    """Scores on the untouched documents, then on each perturbation of them.

    `tag` gives documents with the entities of a model, such as `load(path).tag`. Without names, all that is
    `measurable` is measured; the swaps of mentions need training documents.
    """
    names = measurable(with_training=bool(training)) if names is None else names
    untouched = evaluate(documents, tag(list(documents))).micro
    rows = [Robustness("untouched", untouched, 0.0, 0, 0)]
    for name in names:
        changed = perturb(documents, name, seed=seed, training=training)
        counts = evaluate(changed, tag(changed)).micro
        lost = untouched.f1 - counts.f1
        rows.append(Robustness(name, counts, lost, *_changes(documents, changed)))
    return rows


def _changes(old: Sequence[Document], new: Sequence[Document]) -> tuple[int, int]:
    """The number of new texts, and of entities in them whose mention is another."""
    texts = {document.text for document in old}
    # Documents that were joined keep their mentions, and have no partner here.
    pairs = [(left, right) for left, right in zip(old, new, strict=False) if left.id == right.id]
    mentions = sum(
        left.mention(before) != right.mention(after)
        for left, right in pairs
        for before, after in zip(left.entities, right.entities, strict=True)
    )
    return sum(document.text not in texts for document in new), mentions
