"""Which names of a lexicon are looked for, and what labels they give.

Policies for upper and lower case (`Case`):

- `exact`: the text must have the letters of the name.
- `ignore`: case does not matter.
- `smart`: as `ignore`, but names of at most two letters and digits (`As`, `in`) and acronyms, which are names
  of at most five with capitals and no small letters (`AIDS`, `COX-2`), must be met as they are.

Policies for a name that has several types (`Ambiguous`):

- `drop`: it gives no label.
- `first`: it gives the label of the type that comes first in the lexicon.
- `all`: it gives a label of each type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spanwright.distant.atoms import atoms_of_name
from spanwright.lexicons import Lexicon, Term

Case = Literal["exact", "ignore", "smart"]
Ambiguous = Literal["drop", "first", "all"]

Labels = tuple[tuple[str, tuple[str, ...]], ...]
"""Types with their concepts. Empty for a phrase of unknown type, and for an ambiguous one that is dropped."""

_ALWAYS_CASED = 2
_LONGEST_ACRONYM = 5


@dataclass(frozen=True, slots=True)
class Name:
    """What it means to meet a name in a text."""

    labels: Labels | None
    """However it is spelt there; None when it must be spelt in one of the ways below."""
    cased: Mapping[str, Labels]
    """By the spelling without white space, where that makes a difference."""

    def labels_of(self, mention: str) -> Labels | None:
        """The labels of a mention that has the atoms of this name; None when the spelling is another."""
        return self.cased.get(_spelling(mention), self.labels) if self.cased else self.labels


@dataclass(frozen=True, slots=True)
class Names:
    """The names to look for."""

    by_atoms: Mapping[str, Name]
    """By their atoms, with a blank between them."""
    left_out: Mapping[str, int]
    """How many names are not looked for, by the rule that left them out."""

    @property
    def longest(self) -> int:
        """The atoms of the longest name."""
        return max((atoms.count(" ") + 1 for atoms in self.by_atoms), default=0)


# Shared, because nearly all names have none.
_NOT_CASED: Mapping[str, Labels] = {}

_Spelt = tuple[str | None, Term]
"""A term with the spelling that its name must have; None where any will do."""


def names_of(
    lexicon: Lexicon, *, case: Case, ambiguous: Ambiguous, minimum_length: int, blocked: Iterable[str]
) -> Names:
    """The names of all terms, but for those that are blocked or have too few letters and digits."""
    left_out: Counter[str] = Counter()
    terms: dict[str, list[_Spelt]] = {}
    blocked_keys = {_key(name, case, _length(name)) for name in blocked}
    for term in lexicon.terms():
        for name in term.names:
            length = _length(name)
            atoms, spelling = _key(name, case, length)
            if length < minimum_length:
                left_out["too short"] += 1
            elif (atoms, spelling) in blocked_keys:
                left_out["blocked"] += 1
            else:
                terms.setdefault(atoms, []).append((spelling, term))
    return Names({atoms: _name(found, ambiguous) for atoms, found in terms.items()}, left_out)


def _key(name: str, case: Case, length: int) -> tuple[str, str | None]:
    """What names are told apart by: their atoms, and their spelling where it matters."""
    is_acronym = length <= _LONGEST_ACRONYM and name.isupper()
    is_cased = case == "smart" and (is_acronym or length <= _ALWAYS_CASED)
    return " ".join(atoms_of_name(name, fold=case != "exact")), _spelling(name) if is_cased else None


def _length(name: str) -> int:
    """How many letters and digits a name has."""
    return sum(map(str.isalnum, name))


def _spelling(name: str) -> str:
    return "".join(name.split())


def _name(terms: Sequence[_Spelt], ambiguous: Ambiguous) -> Name:
    """The name that terms share."""
    free = [term for spelling, term in terms if spelling is None]
    spellings = dict.fromkeys(spelling for spelling, _ in terms if spelling is not None)
    cased = {
        each: _labels([term for spelling, term in terms if spelling in (None, each)], ambiguous)
        for each in spellings
    }
    return Name(_labels(free, ambiguous) if free else None, cased or _NOT_CASED)


def _labels(terms: Iterable[Term], ambiguous: Ambiguous) -> Labels:
    labels = _types(terms)
    if ambiguous == "drop" and len(labels) > 1:
        return ()
    return labels[:1] if ambiguous == "first" else labels


def _types(terms: Iterable[Term]) -> Labels:
    """The types of terms that have one, each with its distinct concepts, in the order of the lexicon."""
    concepts: dict[str, dict[str, None]] = {}
    for term in terms:
        if term.type is not None:
            found = concepts.setdefault(term.type, {})
            if term.concept is not None:
                found[term.concept] = None
    return tuple((type_, tuple(found)) for type_, found in concepts.items())
