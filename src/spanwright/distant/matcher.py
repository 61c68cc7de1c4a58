"""`Matcher`: the names of a lexicon as entities of texts.

A name is found where the text has the same words, from the start of a word to the end of a word. White space
does not count between words and punctuation, so `X - linked` is found in `X-linked` and the other way round;
see `spanwright.distant.atoms`. Words and sentences that a corpus gives are respected: no match begins
or ends inside such a word, or crosses the border of such a sentence.

Matches do not overlap. From left to right, the longest name that begins at a word is taken, and the search
goes on after it. Names of unknown type take part in this and give no label: thus `breast cancer cells` of
unknown type keeps `breast cancer` from being labelled there. So do ambiguous names that are dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, get_args

from spanwright.distant.atoms import blocks
from spanwright.distant.names import Ambiguous, Case, Labels, names_of
from spanwright.distant.search import SearchMaker, fastest
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon
from spanwright.text import Document, Entity

PROVENANCE = "distant_labels"
"""The key of a document's annotation notes that says where its entities are from."""


class Matcher:
    """Finds the names of a lexicon in documents."""

    def __init__(
        self,
        lexicon: Lexicon,
        *,
        case: Case = "smart",
        ambiguous: Ambiguous = "drop",
        minimum_length: int = 2,
        blocked: Iterable[str] = (),
        sources: Sequence[str] = (),
        engine: SearchMaker = fastest,
    ) -> None:
        """For the policies, see `spanwright.distant.names`.

        Args:
            lexicon: terms without a type are phrases of unknown type.
            case: whether names must have the case of the text.
            ambiguous: what becomes of a name with several types.
            minimum_length: the fewest letters and digits that a name must have to be looked for.
            blocked: names not to look for. They are compared as the names are: with `smart`, `all` blocks the
                name `All` and not the acronym `ALL`.
            sources: the file names of the lexicon, for the annotation notes of labelled documents.
            engine: how to search; the answers are the same.
        """
        _check("case", case, get_args(Case))
        _check("ambiguous", ambiguous, get_args(Ambiguous))
        blocked = tuple(blocked)
        names = names_of(
            lexicon, case=case, ambiguous=ambiguous, minimum_length=minimum_length, blocked=blocked
        )
        self.provenance: Mapping[str, Any] = {
            "lexicons": list(sources),
            "case": case,
            "ambiguous": ambiguous,
            "minimum_length": minimum_length,
            "blocked": len(blocked),
        }
        """Where labels are from, for the annotation notes of documents."""
        self.left_out = names.left_out
        """How many names of the lexicon are not looked for, by the rule that left them out."""
        self._fold = case != "exact"
        self._names = tuple(names.by_atoms.values())
        self._reach = names.longest
        self._engine = engine(tuple(names.by_atoms))

    def __len__(self) -> int:
        """The number of distinct names."""
        return len(self._names)

    def label(self, document: Document) -> Document:
        """The text with what was found and nothing else marked in it; its notes say where that is from."""
        return replace(
            document.tagged(self.entities(document)), annotation_notes={PROVENANCE: dict(self.provenance)}
        )

    def entities(self, document: Document) -> tuple[Entity, ...]:
        """The entities of the names in a document, from left to right; those it has do not matter."""
        return tuple(
            Entity(start, end, type_, concepts=concepts)
            for start, end, labels in self._matches(document)
            for type_, concepts in labels
        )

    def _matches(self, document: Document) -> Iterator[tuple[int, int, Labels]]:
        """The leftmost longest names and their labels, also those that give none."""
        borders = tuple(chain.from_iterable(document.sentences or ()))
        free_from = 0
        for block in blocks(document, fold=self._fold, reach=self._reach):
            for first, last, number in self._engine.find(block.atoms):
                if first >= block.own:
                    break
                characters = block.characters(first, last)
                if characters is None or characters[0] < free_from or _crosses(borders, *characters):
                    continue
                start, end = characters
                labels = self._names[number].labels_of(document.text[start:end])
                if labels is not None:
                    yield start, end, labels
                    free_from = end


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name}={value!r} of a matcher; expected {', '.join(allowed)}")


def _crosses(borders: Sequence[int], start: int, end: int) -> bool:
    """Whether a border lies inside a range; borders are in order."""
    following = bisect_right(borders, start)
    return following < len(borders) and borders[following] < end
