"""Documents of every kind for the tests of perturbations: naughty texts, any entities, given words."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

import naughty
from spanwright.text import Document, Entity, Range

TYPES = ("Disease", "Gene")
_SENTENCES = (
    "Familial breast cancer (BRCA1) is rare.",
    "TNF-α and p53, in mice; they bind!",
    "Sjögren's syndrome: see the “naïve” cells.",
    "Nothing strange happens here",
)


def texts() -> st.SearchStrategy[str]:
    """Naughty texts and ordinary ones."""
    ordinary = st.lists(st.sampled_from(_SENTENCES), max_size=2).map(" ".join)
    return st.one_of(ordinary, naughty.texts(3), st.tuples(ordinary, naughty.texts(3)).map(" ".join))


@st.composite
def ranges(draw: st.DrawFn, length: int, most: int) -> tuple[Range, ...]:
    """Ordered, disjoint ranges, which may touch, of a text of that length."""
    borders = sorted(draw(st.sets(st.integers(0, length), max_size=2 * most)))
    if draw(st.booleans()):
        return tuple(pairwise(borders))
    return tuple(zip(borders[::2], borders[1::2], strict=False))


@st.composite
def entities(draw: st.DrawFn, text: str) -> Entity:
    """Any entity of a text, of up to three ranges."""
    given = draw(ranges(len(text), 2).filter(bool))
    type_ = draw(st.sampled_from(TYPES))
    return Entity(
        given[0][0], given[-1][1], type_, fragments=given if len(given) > 1 else (), concepts=("C1",)
    )


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document with any entities and, at times, given words and sentences."""
    text = draw(texts())
    return Document(
        draw(st.sampled_from(["a", "b", "c"])),
        text,
        tuple(draw(st.lists(entities(text), max_size=4))) if text else (),
        words=draw(st.none() | ranges(len(text), 5)),
        sentences=draw(st.none() | ranges(len(text), 2)),
    )


def training() -> list[Document]:
    """Training documents whose mentions have one to four words."""
    made = [
        ("Disease", "acute renal failure"),
        ("Disease", "asthma"),
        ("Disease", "diabetes mellitus type 2"),
    ]
    made += [("Disease", "hepatitis"), ("Gene", "interleukin 2"), ("Gene", "MDM2"), ("Gene", "CD28 antigen")]
    return [
        Document(f"t{number}", f"a {name} here", (Entity(2, 2 + len(name), type_),))
        for number, (type_, name) in enumerate(made)
    ]
