"""The colours of types, the same by name everywhere, and those of systems.

Both can be told apart with every kind of colour blindness, and stand out from a light and a dark ground.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

Shades = tuple[str, str]
"""A colour for light and for dark grounds."""

TYPE_COLOURS: tuple[Shades, ...] = (
    ("#0040ed", "#0996ff"),
    ("#9f240b", "#ea8639"),
    ("#006549", "#1edca2"),
    ("#9733b9", "#c462cc"),
    ("#867103", "#dbca3c"),
    ("#bd0f5c", "#ed4f8c"),
    ("#2f3280", "#b4a7d6"),
    ("#0a8291", "#58ecfe"),
)
SYSTEM_COLOURS: tuple[Shades, ...] = (
    ("#425396", "#9bb5d8"),
    ("#9a5a00", "#ffb200"),
    ("#127c61", "#67e1a1"),
    ("#8f34d3", "#ad7ef9"),
    ("#7a1f3d", "#da7a7f"),
    ("#776fa4", "#c8e7ff"),
)
_USUAL = {
    name: number
    for number, names in enumerate(
        (
            "gene protein geneorgeneproduct person per",
            "disease diseaseorphenotypicfeature location loc",
            "chemical chemicalentity drug organization org",
            "cell celltype cellline miscellaneous misc",
            "species organism organismtaxon event",
            "variant mutation sequencevariant product",
            "dna date",
            "rna time",
        )
    )
    for name in names.split()
}
"""Names of types that many corpora have, so that they have colours apart."""


def colour_numbers(names: Iterable[str]) -> dict[str, int]:
    """The colour of each type as its place in `TYPE_COLOURS`.

    It follows from the name alone, unless another type of these names has it already and others are free.
    """
    ordered = sorted(set(names), key=lambda name: (_plain(name) not in _USUAL, name))
    found: dict[str, int] = {}
    for name in ordered:
        if _own(name) not in found.values():
            found[name] = _own(name)
    for name in ordered:
        turns = ((_own(name) + turn) % len(TYPE_COLOURS) for turn in range(len(TYPE_COLOURS)))
        found.setdefault(name, next((free for free in turns if free not in found.values()), _own(name)))
    return found


def _own(name: str) -> int:
    """The colour that a type has by its name alone."""
    hashed = zlib.crc32(name.encode("utf-8", "replace")) % len(TYPE_COLOURS)
    return _USUAL.get(_plain(name), hashed)


def type_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each type on a light ground."""
    return {name: TYPE_COLOURS[number][0] for name, number in colour_numbers(names).items()}


def style_sheet() -> str:
    """CSS: the classes `type-0` and `system-0` and so on set `--own` to a colour."""
    return "".join(
        _declared(kind, colours) for kind, colours in (("type", TYPE_COLOURS), ("system", SYSTEM_COLOURS))
    )


def _declared(kind: str, colours: Sequence[Shades]) -> str:
    values = (
        f"  --{kind}-{number}: light-dark({light}, {dark});" for number, (light, dark) in enumerate(colours)
    )
    classes = (f".{kind}-{number} {{ --own: var(--{kind}-{number}); }}" for number in range(len(colours)))
    return "\n".join((":root {", *values, "}", *classes, ""))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
