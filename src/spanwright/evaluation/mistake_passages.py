"""Mistakes with the text around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from spanwright.arrays import Integers
from spanwright.evaluation.matching import Pair
from spanwright.evaluation.mistakes import GOLD_KINDS, PREDICTION_KINDS, Example, Kind, Mistakes
from spanwright.text import Document, Entity

_AROUND = 40
"""Characters of text on either side."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A mistake in its place: around the wrong prediction, or the gold entity that was not found."""

    example: Example
    gold: str | None
    """The text of the gold entity."""
    predicted: str | None
    """The text of the predicted entity."""
    before: str
    inside: str
    """The text from the first to the last character."""
    after: str

    @property
    def gold_said(self) -> str | None:
        """Type and text of the gold entity."""
        return _said(self.example.gold, self.gold)

    @property
    def predicted_said(self) -> str | None:
        """Type and text of the predicted entity."""
        return _said(self.example.predicted, self.predicted)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "document": self.example.document,
            "before": self.before,
            "text": self.inside,
            "after": self.after,
            "gold": _values(self.example.gold, self.gold),
            "predicted": _values(self.example.predicted, self.predicted),
        }


def find_passages(mistakes: Mistakes, kind: Kind, number: int) -> list[Passage]:
    """The first mistakes of a kind, in the order of documents."""
    pairs = (mistakes.comparison.pairs[position] for position in _documents(mistakes, kind).tolist())
    found: Iterator[tuple[Example, Pair]] = zip(mistakes.examples(kind), pairs, strict=True)
    return [_passage(example, pair, of_gold=kind in GOLD_KINDS) for example, pair in islice(found, number)]


def _documents(mistakes: Mistakes, kind: Kind) -> Integers:
    """The position of the document of each mistake of a kind."""
    if kind in GOLD_KINDS:
        side, chosen = mistakes.comparison.gold, mistakes.gold_kind == GOLD_KINDS.index(kind) + 1
    else:
        side, chosen = (
            mistakes.comparison.predicted,
            mistakes.prediction_kind == PREDICTION_KINDS.index(kind) + 1,
        )
    return side.document[np.flatnonzero(chosen)]


def _passage(example: Example, pair: Pair, *, of_gold: bool) -> Passage:
    # The texts of the two sides may differ in white space, so each entity is looked up in its own.
    document, entity = (pair.gold, example.gold) if of_gold else (pair.predicted, example.predicted)
    assert document is not None and entity is not None
    text, start, end = document.text, entity.start, entity.end
    return Passage(
        example,
        gold=_mention(pair.gold, example.gold),
        predicted=_mention(pair.predicted, example.predicted),
        before=text[max(0, start - _AROUND) : start],
        inside=text[start:end],
        after=text[end : end + _AROUND],
    )


def _mention(document: Document | None, entity: Entity | None) -> str | None:
    return document.mention(entity) if document and entity else None


def _said(entity: Entity | None, mention: str | None) -> str | None:
    return f"{entity.type}: {mention}" if entity else None


def _values(entity: Entity | None, mention: str | None) -> dict[str, Any] | None:
    if entity is None:
        return None
    optional = {"fragments": entity.fragments, "confidence": entity.confidence}
    given = {name: value for name, value in optional.items() if value not in (None, ())}
    return {"start": entity.start, "end": entity.end, "type": entity.type, "text": mention, **given}
