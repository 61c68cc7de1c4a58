"""Ten ways to change annotated documents that a good model should not mind.

Each is a pure function of documents and seed, and keeps entities, given words and sentences exact.
Standard library only, but for `measuring`, which measures what they cost a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

from spanwright.errors import InputError
from spanwright.perturbing.edits import Edit, edited
from spanwright.perturbing.layout import joined_documents, no_punctuation, white_space
from spanwright.perturbing.letters import character_variants, lower_case, typos, upper_case
from spanwright.perturbing.mentions import MentionPool, Replacement
from spanwright.text import Document

_Change = Callable[[Document, Random], list[Edit]]

_CHANGES: dict[str, _Change] = {
    "typos": typos,
    "lower-case": lower_case,
    "upper-case": upper_case,
    "no-punctuation": no_punctuation,
    "white-space": white_space,
    "character-variants": character_variants,
}
_SWAPS: dict[str, Replacement] = {
    "seen-mentions": "seen",
    "unseen-mentions": "unseen",
    "longer-mentions": "longer",
}
_JOINED = "joined-documents"

PERTURBATIONS = (*_CHANGES, *_SWAPS, _JOINED)
"""The names of all perturbations."""
NEED_TRAINING = tuple(_SWAPS)
"""The names of those that take mentions from training documents."""

__all__ = ["NEED_TRAINING", "PERTURBATIONS", "Edit", "edited", "perturb"]


def perturb(
    documents: Iterable[Document], name: str, *, seed: int = 0, training: Sequence[Document] = ()
) -> list[Document]:
    """Documents changed in one way; a document in which nothing can be changed comes back as it is.

    What happens to a document depends on the seed and on the document, not on those around it, but for
    `joined-documents`. The swaps of mentions draw from the training documents.
    """
    if name == _JOINED:
        return joined_documents(list(documents), Random(f"{seed} {name}"))
    change = _change(name, training)
    return [edited(document, change(document, _random(seed, name, document))) for document in documents]


def _change(name: str, training: Sequence[Document]) -> _Change:
    if name in _CHANGES:
        return _CHANGES[name]
    if name not in _SWAPS:
        raise InputError(f"unknown perturbation {name!r}; expected {', '.join(PERTURBATIONS)}")
    return partial(MentionPool(training).swap, choice=_SWAPS[name])


def _random(seed: int, name: str, document: Document) -> Random:
    return Random(f"{seed} {name} {document.id} {document.text}")
