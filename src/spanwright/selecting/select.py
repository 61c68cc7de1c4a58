"""`select`: the texts that are worth the time of an annotator, each with its reason and suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spanwright.errors import InputError
from spanwright.predicting.tagger import Tagger
from spanwright.selecting.choosing import NOVEL, Choice, Strategy, choose, drawn
from spanwright.selecting.duplicates import without_duplicates
from spanwright.selecting.signals import Mention, Signals, has_two_views, look_at
from spanwright.text import Document, words

KEY = "selection"
"""The key of the metadata under which the reason stands."""
_SHOWN_WORDS = 4


def select(
    tagger: Tagger,
    texts: Sequence[Document],
    *,
    count: int,
    by: Strategy = "mixed",
    annotated: Sequence[Document] = (),
    seed: int = 0,
) -> list[Document]:
    """Up to `count` documents in the order in which to annotate them.

    Their entities are what the model suggests, with confidences; `metadata["selection"]` has the rank, the
    reason in words, and the signals. Texts that are annotated already, or stand among the others twice, are
    left out.
    """
    if by == "disagreement" and not has_two_views(tagger.model):
        raise InputError(
            "the model has no tagger beside its spans that could disagree with them; train one with "
            "`--set auxiliaries.tagger.kind=softmax`, or choose by another strategy, such as --by mixed"
        )
    fresh = without_duplicates(texts, annotated)
    if by == "random":
        pool = look_at(tagger, drawn(fresh, count, seed))
        choices = [Choice(place) for place in range(len(pool))]
    else:
        pool = look_at(tagger, fresh)
        known = look_at(tagger, annotated) if by in NOVEL else []
        choices = choose(pool, known, count, by)
    suggested = tagger.tag(pool[choice.place].document for choice in choices)
    types = tagger.model.labels.types
    return [
        _explained(document, rank, by, pool[choice.place], choice.new_words, types)
        for rank, (document, choice) in enumerate(zip(suggested, choices, strict=True), start=1)
    ]


def _explained(
    document: Document, rank: int, by: Strategy, signals: Signals, new_words: list[str], types: Sequence[str]
) -> Document:
    """A document with the reason for its choice."""
    amounts: dict[str, Any] = {
        "rank": rank,
        "by": by,
        "expected_mistakes": round(signals.mistakes, 3),
        "disagreement": round(signals.disagreement, 3),
        "new_words": len(new_words),
    }
    reason = "; ".join(_reasons(signals, new_words, by, types)) or "drawn at random"
    return replace(document, metadata={**document.metadata, KEY: {**amounts, "reason": reason}})


def _reasons(signals: Signals, new_words: list[str], by: Strategy, types: Sequence[str]) -> list[str]:
    reasons = []
    if by in ("mixed", "uncertainty"):
        reason = f"{signals.mistakes:.1f} mistakes expected"
        if signals.doubts:
            reason += f", most in doubt: {_shown(signals, max(signals.doubts)[1], types)}"
        reasons.append(reason)
    if by in ("mixed", "disagreement") and signals.disagreements:
        mention = _shown(signals, max(signals.disagreements)[1], types)
        reasons.append(f"tagger and spans differ, most on {mention}")
    if by in NOVEL:
        some = f": {', '.join(new_words[:_SHOWN_WORDS])}" if new_words else ""
        reasons.append(f"{len(new_words)} words not seen before{some}")
    return reasons


def _shown(signals: Signals, mention: Mention, types: Sequence[str]) -> str:
    first, last, type_ = mention
    ranges = words(signals.document)
    return f"{signals.document.text[ranges[first][0] : ranges[last][1]]!r} as {types[type_]}"
