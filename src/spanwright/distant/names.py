"""Which names of a lexicon are looked for, and what each of them means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from spanwright.distant.atoms import atoms_of_name
from spanwright.lexicons import Lexicon

Case = Literal["exact", "ignore", "smart"]
_ACRONYM_LENGTH = 5


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of the things that a name stands for."""

    type: str | None
    """None for a phrase of unknown type."""
    concept: str | None
    spelling: str | None
    """The name without white space, where the text must have just these letters; None where case is free."""


@dataclass(slots=True)
class Names:
    """Names as their atoms with a blank between them, and what they mean."""

    meanings: dict[str, tuple[Meaning, ...]] = field(default_factory=dict)
    """The distinct meanings of each name, in the order of the lexicon."""
    longest: int = 0
    """Atoms of the longest name."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Names that are not looked for, by the rule that left them out."""


def names_of(lexicon: Lexicon, *, case: Case, minimum_length: int, blocked: Iterable[str]) -> Names:
    """The names of a lexicon's terms but for those that are blocked or too short."""
    names = Names()
    blocked_keys = {_key(name, case) for name in blocked}
    shared: dict[Meaning, Meaning] = {}
    for term in lexicon.terms():
        for name in term.names:
            spelling = spelling_of(name) if case == "smart" and is_acronym(name) else None
            key = " ".join(atoms_of_name(name, fold=case != "exact"))
            if sum(character.isalnum() for character in name) < minimum_length or not key:
                names.left_out["too short"] += 1
            elif (key, spelling) in blocked_keys:
                names.left_out["blocked"] += 1
            else:
                meaning = Meaning(term.type, term.concept, spelling)
                _add(names, key, shared.setdefault(meaning, meaning))
    return names


def _key(name: str, case: Case) -> tuple[str, str | None]:
    """What tells a name from others: its atoms, and its letters where these count."""
    spelling = spelling_of(name) if case == "smart" and is_acronym(name) else None
    return " ".join(atoms_of_name(name, fold=case != "exact")), spelling


def _add(names: Names, key: str, meaning: Meaning) -> None:
    known = names.meanings.get(key, ())
    if meaning not in known:
        names.meanings[key] = (*known, meaning)
        names.longest = max(names.longest, key.count(" ") + 1)


def is_acronym(name: str) -> bool:
    """Whether a name has capitals, no small letters, and at most five letters and digits."""
    return name.isupper() and sum(character.isalnum() for character in name) <= _ACRONYM_LENGTH


def spelling_of(name: str) -> str:
    """The characters of a name without white space."""
    return "".join(name.split())
