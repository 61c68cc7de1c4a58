"""Composite mentions: `breast and ovarian cancer` names two concepts, and shares a word between them."""

from __future__ import annotations

import re

_BETWEEN = re.compile(
    r"\s*,\s*(?:and/or|and|or)\s+|\s+(?:and/or|and|or|&|as well as)\s+|\s*,\s+"
    r"|(?<=[^\W\d_]{3})\s*/\s*(?=[^\W\d_]{3})",  # 'breast/ovarian', but neither 'and/or' nor '1/2'
    re.IGNORECASE,
)
_MOST_CHUNKS = 6
_MOST_SHARED = 4
"""Words that the parts of a mention may share."""


def is_composite(mention: str) -> bool:
    """Whether a mention may name several concepts."""
    return 1 < len(_chunks(mention)) <= _MOST_CHUNKS


def readings(mention: str) -> tuple[tuple[str, ...], ...]:
    """The ways to read a mention as several names, at most one for each number of shared words.

    Words at the end of the last part may belong to all ('breast and ovarian cancer'), or those at the
    beginning of the first ('deficiency of C6 and C7'), or none ('deafness and cataract').
    """
    if not is_composite(mention):
        return ()
    chunks = _chunks(mention)
    found = [tuple(chunks)]
    last, first = chunks[-1].split(), chunks[0].split()
    for shared in range(1, min(len(last), _MOST_SHARED + 1)):
        end = " ".join(last[-shared:])
        found.append((*(f"{chunk} {end}" for chunk in chunks[:-1]), chunks[-1]))
    for shared in range(1, min(len(first), _MOST_SHARED + 1)):
        start = " ".join(first[:shared])
        found.append((chunks[0], *(f"{start} {chunk}" for chunk in chunks[1:])))
    return tuple(found)


def _chunks(mention: str) -> list[str]:
    return [stripped for chunk in _BETWEEN.split(mention) if (stripped := chunk.strip())]
