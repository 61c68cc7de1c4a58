"""Texts that need no annotation, because (nearly) the same text has one, or stands in the pool before."""

from __future__ import annotations

from collections.abc import Sequence

from spanwright.corpora.near_texts import NearTexts, shingles
from spanwright.text import Document

_CONTAINED = 0.9
_FEWEST_SHINGLES = 6


def without_duplicates(pool: Sequence[Document], annotated: Sequence[Document]) -> list[Document]:
    """The documents of a pool whose text is new: not in what is annotated, nor before it in the pool.

    A text is not new if it is another but for case and white space, or if nine tenths of its runs of four
    words are in one other.
    """
    known = [*annotated, *pool]
    near = NearTexts((each.text for each in known), containment=_CONTAINED, fewest=_FEWEST_SHINGLES)
    seen = {_plain(each.text) for each in annotated}
    kept_places = set(range(len(annotated)))
    kept: list[Document] = []
    for place, document in enumerate(pool, start=len(annotated)):
        plain = _plain(document.text)
        size = len(shingles(document.text))
        # A long text is not done with because a sentence of it is: its own share counts.
        copies = (
            other
            for other, how in near.find(document.text)
            if how.containment * how.shingles >= _CONTAINED * size
        )
        if plain and plain not in seen and kept_places.isdisjoint(copies):
            kept.append(document)
            kept_places.add(place)
        seen.add(plain)
    return kept


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
