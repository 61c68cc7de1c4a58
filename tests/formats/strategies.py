"""Hypothesis strategies for documents, shared by the tests of all formats."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from spanwright.text import Argument, Document, Entity, Range, Relation

TYPES = ("Disease", "Chemical", "cell_line", "基因")

# What readers trip over: separators that are not line ends, a byte order mark, marks, wide characters, NUL.
_TRAPS = st.one_of(
    st.sampled_from("\u2028\u2029\x0b\x0c\x1c\x85\ufeff\u0301\u200b\x00"),
    st.sampled_from(["|t|", "\\", '"', "#", "%2F", ";", "B-Disease", "-DOCSTART-", "🧬", "蛋白"]),
    st.sampled_from([" ", "\t", "\n", "\r", "\r\n"]),
)
_CHUNKS = st.one_of(st.text(max_size=6), _TRAPS, st.sampled_from(["p53", "breast cancer", " ", "."]))


def texts(*, max_chunks: int = 10) -> st.SearchStrategy[str]:
    """Any Unicode text without lone surrogates, rich in what readers trip over."""
    return st.lists(_CHUNKS, max_size=max_chunks).map("".join)


def ids() -> st.SearchStrategy[str]:
    """Ids that every format can write."""
    return st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,11}", fullmatch=True)


def concept_ids() -> st.SearchStrategy[str]:
    """Concept ids as ontologies have them."""
    return st.from_regex(r"((MESH|OMIM):)?[CD][0-9]{3,6}", fullmatch=True)


@st.composite
def entities(
    draw: st.DrawFn, text: str, *, nested: bool = True, discontinuous: bool = False, concepts: bool = False
) -> tuple[Entity, ...]:
    """Up to six entities of a text with distinct keys.

    With `nested`, they may nest, cross and share a span; without, they are disjoint. With
    `discontinuous`, some consist of two or three fragments.
    """
    if not text:
        return ()
    found: list[Entity] = []
    for _ in range(draw(st.integers(0, 6))):
        ranges = draw(_ranges(len(text), 3 if discontinuous else 1))
        entity = Entity(
            ranges[0][0],
            ranges[-1][1],
            draw(st.sampled_from(TYPES)),
            fragments=ranges if len(ranges) > 1 else (),
            concepts=tuple(draw(st.lists(concept_ids(), max_size=3, unique=True))) if concepts else (),
        )
        apart = all(entity.end <= other.start or other.end <= entity.start for other in found)
        if apart or (nested and all(entity.key != other.key for other in found)):
            found.append(entity)
    return tuple(found)


@st.composite
def _ranges(draw: st.DrawFn, length: int, most: int) -> tuple[Range, ...]:
    """One to `most` ordered, disjoint ranges within a text of that length."""
    count = draw(st.integers(1, min(most, (length + 1) // 2)))
    borders = sorted(draw(st.sets(st.integers(0, length), min_size=2 * count, max_size=2 * count)))
    return tuple(zip(borders[::2], borders[1::2], strict=True))


def relations(
    marked: tuple[Entity, ...], *, mentions: bool, concepts: bool, roles: bool = False, most: int = 2
) -> st.SearchStrategy[tuple[Relation, ...]]:
    """Up to four relations of two (or up to `most`) entities, concepts of entities, or both; with notes."""
    known = sorted({concept for entity in marked for concept in entity.concepts})
    targets: list[Entity | str] = [*(marked if mentions else ()), *(known if concepts else ())]
    if not targets:
        return st.just(())
    role = st.sampled_from(["", "Theme", "Cause"]) if roles else st.just("")
    argument = st.builds(Argument, st.sampled_from(targets), role)
    relation = st.builds(
        Relation,
        st.sampled_from(["CID", "Negative_Correlation", "wirkt"]),
        st.lists(argument, min_size=2, max_size=most).map(tuple),
        st.sampled_from(["", "Novel", "ein Satz"]),
    )
    return st.lists(relation, max_size=4).map(tuple)


@st.composite
def documents(
    draw: st.DrawFn,
    *,
    text: st.SearchStrategy[str] | None = None,
    nested: bool = True,
    discontinuous: bool = False,
    concepts: bool = False,
    related: str = "",
) -> Document:
    """A document with a writable id, any text (or one of the given strategy) and entities in it.

    `related` says what relations hold of: two "concepts", or "anything" with roles; none by default.
    """
    content = draw(texts() if text is None else text)
    marked = draw(entities(content, nested=nested, discontinuous=discontinuous, concepts=concepts))
    document = Document(draw(ids()), content, marked)
    if not related:
        return document
    anything = related == "anything"
    strategy = relations(marked, mentions=anything, concepts=True, roles=anything, most=3 if anything else 2)
    return replace(document, relations=draw(strategy))


def corpora(document: st.SearchStrategy[Document]) -> st.SearchStrategy[list[Document]]:
    """A few documents with distinct ids."""
    return st.lists(document, max_size=4, unique_by=lambda each: each.id.lower())
