"""How many entities of a corpus have synonyms in a lexicon."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spanwright.text import Document


@dataclass(frozen=True, slots=True)
class Covered:
    """Mentions, and how many of them have at least one synonym."""

    mentions: int
    mentions_covered: int
    distinct: int
    """Mentions that differ in what they are looked up by."""
    distinct_covered: int
    median_synonyms: float | None
    """Of the mentions that have synonyms; None when there is none."""

    @property
    def share(self) -> float:
        """The share of mentions that have synonyms."""
        return self.mentions_covered / self.mentions if self.mentions else 0.0

    @property
    def distinct_share(self) -> float:
        """The share of distinct mentions that have synonyms."""
        return self.distinct_covered / self.distinct if self.distinct else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The counts and shares, for JSON."""
        return asdict(self) | {"share": self.share, "distinct_share": self.distinct_share}


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of all mentions, and of those of each type."""

    overall: Covered
    per_type: Mapping[str, Covered]

    def to_dict(self) -> dict[str, Any]:
        """The counts and shares, for JSON."""
        types = {type_: covered.to_dict() for type_, covered in self.per_type.items()}
        return {"overall": self.overall.to_dict(), "per_type": types}


def measure_coverage(
    synonyms: Callable[[str], tuple[str, ...]], documents: Iterable[Document], *, key: Callable[[str], str]
) -> Coverage:
    """The coverage of the entities of documents, given the lookup and what mentions are looked up by."""
    counts: dict[str, int] = {}
    """The number of synonyms by key."""
    keys_by_type: dict[str, list[str]] = {}
    for document in documents:
        for entity in document.entities:
            mention = document.mention(entity)
            looked_up = key(mention)
            if looked_up not in counts:
                counts[looked_up] = len(synonyms(mention))
            keys_by_type.setdefault(entity.type, []).append(looked_up)
    everything = [looked_up for keys in keys_by_type.values() for looked_up in keys]
    return Coverage(
        _covered(everything, counts),
        {type_: _covered(keys, counts) for type_, keys in sorted(keys_by_type.items())},
    )


def _covered(keys: list[str], counts: Mapping[str, int]) -> Covered:
    """The coverage of mentions, each given by its key."""
    found = [counts[key] for key in keys if counts[key]]
    distinct = set(keys)
    return Covered(
        mentions=len(keys),
        mentions_covered=len(found),
        distinct=len(distinct),
        distinct_covered=sum(counts[key] > 0 for key in distinct),
        median_synonyms=statistics.median(found) if found else None,
    )
