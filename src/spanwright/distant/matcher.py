"""`Matcher`: the names of a lexicon as entities of texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, get_args

from spanwright.distant.atoms import blocks
from spanwright.distant.names import Case, Meaning, names_of, spelling_of
from spanwright.distant.search import EngineMaker, fastest
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon
from spanwright.text import Document, Entity

Ambiguous = Literal["drop", "first", "all"]
PROVENANCE = "distant_labels"


class Matcher:
    def __init__(
        self,
        lexicon: Lexicon,
        *,
        case: Case = "smart",
        ambiguous: Ambiguous = "drop",
        minimum_length: int = 2,
        blocked: Iterable[str] = (),
        sources: Sequence[str] = (),
        engine: EngineMaker = fastest,
    ) -> None:
        self._fold = case != "exact"
        self._ambiguous = ambiguous
        names = names_of(lexicon, case=case, minimum_length=minimum_length, blocked=blocked)
        self._meanings = list(names.meanings.values())
        self._reach = names.longest
        self.left_out = names.left_out
        self._engine = engine(list(names.meanings))

    def entities(self, document: Document) -> tuple[Entity, ...]:
        borders = list(chain.from_iterable(document.sentences or ()))
        entities: list[Entity] = []
        free = 0
        for block in blocks(document, fold=self._fold, reach=self._reach):
            for first, last, number in self._engine.find(block.atoms):
                if first >= block.limit:
                    break
                found = block.characters(first, last)
                if found is None or found[0] < free or _crosses(borders, *found):
                    continue
                start, end = found
                meanings = _spelt(self._meanings[number], document.text[start:end])
                if meanings:
                    entities += self._entities(meanings, start, end)
                    free = end
        return tuple(entities)

    def _entities(self, meanings: Sequence[Meaning], start: int, end: int) -> list[Entity]:
        concepts: dict[str, dict[str, None]] = {}
        for meaning in meanings:
            if meaning.type is not None:
                found = concepts.setdefault(meaning.type, {})
                if meaning.concept is not None:
                    found[meaning.concept] = None
        if len(concepts) > 1 and self._ambiguous == "drop":
            return []
        e = [Entity(start, end, t, concepts=tuple(c)) for t, c in concepts.items()]
        return e[:1] if self._ambiguous == "first" else e

    def label(self, document: Document) -> Document:
        return replace(document, entities=self.entities(document))


def _crosses(borders, start, end):
    following = bisect_right(borders, start)
    return following < len(borders) and borders[following] < end


def _spelt(meanings, mention):
    if all(m.spelling is None for m in meanings):
        return meanings
    spelling = spelling_of(mention)
    return [m for m in meanings if m.spelling in (None, spelling)]
